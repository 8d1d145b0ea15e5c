import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import {
	mkdir,
	mkdtemp,
	open,
	readFile,
	rename,
	rm,
	writeFile,
} from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { failure, type MqbenchError } from "../../runner/errors.ts";
import { checkGo, type GoOptions, type GoResult, go } from "./go.ts";

/** The programs that are built from extensions/cmd. */
export const PROGRAMS = ["k6", "natsd", "guard"] as const;
export type Program = (typeof PROGRAMS)[number];

/** Flags that decide what the binaries are: part of the cache's key. */
export const BUILD_FLAGS = [
	"-trimpath",
	"-buildvcs=false",
	"-mod=readonly",
] as const;

/** `build.json`: what a cached build is, and by which its files are known to be whole. */
const BuildFile = z.strictObject({
	schema: z.literal(1),
	go: z.string(),
	mqbench: z.string(),
	sha256: z.record(z.enum(PROGRAMS), z.string()),
});
export type BuildFile = z.infer<typeof BuildFile>;

export interface BuildOptions extends GoOptions {
	/** Folder that the build gets, all at once, in the end. */
	readonly folder: string;
	readonly version: string;
	readonly exe: string;
	/** Called for each step of progress: what is counted, how many are done, of how many (0: unknown). */
	onProgress(phase: "modules" | "packages", done: number, all: number): void;
}

/** Builds all programs into `folder`. Fails with one sentence and the ways out; leaves nothing half-built behind. */
export async function build(options: BuildOptions): Promise<void> {
	const version = await checkGo(options);
	const parent = path.dirname(options.folder);
	const temporary = await mkdtemp(path.join(parent, ".build-"));
	try {
		await download(options);
		await compile(options, temporary);
		const sha256 = {} as Record<Program, string>;
		for (const program of PROGRAMS)
			sha256[program] = await hashFile(
				path.join(temporary, program + options.exe),
				true,
			);
		const file: BuildFile = {
			schema: 1,
			go: version,
			mqbench: options.version,
			sha256,
		};
		await writeFile(path.join(temporary, "build.json"), JSON.stringify(file));
		await rm(options.folder, { recursive: true, force: true });
		await rename(temporary, options.folder);
	} catch (error) {
		await rm(temporary, { recursive: true, force: true });
		throw isNoSpace(error) ? diskFull(parent) : error;
	}
}

/** Reads a cached build and checks that its files are what was built; null: there is none, or it is damaged. */
export async function readBuild(
	folder: string,
	exe: string,
): Promise<BuildFile | null> {
	try {
		const text = await readFile(path.join(folder, "build.json"), "utf8");
		const file = BuildFile.parse(JSON.parse(text));
		const sums = await Promise.all(
			PROGRAMS.map((program) =>
				hashFile(path.join(folder, program + exe), false),
			),
		);
		return PROGRAMS.every((program, i) => file.sha256[program] === sums[i])
			? file
			: null;
	} catch {
		return null;
	}
}

/** Makes the folder that builds live in. */
export async function makeCache(folder: string): Promise<void> {
	try {
		await mkdir(folder, { recursive: true });
	} catch (error) {
		throw failure("cache-unwritable", {
			path: folder,
			reason: (error as Error).message,
		});
	}
}

// --- internal ---

/** Phase 1: every module of go.sum, counted as they arrive. */
async function download(options: BuildOptions): Promise<void> {
	const text = await readFile(path.join(options.cwd, "go.mod"), "utf8");
	const all = (text.match(/^\s+\S+ v\S+/gm) ?? []).length;
	let done = 0;
	options.onProgress("modules", 0, all);
	const result = await go(["mod", "download", "-json"], {
		...options,
		onStdout: (line) => {
			if (line.trimStart().startsWith('"Path":'))
				options.onProgress("modules", Math.min(++done, all), all);
		},
	});
	if (result.code !== 0) throw explain(result);
	options.onProgress("modules", all, all);
}

/** Phase 2: `go build -v` names each package as it is compiled; those in Go's own cache pass unnamed. */
async function compile(
	options: BuildOptions,
	temporary: string,
): Promise<void> {
	const targets = PROGRAMS.map((program) => `./cmd/${program}`);
	let all = 0;
	const listed = await go(["list", "-mod=readonly", "-deps", ...targets], {
		...options,
		onStdout: () => void all++,
	});
	if (listed.code !== 0) throw explain(listed);
	let done = 0;
	options.onProgress("packages", 0, all);
	const result = await go(
		[
			"build",
			"-v",
			...BUILD_FLAGS,
			"-ldflags",
			`-s -w -X github.com/mqbench/mqbench/extensions/xk6-mqbench.Version=${options.version}`,
			"-o",
			temporary + path.sep,
			...targets,
		],
		{
			...options,
			onStderr: () => options.onProgress("packages", ++done, all),
		},
	);
	if (result.code !== 0) throw explain(result);
	options.onProgress("packages", all, all);
}

/** Turns what Go printed into a sentence with a way out. */
function explain(result: GoResult): MqbenchError {
	const text = result.tail.join("\n");
	const last = result.tail.slice(-20).join("\n");
	if (/no space left on device|disk quota exceeded/i.test(text))
		return diskFull("the Go cache or the cache folder of mqbench");
	if (/checksum mismatch|SECURITY ERROR/.test(text))
		return failure("go-sum", { last });
	if (
		/dial tcp|no such host|connection refused|i\/o timeout|TLS handshake|module lookup disabled|toolchain not available|50\d |40[34] |proxyconnect/i.test(
			text,
		)
	)
		return failure("go-proxy", { last: mask(firstLine(text)) });
	return failure("go-build", { last: mask(last) });
}

function firstLine(text: string): string {
	const lines = text.split("\n");
	return (
		lines.find((line) =>
			/dial tcp|no such host|refused|timeout|disabled|not available|\b[45]\d\d\b/i.test(
				line,
			),
		) ??
		lines.at(-1) ??
		""
	).trim();
}

/** A proxy's URL may hold a password. */
function mask(text: string): string {
	return text.replaceAll(/:\/\/[^/@\s]*@/g, "://***@");
}

async function hashFile(file: string, sync: boolean): Promise<string> {
	const hash = createHash("sha256");
	await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
	if (sync) {
		const handle = await open(file, "r+");
		await handle.sync();
		await handle.close();
	}
	return hash.digest("hex");
}

function isNoSpace(error: unknown): boolean {
	const code = (error as NodeJS.ErrnoException)?.code;
	return code === "ENOSPC" || code === "EDQUOT";
}

function diskFull(where: string): MqbenchError {
	return failure("build-disk-full", { where });
}
