import { readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { packageVersion } from "../../runner/package.ts";
import { formatDuration } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { type BuildFile, type BuildOptions, build, readBuild, readBuildFile } from "./build.ts";
import { cacheFolder, fromCache, isUsed, sizeOf } from "./cache.ts";
import { EXTENSIONS, HERE, type Platform } from "./programs.ts";
import { goReady } from "./toolchain.ts";

export interface Builds {
	/** For tests: another extensions/, and another version of mqbench. */
	readonly extensions?: string;
	readonly version?: string;
	readonly progress: BuildProgress;
	/** Without a Go, download one without asking. */
	readonly yes?: boolean;
}

/** Lines for people during a build, which takes a minute. */
export interface BuildProgress {
	say(text: string): void;
	/** Replaces the last step. `all` is 0 if unknown. */
	step(phase: "toolchain" | "modules" | "packages", done: number, all: number): void;
}

/** Its folder in the cache, with its build.json. */
export async function builtOnce(
	world: World,
	{ extensions = EXTENSIONS, version = packageVersion, progress, yes = false }: Builds,
	platform: Platform,
	{ key, programs, why = null, title, once, make = build }: ToBuild,
): Promise<{ readonly folder: string; readonly go: string }> {
	const bin = path.join(cacheFolder(world.env, process.platform), "bin");
	const folder = path.join(bin, key);
	const onWait = (pid: number) =>
		progress.say(`Another mqbench (pid ${pid}) is building the load generator; waiting for it.`);
	const { go } = await fromCache(world, {
		folder,
		read: () => readBuild(folder, programs, platform),
		async make(temporary) {
			if (why !== null) progress.say(why);
			const onProgress = (done: number, all: number) => progress.step("toolchain", done, all);
			const env = await goReady(world, { extensions, yes, why, onProgress, onWait });
			const began = world.clock.monotonicMs();
			const where = platform === HERE ? "" : ` for ${platform.name} hosts`;
			progress.say(`Building ${title} with Go${where}. This happens once${once}.`);
			const file = await make({
				programs,
				version,
				platform,
				cwd: extensions,
				folder: temporary,
				env,
				stop: world.stop,
				onProgress: (phase, done, all) => progress.step(phase, done, all),
			});
			await writeFile(path.join(temporary, "build.json"), JSON.stringify(file));
			const took = formatDuration((world.clock.monotonicMs() - began) * 1e6);
			progress.say(`Built in ${took}, and kept in the cache.`);
			await trimBuilds(bin, world.clock.nowMs());
		},
		onWait,
	});
	return { folder, go };
}

/** Removes builds beyond 500 MB, first those that have not been used for longest, and none that a command may be using. Never fails. */
export async function trimBuilds(bin: string, nowMs: number): Promise<void> {
	const names = await readdir(bin).catch(() => []);
	const found = await Promise.all(
		names.map(async (name) => {
			const folder = path.join(bin, name);
			if ((await readBuildFile(folder)) === null) return [];
			const { mtimeMs: usedMs } = await stat(folder);
			return [{ folder, usedMs, bytes: await sizeOf(folder) }];
		}),
	);
	let all = 0;
	for (const { folder, bytes } of found.flat().sort((a, b) => b.usedMs - a.usedMs)) {
		if (all + bytes <= MOST_BYTES || (await isUsed(folder, nowMs))) all += bytes;
		else await rm(folder, { recursive: true, force: true }).catch(() => {});
	}
}

// --- internal ---

/** Limit for all builds, bytes. */
const MOST_BYTES = 500e6;

/** A build to make if the cache does not have it. */
interface ToBuild {
	readonly key: string;
	readonly programs: readonly BuiltProgram[];
	/** Why no package has it. */
	readonly why?: string | null;
	readonly title: string;
	readonly once: string;
	make?(options: BuildOptions): Promise<BuildFile>;
}
