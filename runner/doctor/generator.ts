import { stat } from "node:fs/promises";
import path from "node:path";
import { BUILD_FLAGS, readBuild } from "../../infra/binaries/build.ts";
import { buildKey, cacheFolder } from "../../infra/binaries/cache.ts";
import { findPacked, packageName } from "../../infra/binaries/packed.ts";
import { FIRST } from "../../infra/binaries/programs.ts";
import { resolveBinaries } from "../../infra/binaries/resolve.ts";
import { MqbenchError } from "../errors.ts";
import { packageFolder, packageVersion } from "../package.ts";
import type { World } from "../world.ts";

export type Generator = Awaited<ReturnType<typeof findGenerator>>;

/** The source of k6, nats-server and agent: MQBENCH_K6, the platform's package, the cache, or a build with Go. */
export async function findGenerator(world: World) {
	if (world.env.MQBENCH_K6) return ownK6(world);
	const { cache, key } = ownBuild(world);
	const folder = path.join(cache, "bin", key);
	const exe = process.platform === "win32" ? ".exe" : "";
	const packed = await findPacked(packageName(process.platform, process.arch), {
		near: packageFolder,
		cache: null,
		key,
		programs: FIRST,
		exe,
	});
	// "@mqbench/linux-x64 0.2.0"
	if ("folder" in packed)
		return { from: "package", name: packed.name, go: packed.build.go } as const;
	/** Why there is no package, as a sentence; null: none is offered. */
	const { why } = packed;
	const there = await stat(folder).catch(() => null);
	const build = there && (await readBuild(folder, exe, FIRST));
	if (!build) return { from: "build", why, key, damaged: there !== null } as const;
	const ageMs = world.clock.nowMs() - there.mtimeMs;
	return { from: "cache", why, key, go: build.go, ageMs } as const;
}

export async function versionJson(world: World) {
	const { cache, key } = ownBuild(world);
	return {
		mqbench: packageVersion,
		node: process.version,
		platform: `${process.platform}-${process.arch}`,
		programs: await findGenerator(world),
		cache: { folder: cache, build: key },
	};
}

// --- internal ---

const EXTENSIONS = path.join(packageFolder, "extensions");

/** Where this version keeps builds of its own sources, and their name there, "bin/<key>". */
function ownBuild({ env }: Pick<World, "env">) {
	const flags = [...BUILD_FLAGS, packageVersion];
	const { platform, arch } = process;
	return { cache: cacheFolder(env, platform), key: buildKey(EXTENSIONS, platform, arch, flags) };
}

async function ownK6(world: World) {
	const silent = () => {};
	try {
		const { k6 } = await resolveBinaries(world, {
			extensions: EXTENSIONS,
			version: packageVersion,
			progress: { begin: silent, waiting: silent, note: silent, step: silent, end: silent },
		});
		return { from: "MQBENCH_K6", k6 } as const;
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		return { from: "MQBENCH_K6", unusable: error.message } as const;
	}
}
