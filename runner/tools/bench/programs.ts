import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { type Binaries, resolveBinaries } from "../../../infra/binaries/resolve.ts";
import { BrokerName } from "../../brokers/index.ts";
import { packageFolder, packageVersion } from "../../package.ts";
import { makeProgress } from "../../run/progress.ts";
import type { World } from "../../world.ts";

/** What users get, built if need be. */
export function findBinaries(world: World): Promise<Binaries> {
	return resolveBinaries(world, {
		extensions: path.join(packageFolder, "extensions"),
		version: packageVersion,
		progress: makeProgress(world, false).build,
		systems: BrokerName.options.map((broker) => ({ broker })),
	});
}

export function worldOf(of: NodeJS.Process, signal: AbortSignal): World {
	const sink = (stream: NodeJS.WriteStream) => ({
		isTTY: false,
		columns: 80,
		write: (text: string) => void stream.write(text),
	});
	return {
		stdout: sink(of.stdout),
		stderr: sink(of.stderr),
		cwd: of.cwd(),
		env: of.env,
		clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
		ask: null,
		stop: signal,
	};
}

/**
 * Builds a program that mqbench is compared with into `folder`, once: users do not get it. `source`: its package, of our own folder or a module that
 * go.mod there pins.
 */
export function buildRival(name: string, folder: string, source = `./${name}`): string {
	const program = path.join(folder, name);
	if (existsSync(program)) return program;
	execFileSync("go", ["build", "-o", program, source], {
		cwd: path.join(packageFolder, "runner/tools/bench/go"),
		env: { ...process.env, CGO_ENABLED: "0" },
		stdio: ["ignore", "inherit", "inherit"],
	});
	return program;
}
