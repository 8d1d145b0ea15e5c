import { execFile } from "node:child_process";
import { readFile, statfs } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findOnPath } from "../../infra/local/program.ts";
import { ownSettings } from "../../infra/machine-settings.ts";
import { checkGo, goVersion } from "../../infra/programs/go.ts";
import { once } from "../once.ts";
import { packageFolder } from "../package.ts";
import { cpuQuota } from "../run/environment.ts";
import type { World } from "../world.ts";
import { findGenerator } from "./generator.ts";

/** The machine as checks read it; tests have a fake. null if unreadable, never a guess. */
export type Machine = ReturnType<typeof thisMachine>;

export function thisMachine(world: World) {
	return {
		env: world.env,
		cwd: world.cwd,
		temporary: os.tmpdir(),
		cores: os.availableParallelism(),
		/** From its control group; null without a limit. */
		cpuQuotaCores: cpuQuota(),
		/** For all cores: "performance, powersave". */
		governor: async () => (await ownSettings()).governor,
		read: (file: string) =>
			readFile(file, "utf8").then(
				(text) => text.trim(),
				() => null,
			),
		sleep: (ms: number) => sleep(ms),
		run,
		which: async (program: string) => findOnPath(program, world.env),
		freeBytes,
		wakeUp,
		go: async () => {
			const options = {
				cwd: path.join(packageFolder, "extensions"),
				env: world.env,
				stop: AbortSignal.any([world.stop, AbortSignal.timeout(COMMAND_MS)]),
			};
			await checkGo(options);
			return await goVersion(options);
		},
		// Two checks ask, and the answer reads 100 MB.
		generator: once(() => findGenerator(world)),
	};
}

// --- internal ---

/** Less than a check's limit, to separate slow commands from missing ones. */
const COMMAND_MS = 1800;

/** stdout and stderr; null if it is missing, fails, or takes too long. */
function run(program: string, ...args: string[]): Promise<string | null> {
	const options = { timeout: COMMAND_MS, killSignal: "SIGKILL" } as const;
	return promisify(execFile)(program, args, options).then(
		({ stdout, stderr }) => `${stdout}${stderr}`.trim(),
		() => null,
	);
}

/** How late a thread woke from sleeps of 1 ms: ns, ascending. The generator's pacer spins and has finer timers, but shares these delays. */
async function wakeUp(): Promise<number[]> {
	const never = new Int32Array(new SharedArrayBuffer(4));
	const late: number[] = [];
	// This is long enough to detect a machine that is always a millisecond late.
	const end = performance.now() + 600;
	for (let i = 0; i < 300 && performance.now() < end; i++) {
		const before = process.hrtime.bigint();
		Atomics.wait(never, 0, 0, 1);
		late.push(Math.max(0, Number(process.hrtime.bigint() - before) - 1e6));
		// Let Ctrl-C and progress run.
		if (i % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
	}
	return late.sort((a, b) => a - b);
}

/** Uses the nearest existing parent, because the folder may not exist yet. */
async function freeBytes(folder: string): Promise<number | null> {
	const disk = await statfs(folder).catch(() => null);
	if (disk) return disk.bavail * disk.bsize;
	const parent = path.dirname(folder);
	return parent === folder ? null : freeBytes(parent);
}
