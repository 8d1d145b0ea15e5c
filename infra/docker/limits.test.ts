import { expect, test } from "vitest";
import { realBinaries } from "../programs/real.fake.ts";
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
		/^docker-failed: Docker could not start mine: it cannot hold a container to memory \(docker info\).*; remove memory from the scenario, or run the engine as root/,
	);
	expect(await refused(info({ CpuCfsQuota: false, CPUSet: false }), "0")).toMatch(
		/to cpus and pin \(docker info\).*; remove cpus and pin from the scenario/,
	);
});
