import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { RigFile, type RigFileInput } from "../../runner/scenario/rig-file.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import type { BrokerRequest } from "../rig.ts";
import { untouchedBroker } from "../rig.ts";
import { standingRig } from "./standing.ts";

const request = (url: string): BrokerRequest => ({
	system: { key: "mine", broker: "nats", port: null, url } as System,
	level: null,
	messageBytes: 256,
	cpus: null,
	logPath: "",
});

async function listening() {
	const server = createServer((socket) => socket.on("error", () => {}));
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	onTestFinished(() => void server.close());
	return `nats://me:hunter2@127.0.0.1:${(server.address() as { port: number }).port}`;
}

function standing(url: string, parts: Partial<RigFileInput> = {}, more = {}) {
	return standingRig(
		RigFile.parse({
			version: 1,
			id: "x",
			brokers: [{ system: "mine", broker: "nats", url, ...more }],
			...parts,
		}),
		new AbortController().signal,
	);
}

test("a broker that stays up is what its file says, and is there afterwards", async () => {
	const url = await listening();
	const rig = standing(
		url,
		{},
		{
			server: "nats-server 2.15.2",
			settings: { sync_interval: "always" },
			topology: "3 nodes on 3 hosts",
		},
	);
	const broker = await rig.open(request(url));
	expect(broker).toMatchObject({
		url,
		version: "nats-server 2.15.2",
		settings: { sync_interval: "always" },
		topology: "3 nodes on 3 hosts",
		binary: null,
		// The test itself listens.
		pids: [process.pid],
		sameHost: true,
	});
	await broker.close();
	await rig.teardown();
	await rig.open(request(url));
});

test("a run that asks for another broker than the rig has is refused, and says what differs", async () => {
	const url = await listening();
	const rig = standing(url, { target: "local" }, { asked: { nodes: 3, version: "2.9" } });
	const asking = (nodes: number, version?: string) => {
		const one = request(url);
		return rig.open({ ...one, system: { ...one.system, options: { nodes, version } } as never });
	};
	await expect(asking(1)).rejects.toMatchObject({
		code: "rig-differs",
		exit: 2,
		message:
			"mine: the scenario asks for another broker than the rig x has: nodes 1 (the rig: 3), version not given (the rig: 2.9). Measure with what the rig was stood up with, or stand another one up: mqbench up.",
	});
	await asking(3, "2.9");
});

test.each([
	["local", /Is mqbench up still running\?/],
	["existing", /Start the broker there, or correct the url in the rig's file\./],
] as const)(
	"of target %s that is gone it says what to do, without the password",
	async (target, remedy) => {
		const url = "nats://me:hunter2@127.0.0.1:1";
		const rig = standing(url, { target });
		const refused = rig.open(request(url));
		await expect(refused).rejects.toMatchObject({ code: "rig-unreachable", exit: 3 });
		await expect(refused).rejects.toThrow(
			"mine: nothing answers at 127.0.0.1:1 (connection refused), where the rig x has its broker.",
		);
		await expect(refused).rejects.toThrow(remedy);
	},
);

test("a system without a process needs nothing of it", async () => {
	const rig = standing("nats://127.0.0.1:1");
	expect(
		await rig.open({
			...request(""),
			system: { key: "floor", broker: "noop", url: null } as System,
		}),
	).toMatchObject({ url: "" });
});

test("a broker with hosts is started on them anew for every run, and let go of with the rig", async () => {
	const did: string[] = [];
	const rig = standingRig(
		RigFile.parse({
			version: 1,
			id: "x",
			brokers: [{ system: "mine", broker: "nats", hosts: [{ host: "h1", address: "10.0.0.5" }] }],
		}),
		new AbortController().signal,
		{
			async open({ hosts }, { system }) {
				did.push(`${system.key} on ${hosts[0]?.host}`);
				return { ...untouchedBroker(), sameHost: false };
			},
			async close() {
				did.push("closed");
			},
		},
	);
	// There is nothing to be reached yet.
	const system = { ...request("").system, url: null };
	for (const _ of [1, 2])
		expect(await rig.open({ ...request(""), system })).toMatchObject({ sameHost: false });
	await rig.teardown();
	expect(did).toEqual(["mine on h1", "mine on h1", "closed"]);
});
