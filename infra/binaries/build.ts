import { constants } from "node:fs";
import {
	access,
	mkdir,
	mkdtemp,
	open,
	readdir,
	readFile,
	rename,
	rm,
	writeFile,
} from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { sha256OfFile } from "../../runner/sha256.ts";
import { checkGo, type GoOptions, go, goVersion } from "./go.ts";
import { modulesOf, programIn } from "./programs.ts";

/** Flags that affect the binaries, so they are part of the cache's key. */
export const BUILD_FLAGS = ["-trimpath", "-buildvcs=false", "-mod=readonly"] as const;

/** `build.json`: describes a cached build, with the checksums that show whether its files are complete. */
export const BuildFile = z.strictObject({
	schema: z.literal(1),
	go: z.string(),
	mqbench: z.string(),
	sha256: z.record(z.string(), z.string()),
	/** What it runs on, in Go's words; absent: an older mqbench did not say. */
	platform: z.string().optional(),
});
export type BuildFile = z.infer<typeof BuildFile>;

export interface BuildOptions extends GoOptions {
	readonly programs: readonly BuiltProgram[];
	/** The folder extensions/, which has all modules. */
	readonly cwd: string;
	/** The folder for the build. It appears at the end, complete. */
	readonly folder: string;
	readonly version: string;
	readonly exe: string;
	/** Called for each step: what is counted, how many are done, of how many (0: unknown). */
	onProgress(phase: "modules" | "packages", done: number, all: number): void;
}

/**
 * Builds the programs into `folder`. On failure it throws one sentence with what to do, and leaves nothing half-built. The caller holds the
 * folder's lock.
 */
export async function build(options: BuildOptions): Promise<void> {
	const { folder, exe, programs } = options;
	const parent = path.dirname(folder);
	const prefix = `.${path.basename(folder)}-`;
	try {
		await checkGo(options);
		await sweep(parent, prefix);
		const temporary = await mkdtemp(path.join(parent, prefix));
		try {
			await checkExecutable(temporary);
			await download(options);
			await compile(options, temporary);
			const sha256: Record<string, string> = {};
			for (const { name } of programs) {
				const file = programIn(temporary, name, exe);
				await toDisk(file);
				sha256[name] = await sha256OfFile(file);
			}
			const file: BuildFile = {
				schema: 1,
				go: await goVersion(options),
				mqbench: options.version,
				sha256,
				...(options.platform === undefined ? {} : { platform: options.platform }),
			};
			await writeFile(path.join(temporary, "build.json"), JSON.stringify(file));
			await rm(folder, { recursive: true, force: true });
			await rename(temporary, folder);
		} finally {
			await rm(temporary, { recursive: true, force: true });
		}
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOSPC" || code === "EDQUOT") throw failure("build-disk-full", { where: parent });
		throw error;
	}
}

/** Reads a cached build and checks its files; null: there is none, or it is damaged. */
export async function readBuild(
	folder: string,
	exe: string,
	programs: readonly BuiltProgram[],
): Promise<BuildFile | null> {
	try {
		const text = await readFile(path.join(folder, "build.json"), "utf8");
		const file = BuildFile.parse(JSON.parse(text));
		const whole = await Promise.all(
			programs.map(
				async ({ name }) =>
					(await sha256OfFile(programIn(folder, name, exe))) === file.sha256[name],
			),
		);
		return whole.every(Boolean) ? file : null;
	} catch {
		return null;
	}
}

/** Makes the folder for builds. */
export async function makeCache(folder: string): Promise<void> {
	try {
		await mkdir(folder, { recursive: true });
	} catch (error) {
		throw failure("cache-unwritable", { path: folder, reason: reasonOf(error) });
	}
}

// --- internal ---

/** Phase 1: downloads every module of go.mod, and counts them as they arrive. */
async function download(options: BuildOptions): Promise<void> {
	const folders = modulesOf(options.programs).map(({ module }) => path.join(options.cwd, module));
	const texts = await Promise.all(
		folders.map((folder) => readFile(path.join(folder, "go.mod"), "utf8")),
	);
	const all = texts.join("\n").match(/^\s+\S+ v\S+/gm)?.length ?? 0;
	let done = 0;
	options.onProgress("modules", 0, all);
	for (const cwd of folders)
		await go(["mod", "download", "-json"], {
			...options,
			cwd,
			onStdout: (line) => {
				if (line.trimStart().startsWith('"Path":'))
					options.onProgress("modules", Math.min(++done, all), all);
			},
		});
	options.onProgress("modules", all, all);
}

/** Phase 2: `go build -v` names each package that it compiles; packages in Go's own cache are not named. */
async function compile(options: BuildOptions, temporary: string): Promise<void> {
	const modules = modulesOf(options.programs).map(({ module, packages, tags }) => ({
		cwd: path.join(options.cwd, module),
		packages,
		flags: tags.length > 0 ? ["-tags", tags.join()] : [],
	}));
	let all = 0;
	for (const { cwd, packages, flags } of modules)
		await go(["list", "-deps", ...flags, ...packages], {
			...options,
			cwd,
			onStdout: () => void all++,
		});
	let done = 0;
	options.onProgress("packages", 0, all);
	for (const { cwd, packages, flags } of modules)
		await go(
			[
				"build",
				"-v",
				...flags,
				...BUILD_FLAGS,
				"-ldflags",
				`-s -w -X github.com/mqbench/mqbench/extensions/xk6-mqbench.Version=${options.version}`,
				"-o",
				temporary + path.sep,
				...packages,
			],
			{
				...options,
				cwd,
				onStderr: () => options.onProgress("packages", Math.min(++done, all), all),
			},
		);
	options.onProgress("packages", all, all);
}

/** Removes what builds of this folder have left that were killed (kill -9, power). */
async function sweep(parent: string, prefix: string): Promise<void> {
	for (const name of await readdir(parent))
		if (name.startsWith(prefix))
			await rm(path.join(parent, name), { recursive: true, force: true });
}

/** Some administrators forbid programs in home folders (noexec). Check it before the build, with a clear sentence. */
async function checkExecutable(folder: string): Promise<void> {
	const file = path.join(folder, "executable");
	try {
		await writeFile(file, "", { mode: 0o700 });
		await access(file, constants.X_OK);
		await rm(file);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
		throw failure("cache-unwritable", {
			path: path.dirname(folder),
			reason: "programs may not be executed there",
		});
	}
}

async function toDisk(file: string): Promise<void> {
	const handle = await open(file, "r+");
	await handle.sync();
	await handle.close();
}
