import { BrokerName, driversApart, laterPrograms } from "../../runner/brokers/index.ts";
import { packageFolder } from "../../runner/package.ts";
import { makeProgress } from "../../runner/run/progress.ts";
import type { World } from "../../runner/world.ts";
import { type Binaries, resolveBinaries } from "./resolve.ts";

/** For tests with a real broker: k6, nats-server and agent as mqbench finds them; built if need be. */
export async function realBinaries(): Promise<Binaries> {
	const progress = makeProgress(realWorld, false);
	const found = await resolveBinaries(realWorld, {
		progress: progress.build,
		// Acceptance tests have it built by the scenario.
		systems: BrokerName.options
			.filter((broker) => !driversApart.includes(broker))
			.map((broker) => ({ broker })),
	});
	progress.done();
	return found;
}

/** The path of one of the programs, by its name. */
export async function pathOf(binaries: Binaries, name: string): Promise<string> {
	return name === "k6" || name === "agent" ? binaries[name] : binaries.server(name);
}

/** Before all tests: a build may take longer than any of them. */
export default async function setup(): Promise<void> {
	const { server } = await realBinaries();
	for (const { name } of laterPrograms) await server(name);
}

const plain = (stream: NodeJS.WriteStream) => ({
	isTTY: false,
	columns: 80,
	write: (text: string) => void stream.write(text),
});

/** For tests: this process. */
export const realWorld: World = {
	stdout: plain(process.stdout),
	stderr: plain(process.stderr),
	cwd: packageFolder,
	env: process.env,
	clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
	ask: null,
	stop: new AbortController().signal,
};
