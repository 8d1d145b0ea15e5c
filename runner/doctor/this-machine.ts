import { execFile } from "node:child_process";
import { readFile, statfs } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkGo, goVersion } from "../../infra/binaries/go.ts";
import { awsFolder } from "../../infra/cloud/aws/folder.ts";
import { findOnPath } from "../../infra/local/program.ts";
import { ownSettings } from "../../infra/machine-settings.ts";
import { packageFolder } from "../package.ts";
import { cpuQuota } from "../run/environment.ts";
import { commandLine } from "../shell.ts";
import type { World } from "../world.ts";
import { findGenerator, type Generator } from "./generator.ts";

/** What the checks read of a machine; tests have a fake. What cannot be read is null, never a guess. */
export interface Machine {
	readonly env: World["env"];
	readonly cwd: string;
	readonly temporary: string;
	/** Cores that a process may use. */
	readonly cores: number;
	/** Cores that its control group allows; null: no limit. */
	readonly cpuQuotaCores: number | null;
	/** Of all cores: "performance, powersave". */
	governor(): Promise<string | null>;
	/** The text of a file, trimmed. */
	read(file: string): Promise<string | null>;
	sleep(ms: number): Promise<void>;
	/** What a command prints on stdout and stderr; null if it isn't there, fails, or takes longer than 1.8 s. */
	run(program: string, ...args: string[]): Promise<string | null>;
	/** Where a program lies on PATH, or where servers are put that users' PATHs leave out. */
	which(program: string): Promise<string | null>;
	/** Free bytes of the disk that holds `folder`, or would hold it. */
	freeBytes(folder: string): Promise<number | null>;
	/** How late a thread was that slept 1 ms, again and again: ns, ascending. */
	wakeUp(): Promise<readonly number[]>;
	/** Version of a Go that can build the generator; throws the MqbenchError that a run would. */
	go(): Promise<string>;
	/** Where k6, nats-server and agent would come from. */
	generator(): Promise<Generator>;
	/** What target aws needs. */
	aws(): ReturnType<typeof awsParts>;
}

/** The machine that we run on. */
export function thisMachine(world: World): Machine {
	// Two checks ask, and the answer reads 100 MB.
	let generator: Promise<Generator> | undefined;
	return {
		env: world.env,
		cwd: world.cwd,
		temporary: os.tmpdir(),
		cores: os.availableParallelism(),
		cpuQuotaCores: cpuQuota(),
		governor: async () => (await ownSettings()).governor,
		read: (file) =>
			readFile(file, "utf8").then(
				(text) => text.trim(),
				() => null,
			),
		sleep: async (ms) => void (await sleep(ms)),
		run,
		which: async (program) => findOnPath(program, world.env),
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
		generator: () => {
			generator ??= findGenerator(world);
			return generator;
		},
		aws: () => awsParts(awsFolder),
	};
}

/** Packages of the Pulumi project in `folder` that are not there in the version that it names, and the command that installs them; loads none. */
export async function awsParts(
	folder: string,
): Promise<{ readonly missing: readonly string[]; readonly install: string }> {
	const read = async (file: string) => JSON.parse(await readFile(path.join(folder, file), "utf8"));
	const { dependencies } = await read("package.json");
	const missing: string[] = [];
	for (const [name, version] of Object.entries(dependencies)) {
		const module = await read(`node_modules/${name}/package.json`).catch(() => null);
		if (module?.version !== version) missing.push(name);
	}
	return { missing, install: `npm ci --prefix ${commandLine([folder])}` };
}

// --- internal ---

/** Less than what a check may take: what is slow is told from what is not there. */
const COMMAND_MS = 1800;

function run(program: string, ...args: string[]): Promise<string | null> {
	return new Promise((resolve) => {
		execFile(
			program,
			args,
			{ timeout: COMMAND_MS, killSignal: "SIGKILL" },
			(error, stdout, stderr) => resolve(error ? null : `${stdout}${stderr}`.trim()),
		);
	});
}

/**
 * `Atomics.wait` for 1 ms, 300 times or for 0.6 s. Not the generator's own pacer, which asks the kernel for exacter timers and spins: but what
 * delays this thread delays that one, and every broker.
 */
async function wakeUp(): Promise<number[]> {
	const never = new Int32Array(new SharedArrayBuffer(4));
	const late: number[] = [];
	// A machine that is later than a millisecond each time is known by then.
	const end = performance.now() + 600;
	for (let i = 0; i < 300 && performance.now() < end; i++) {
		const before = process.hrtime.bigint();
		Atomics.wait(never, 0, 0, 1);
		late.push(Math.max(0, Number(process.hrtime.bigint() - before) - 1e6));
		// Ctrl-C and progress get their turn.
		if (i % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
	}
	return late.sort((a, b) => a - b);
}

/** The folder may not be there yet: then the disk of the nearest one that is. */
async function freeBytes(folder: string): Promise<number | null> {
	const disk = await statfs(folder).catch(() => null);
	if (disk) return disk.bavail * disk.bsize;
	const parent = path.dirname(folder);
	return parent === folder ? null : freeBytes(parent);
}
