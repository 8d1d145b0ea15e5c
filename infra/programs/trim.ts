import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { readBuildFile } from "./build.ts";
import { isUsed, sizeOf } from "./cache.ts";

/** Limit for all builds, bytes. */
const MOST_BYTES = 500e6;

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
