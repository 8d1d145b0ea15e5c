import { readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { BuildFile } from "./build.ts";
import { sizeOf } from "./size.ts";
import { isUsed } from "./used.ts";

/** Builds of the same programs that are kept, and what all builds may take, bytes. */
const MOST_OF_A_KIND = 3;
const MOST_BYTES = 500e6;

/**
 * Removes old builds: of the same programs for the same platform all but three, and of all what is beyond 500 MB; those come first that have
 * not been used for longest, and none that a command may be using. Never fails.
 */
export async function trimBuilds(bin: string, nowMs: number): Promise<void> {
	const builds = (await buildsIn(bin)).sort((a, b) => b.usedMs - a.usedMs);
	const kept = new Map<string, number>();
	let bytes = 0;
	for (const { folder, kind, bytes: own } of builds) {
		const before = kept.get(kind) ?? 0;
		const room = before < MOST_OF_A_KIND && bytes + own <= MOST_BYTES;
		const file = path.join(folder, "build.json");
		if (room || (await isUsed(file, nowMs))) {
			kept.set(kind, before + 1);
			bytes += own;
		} else await rm(folder, { recursive: true, force: true }).catch(() => {});
	}
}

/** A build in the cache. */
export interface Cached {
	readonly folder: string;
	/** What it is a build of: programs and platform. */
	readonly kind: string;
	readonly usedMs: number;
	readonly bytes: number;
}

export async function buildsIn(bin: string): Promise<Cached[]> {
	const names = await readdir(bin).catch(() => []);
	const found = await Promise.all(
		names.map(async (name): Promise<Cached[]> => {
			const folder = path.join(bin, name);
			const file = path.join(folder, "build.json");
			try {
				const { sha256, platform } = BuildFile.parse(JSON.parse(await readFile(file, "utf8")));
				const { mtimeMs: usedMs } = await stat(file);
				const kind = `${Object.keys(sha256).sort().join()} ${platform ?? ""}`;
				return [{ folder, kind, usedMs, bytes: await sizeOf(folder) }];
			} catch {
				return [];
			}
		}),
	);
	return found.flat();
}
