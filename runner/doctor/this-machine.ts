import { execFile } from "node:child_process";
import { readdir, readFile, statfs } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkGo, goVersion } from "../../infra/binaries/go.ts";
import { awsFolder } from "../../infra/cloud/aws/folder.ts";
import { findOnPath } from "../../infra/local/program.ts";
import { packageFolder } from "../package.ts";
import { commandLine } from "../shell.ts";
import type { World } from "../world.ts";
import { findGenerator, type Generator } from "./generator.ts";
import { type Times, wakeUp } from "./wake-up.ts";

/** What the checks read of a machine; tests have a fake. What cannot be read is null, never a guess. */
export interface Machine {
	readonly env: World["env"];
	readonly cwd: string;
	readonly temporary: string;
	/** Cores that a process may use. */
	readonly cores: number;
	/** The text of a file, trimmed. */
	read(file: string): Promise<string | null>;
	/** Names in a folder; none if it cannot be read. */
	list(folder: string): Promise<readonly string[]>;
	sleep(ms: number): Promise<void>;
	/** What a command prints on stdout and stderr; null if it isn't there, fails, or takes longer than 1.8 s. */
	run(program: string, ...args: string[]): Promise<string | null>;
	/** Where a program lies on PATH, or where servers are put that users' PATHs leave out. */
	which(program: string): Promise<string | null>;
	/** Free bytes of the disk that holds `folder`, or would hold it. */
	freeBytes(folder: string): Promise<number | null>;
	/** Lateness of a thread that sleeps 1 ms. */
	wakeUp(): Promise<Times>;
	/** Version of a Go that can build the generator; throws the MqbenchError that a run would. */
	go(): Promise<string>;
	/** Where k6, nats-server and agent would come from. */
	generator(): Promise<Generator>;
	/** What target aws needs. */
	aws(): Promise<AwsParts>;
}

export interface AwsParts {
	/** Packages that are not installed: all, some of another version, or none. */
	readonly missing: readonly string[];
	/** The command that installs them, apart from mqbench's own. */
	readonly install: string;
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
		read: (file) =>
			readFile(file, "utf8").then(
				(text) => text.trim(),
				() => null,
			),
		list: (folder) => readdir(folder).catch(() => []),
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

/** Looks which packages of the Pulumi project in `folder` are there, in the versions that it names; loads none. */
export async function awsParts(folder: string): Promise<AwsParts> {
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

/** The folder may not be there yet: then the disk of the nearest one that is. */
async function freeBytes(folder: string): Promise<number | null> {
	const disk = await statfs(folder).catch(() => null);
	if (disk) return disk.bavail * disk.bsize;
	const parent = path.dirname(folder);
	return parent === folder ? null : freeBytes(parent);
}
