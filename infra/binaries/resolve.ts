import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { World } from "../../runner/world.ts";
import {
	BUILD_FLAGS,
	build,
	makeCache,
	PROGRAMS,
	type Program,
	readBuild,
} from "./build.ts";
import { buildKey, cacheFolder } from "./cache.ts";
import { takeLock } from "./lock.ts";

/** Paths of the programs, ready to run. */
export type Binaries = Readonly<Record<Program, string>> & {
	/** Version of Go that built them; null: they are not ours to know. */
	readonly go: string | null;
};

export interface ResolveOptions {
	/** Folder of the Go module. */
	readonly extensions: string;
	readonly version: string;
	readonly progress: BuildProgress;
}

/** Told about a build, which takes a minute: what a person who watches wants to know. */
export interface BuildProgress {
	begin(): void;
	waiting(pid: number | null): void;
	step(phase: "modules" | "packages", done: number, all: number): void;
	end(): void;
}

/**
 * Finds k6, natsd and guard: MQBENCH_K6 (and its neighbours) > the cache > a build with Go. A build happens once for each
 * state of the sources, under a lock.
 */
export async function resolveBinaries(
	world: World,
	options: ResolveOptions,
): Promise<Binaries> {
	const own = world.env.MQBENCH_K6;
	if (!own) return await cached(world, options);
	const k6 = path.resolve(world.cwd, own);
	await checkK6(k6);
	const beside = (program: Program) =>
		path.join(path.dirname(k6), program + exe());
	const missing = PROGRAMS.filter(
		(program) => program !== "k6" && !existsSync(beside(program)),
	);
	if (missing.length > 0)
		throw failure("k6-unusable", {
			path: own,
			reason: `${missing.join(" and ")} must lie beside it and ${missing.length > 1 ? "do" : "does"} not`,
		});
	return { k6, natsd: beside("natsd"), guard: beside("guard"), go: null };
}

// --- internal ---

const EXTENSION = "k6/x/mqbench";

function exe(): string {
	return process.platform === "win32" ? ".exe" : "";
}

async function cached(
	world: World,
	options: ResolveOptions,
): Promise<Binaries> {
	const bin = path.join(cacheFolder(world.env, process.platform), "bin");
	const key = buildKey(options.extensions, process.platform, process.arch, [
		...BUILD_FLAGS,
		options.version,
	]);
	const folder = path.join(bin, key);
	let found = await readBuild(folder, exe());
	if (!found) {
		await makeCache(bin);
		await buildLocked(world, options, folder);
		found = await readBuild(folder, exe());
		if (!found)
			throw failure("go-build", {
				last: `${folder} is not what was built a moment ago`,
			});
	}
	const at = (program: Program) => path.join(folder, program + exe());
	return {
		k6: at("k6"),
		natsd: at("natsd"),
		guard: at("guard"),
		go: found.go,
	};
}

async function buildLocked(
	world: World,
	options: ResolveOptions,
	folder: string,
): Promise<void> {
	const { progress } = options;
	const lock = await takeLock(`${folder}.lock`, world.stop, (pid) =>
		progress.waiting(pid),
	).catch((error: NodeJS.ErrnoException) => {
		if (world.stop.aborted)
			throw failure("interrupted", { signal: String(world.stop.reason) });
		throw failure("cache-unwritable", {
			path: path.dirname(folder),
			reason: reasonOf(error),
		});
	});
	try {
		// Whoever held the lock may have built it meanwhile.
		if (await readBuild(folder, exe())) return;
		progress.begin();
		await build({
			folder,
			version: options.version,
			exe: exe(),
			cwd: options.extensions,
			env: world.env,
			stop: world.stop,
			onProgress: (phase, done, all) => progress.step(phase, done, all),
		});
		progress.end();
	} finally {
		await lock.release();
	}
}

/** A stock k6 would fail in mid-run with words that nobody understands. */
async function checkK6(k6: string): Promise<void> {
	let text: string;
	try {
		({ stdout: text } = await promisify(execFile)(k6, ["version"], {
			timeout: 10_000,
		}));
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw failure("k6-unusable", {
			path: k6,
			reason:
				code === "ENOENT"
					? "there is no such file"
					: code === "EACCES"
						? "it may not be executed"
						: `it does not run (${message.split("\n")[0]})`,
		});
	}
	if (!text.includes(EXTENSION))
		throw failure("k6-unusable", {
			path: k6,
			reason: `it was built without the extension ${EXTENSION}`,
		});
}
