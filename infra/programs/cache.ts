import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { sum } from "../../runner/stats/sum.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { takeLock } from "../lock.ts";

/** The folder in which mqbench keeps its builds: MQBENCH_CACHE_DIR, otherwise the user's cache folder. */
export function cacheFolder(env: World["env"], platform: string): string {
	if (env.MQBENCH_CACHE_DIR) return path.resolve(env.MQBENCH_CACHE_DIR);
	const home = env.HOME || homedir();
	if (platform === "win32")
		return path.join(env.LOCALAPPDATA || path.join(home, "AppData", "Local"), "mqbench", "Cache");
	if (platform === "darwin") return path.join(home, "Library", "Caches", "mqbench");
	const xdg = env.XDG_CACHE_HOME;
	// The XDG specification requires relative paths to be ignored.
	return path.join(xdg && path.isAbsolute(xdg) ? xdg : path.join(home, ".cache"), "mqbench");
}

/** A folder of the cache: "bin/<key>", "jars/kafka-<key>", "go/go1.26.8". It gets its name only when it is complete. */
export interface Entry<T> {
	readonly folder: string;
	/** Reads and checks it; null if it is missing or changed: then it is made again. */
	read(folder: string): Promise<T | null>;
	/** Fills a new folder. */
	make(folder: string): Promise<void>;
	/** Another mqbench, whose process this is, makes it. */
	onWait?: ((pid: number) => void) | undefined;
}

/** The content of a cache entry. It is made once for all that need it at the same time, and leaves nothing half-made. */
export async function fromCache<T>(
	{ stop }: Pick<World, "stop">,
	{ folder, read, make, onWait }: Entry<T>,
): Promise<T> {
	keepUsed(folder);
	const found = await read(folder);
	if (found !== null) return found;
	const parent = path.dirname(folder);
	const lock = await mkdir(parent, { recursive: true })
		.then(() => takeLock(`${folder}.lock`, stop, (pid) => onWait?.(pid)))
		.catch((error) => {
			orInterrupted(stop);
			throw failure("cache-unwritable", { path: parent, reason: reasonOf(error) });
		});
	try {
		// The holder of the lock may have made it in the meantime.
		const theirs = await read(folder);
		if (theirs !== null) return theirs;
		const part = `.${path.basename(folder)}-`;
		// Killed processes have left them.
		for (const name of await readdir(parent))
			if (name.startsWith(part))
				await rm(path.join(parent, name), { recursive: true, force: true });
		const temporary = await mkdtemp(path.join(parent, part));
		try {
			await make(temporary);
			orInterrupted(stop);
			await rm(folder, { recursive: true, force: true });
			await rename(temporary, folder);
		} finally {
			await rm(temporary, { recursive: true, force: true });
		}
		const made = await read(folder);
		if (made === null) throw new Error(`${folder} is not what was written a moment ago`);
		return made;
	} catch (error) {
		if (/ENOSPC|EDQUOT/.test(String((error as NodeJS.ErrnoException).code)))
			throw failure("build-disk-full", { where: parent });
		throw error;
	} finally {
		await lock.release();
	}
}

/** Whether a process has used it within the last minutes, and may still be using it. */
export async function isUsed(where: string, nowMs: number): Promise<boolean> {
	const about = await stat(where).catch(() => null);
	return about !== null && nowMs - about.mtimeMs < LATELY_MS;
}

/** Bytes of all files in a folder, or of a file; files that disappear, or may not be read, count as nothing. */
export async function sizeOf(where: string): Promise<number> {
	try {
		const about = await stat(where);
		if (!about.isDirectory()) return about.size;
		const names = await readdir(where);
		return sum(await Promise.all(names.map((name) => sizeOf(path.join(where, name)))));
	} catch {
		return 0;
	}
}

// --- internal ---

const BEAT_MS = 60_000;
/** A machine that was asleep has missed some beats. */
const LATELY_MS = 10 * BEAT_MS;

const kept = new Set<string>();

/** Shows that an entry is in use as long as this process lives: no other process removes it. */
function keepUsed(folder: string): void {
	const touch = () => {
		const now = new Date();
		// A read-only cache is still used.
		utimes(folder, now, now).catch(() => {});
	};
	touch();
	if (kept.has(folder)) return;
	kept.add(folder);
	setInterval(touch, BEAT_MS).unref();
}
