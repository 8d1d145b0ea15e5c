import { expect, test } from "vitest";
import { realBinaries } from "../binaries/real.fake.ts";
import { fakeDocker, info } from "./engine.fake.ts";
import { dockerRig } from "./rig.ts";
import { dockerSystem } from "./systems.fake.ts";

const binaries = await realBinaries();

/** Opens a broker with an engine that is a piece of sh. */
async function refused(body: string, cpus: string | null = null) {
	const docker = fakeDocker(
		`${body}\ncase "$*" in "image inspect"*) echo '{"Id":"sha256:1","Config":{}}';; esac`,
	);
	const rig = await dockerRig(docker.world, binaries, { inside: true });
	try {
		return await rig
			.open({
				system: dockerSystem({ broker: "nats", cpus: 2, memory: "64MiB" }),
				level: null,
				messageBytes: 256,
				cpus,
				logPath: "/dev/null",
			})
			.then(
				() => "",
				(error) => `${error.code}: ${error.message}`,
			);
	} finally {
		await rig.teardown();
		expect(docker.calls().join("\n")).not.toMatch(/^start /m);
	}
}

test("a limit that the engine says it cannot hold is refused before anything is made", async () => {
	expect(await refused(info({ MemoryLimit: false }))).toMatch(
		/^docker-failed: Docker could not start mine: it cannot hold a container to memory \(docker info: MemoryLimit is false\).*; remove memory from the scenario, or give the engine that cgroup\.$/,
	);
	expect(await refused(info({ CpuCfsQuota: false, CPUSet: false }), "0")).toMatch(
		/to cpus and pin \(docker info: CpuCfsQuota is false, CPUSet is false\).*; remove cpus and pin from the scenario/,
	);
});

test("a limit that the engine drops when it makes the container is refused as well", async () => {
	expect(
		await refused(
			`${info()}\ncase "$1" in create) echo "WARNING: Your kernel does not support CPU cfs quota or the cgroup is not mounted. CPU quota discarded." >&2;; esac`,
		),
	).toBe(
		"docker-failed: Docker could not start mine: Your kernel does not support CPU cfs quota or the cgroup is not mounted. CPU quota discarded.",
	);
});
