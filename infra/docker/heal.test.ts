import { describe, expect, test } from "vitest";
import { findDocker } from "./cli.ts";
import { fakeDocker } from "./engine.fake.ts";
import { healContainers } from "./heal.ts";
import { LABELS } from "./labels.ts";

const SOUND = {
	Id: "x",
	Config: { Image: "sha256:1", Labels: { [LABELS.address]: "198.18.0.2" } },
	State: { Running: true, Paused: false, OOMKilled: false, Pid: 0, ExitCode: 0 },
	HostConfig: { NanoCpus: 0, Memory: 0, PortBindings: {} },
	NetworkSettings: { Networks: { net: { IPAddress: "198.18.0.2" } } },
};

async function heal(parts: object, names = ["c"]) {
	const { world, calls } = fakeDocker(`case "$1" in container) cat <<'JSON'
${JSON.stringify({ ...SOUND, ...parts })}
JSON
;; esac`);
	const said: string[] = [];
	const found = await healContainers(
		{
			docker: findDocker(world, ""),
			engine: { sameKernel: false } as never,
			network: { name: "net" },
			world,
			say: (text) => void said.push(text),
		},
		"nats",
		names,
	);
	const did = calls().filter((line) => !line.startsWith("container inspect"));
	return { did, said, found };
}

describe("what a run that was killed in a fault has left", () => {
	test.each<[string, object, string[], string[]]>([
		["nothing", {}, [], []],
		[
			"a pause",
			{ State: { ...SOUND.State, Paused: true } },
			["unpause c"],
			["nats: its container was still paused; it is running again."],
		],
		[
			"a partition",
			{ NetworkSettings: { Networks: {} } },
			["network connect --ip 198.18.0.2 net c"],
			["nats: its container was still cut off from its network; it is connected again."],
		],
		[
			"a container that was killed",
			{ State: { ...SOUND.State, Running: false, ExitCode: 137 } },
			[],
			["nats: its container was down (SIGKILL); it is started again."],
		],
		[
			"a container that was killed as it took too much memory",
			{ State: { ...SOUND.State, Running: false, OOMKilled: true } },
			[],
			["nats: its container was down (out of memory); it is started again."],
		],
	])("%s is taken back, and said", async (_, parts, did, said) => {
		const all = await heal(parts);
		expect(all.did).toEqual(did);
		expect(all.said).toEqual(said);
		expect(all.found).toMatchObject([
			{ name: "c", ip: "198.18.0.2", down: said.join().includes("down") },
		]);
	});

	test("is said of each node", async () => {
		const { said } = await heal({ State: { ...SOUND.State, Paused: true } }, ["a", "b"]);
		expect(said).toEqual([
			"nats: node 1 was still paused; it is running again.",
			"nats: node 2 was still paused; it is running again.",
		]);
	});

	test("is one sentence where it cannot be taken back", async () => {
		await expect(
			heal({ Config: { Image: "x" }, NetworkSettings: { Networks: {} } }),
		).rejects.toThrow(
			"Docker could not find the address of c: it is in no network of the rig any more.",
		);
	});
});

test("a container is what the engine says of it", async () => {
	const { found } = await heal({
		HostConfig: {
			NanoCpus: 5e8,
			Memory: 1024,
			PortBindings: { "4222/tcp": [{ HostPort: "40001" }] },
		},
	});
	expect(found).toEqual([
		{
			name: "c",
			image: "sha256:1",
			ip: "198.18.0.2",
			down: false,
			ports: { 4222: "40001" },
			cpus: 0.5,
			memoryBytes: 1024,
		},
	]);
});
