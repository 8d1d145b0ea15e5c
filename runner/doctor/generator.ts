import { stat } from "node:fs/promises";
import path from "node:path";
import { buildKey, readBuild } from "../../infra/programs/build.ts";
import { cacheFolder } from "../../infra/programs/cache.ts";
import { findPacked } from "../../infra/programs/packed.ts";
import { EXTENSIONS, FIRST } from "../../infra/programs/programs.ts";
import { resolveBinaries } from "../../infra/programs/resolve.ts";
import { MqbenchError } from "../errors.ts";
import { packageFolder, packageVersion } from "../package.ts";
import type { World } from "../world.ts";

/** The source of k6, nats-server and agent: MQBENCH_K6, the platform's package, the cache, or a build with Go. */
export async function findGenerator(world: World) {
	if (world.env.MQBENCH_K6) return ownK6(world);
	const { cache, key } = ownBuild(world);
	const folder = path.join(cache, "bin", key);
	const packed = await findPacked(packageFolder, key, FIRST);
	// "@mqbench/linux-x64 0.2.0"
	if ("folder" in packed) return { from: "package", name: packed.name, go: packed.go } as const;
	/** Why there is no package, as a sentence; null if none is offered. */
	const { why } = packed;
	const there = await stat(path.join(folder, "build.json")).catch(() => null);
	const build = there && (await readBuild(folder, FIRST));
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

/** Where this version keeps builds of its sources, and their name there, "bin/<key>". */
function ownBuild({ env }: Pick<World, "env">) {
	return {
		cache: cacheFolder(env, process.platform),
		key: buildKey(EXTENSIONS, packageVersion),
	};
}

async function ownK6(world: World) {
	try {
		const { k6 } = await resolveBinaries(world, { progress: { say() {}, step() {} } });
		return { from: "MQBENCH_K6", k6 } as const;
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		return { from: "MQBENCH_K6", unusable: error.message } as const;
	}
}
