import { createHash } from "node:crypto";
import { constants, readdirSync, readFileSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { failure } from "../../runner/errors.ts";
import { sha256OfFile } from "../../runner/sha256.ts";
import { type GoOptions, go, goVersion } from "./go.ts";
import { FIRST, HERE, modulesOf, type Platform, programIn } from "./programs.ts";

/** Flags that affect the binaries, so they are part of the cache's key. A debugger's data are left out: -s -w would remove them anyway. */
export const BUILD_FLAGS = [
	"-trimpath",
	"-buildvcs=false",
	"-mod=readonly",
	"-gcflags=all=-dwarf=false",
] as const;

/**
 * Name of the build of these programs in the cache. Equal sources give equal binaries, so every change of a Go file of their modules, of a
 * driver's defaults.json, go.mod or go.sum gets a new folder.
 */
export function buildKey(
	extensions: string,
	version: string,
	{ system, processor }: Platform = HERE,
	programs: readonly BuiltProgram[] = FIRST,
): string {
	const hash = createHash("sha256");
	const tags = programs.flatMap(({ tags }) => tags ?? []);
	hash.update(JSON.stringify([system, processor, [...BUILD_FLAGS, version], ...tags]));
	const modules = new Set(programs.map(({ module }) => module));
	for (const file of sources(extensions, modules)) {
		hash.update(`\0${file}\0`);
		hash.update(readFileSync(path.join(extensions, file)));
	}
	return hash.digest("hex").slice(0, 16);
}

/** `build.json`: describes a cached build, with the checksums that show whether its files are complete. */
export const BuildFile = z.strictObject({
	schema: z.literal(1),
	go: z.string(),
	mqbench: z.string(),
	sha256: z.record(z.string(), z.string()),
	/** Its platform, in Go's words. */
	platform: z.string(),
});
export type BuildFile = z.infer<typeof BuildFile>;

export interface BuildOptions extends GoOptions {
	readonly platform: Platform;
	readonly programs: readonly BuiltProgram[];
	/** The folder extensions/, which has all modules. */
	readonly cwd: string;
	/** The folder to put them in. */
	readonly folder: string;
	readonly version: string;
	/** Called for each step with the unit counted, the number done, and the total (0 if unknown). */
	onProgress(phase: "modules" | "packages", done: number, all: number): void;
}

/** Builds the programs, and returns their description. On failure it throws one sentence with a remedy. */
export async function build(options: BuildOptions): Promise<BuildFile> {
	const { folder, programs, version, cwd, onProgress } = options;
	const modules = modulesOf(programs).map((one) => ({ ...one, cwd: path.join(cwd, one.module) }));
	const counter = (phase: "modules" | "packages", all: number) => {
		let done = 0;
		onProgress(phase, 0, all);
		return () => onProgress(phase, Math.min(++done, all), all);
	};
	const texts = await Promise.all(
		modules.map((one) => readFile(path.join(one.cwd, "go.mod"), "utf8")),
	);
	const fetched = counter("modules", texts.join("\n").match(/^\s+\S+ v\S+/gm)?.length ?? 0);
	const onModule = (line: string) => line.trimStart().startsWith('"Path":') && fetched();
	for (const { cwd } of modules)
		await go(["mod", "download", "-json"], { ...options, cwd, onStdout: onModule });
	let all = 0;
	const onListed = () => void all++;
	for (const { cwd, packages, flags } of modules)
		await go(["list", "-deps", ...flags, ...packages], { ...options, cwd, onStdout: onListed });
	// Packages in Go's own cache are not named.
	const compiled = counter("packages", all);
	for (const { cwd, packages, flags } of modules)
		await go(buildArguments(version, folder + path.sep, [...flags, ...BUILD_FLAGS], packages), {
			...options,
			cwd,
			onStderr: compiled,
		});
	return described(options);
}

/** The description of programs that have been built, if they can be run. */
export async function described(options: BuildOptions): Promise<BuildFile> {
	const { folder, programs, version, platform } = options;
	const sha256: Record<string, string> = {};
	for (const { name } of programs) {
		const file = programIn(folder, name, platform);
		sha256[name] = await sha256OfFile(file);
		// Some administrators forbid programs in home folders (noexec).
		await access(file, constants.X_OK).catch(() => {
			const reason = "programs may not be executed there";
			throw failure("cache-unwritable", { path: folder, reason });
		});
	}
	return {
		schema: 1,
		go: await goVersion(options),
		mqbench: version,
		sha256,
		platform: platform.name,
	};
}

/** A call of `go build` that names each package that it compiles; `to` is a file, or a folder with a separator at its end. */
export function buildArguments(
	version: string,
	to: string,
	flags: readonly string[],
	packages: readonly string[],
): string[] {
	const variable = "github.com/mqbench/mqbench/extensions/xk6-mqbench.Version";
	const linked = ["-ldflags", `-s -w -X ${variable}=${version}`];
	return ["build", "-v", ...flags, ...linked, "-o", to, ...packages];
}

/** Reads a build and checks its files; null if there is none, or it is damaged. */
export async function readBuild(
	folder: string,
	programs: readonly BuiltProgram[],
	platform = HERE,
): Promise<BuildFile | null> {
	const file = await readBuildFile(folder);
	if (file === null) return null;
	for (const { name } of programs) {
		const sum = await sha256OfFile(programIn(folder, name, platform)).catch(() => null);
		if (sum !== file.sha256[name]) return null;
	}
	return file;
}

/** build.json of a folder, unchecked; null if it is not a build. */
export async function readBuildFile(folder: string): Promise<BuildFile | null> {
	try {
		return BuildFile.parse(JSON.parse(await readFile(path.join(folder, "build.json"), "utf8")));
	} catch {
		return null;
	}
}

// --- internal ---

/** A server's module has its own folder; all other sources belong to one module. */
function sources(extensions: string, modules: Set<string>): string[] {
	return readdirSync(extensions, { recursive: true, encoding: "utf8" })
		.map((file) => file.split(path.sep).join("/"))
		.filter(
			(file) =>
				!file.startsWith("examples/") &&
				modules.has(/^servers\/[^/]+(?=\/)/.exec(file)?.[0] ?? ".") &&
				(/(^|\/)(go\.(mod|sum)|defaults\.json)$/.test(file) ||
					(file.endsWith(".go") && !file.endsWith("_test.go"))),
		)
		.sort();
}
