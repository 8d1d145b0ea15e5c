import { stat, utimes } from "node:fs/promises";

/** Shows that a file or folder of the cache is used, now and as long as this process lives: nobody removes it meanwhile. */
export function keepUsed(where: string): void {
	if (kept.has(where)) return;
	kept.add(where);
	touch(where);
	setInterval(() => touch(where), BEAT_MS).unref();
}

/** Whether a process has used it lately, so that one may be using it. */
export async function isUsed(where: string, nowMs: number): Promise<boolean> {
	const about = await stat(where).catch(() => null);
	return about !== null && nowMs - about.mtimeMs < LATELY_MS;
}

// --- internal ---

const BEAT_MS = 60_000;
/** A machine that was asleep has missed some beats. */
const LATELY_MS = 10 * BEAT_MS;

const kept = new Set<string>();

function touch(where: string): void {
	const now = new Date();
	// A cache that may only be read is used all the same.
	utimes(where, now, now).catch(() => {});
}
