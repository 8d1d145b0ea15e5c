import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Returns how many times as long a start may take as on an idle machine; 1 for no longer. */
export type Crowding = () => number;

/** This machine's: processes that want a core, for each core, over the last minute. */
export const crowdedHere: Crowding = () =>
	Math.min(MOST, Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()));

/** Waits `ms`, multiplied by the crowding during that time. Returns the wait, ms. */
export async function patience(
	ms: number,
	signal: AbortSignal,
	crowding: Crowding,
): Promise<number> {
	const beganMs = performance.now();
	for (;;) {
		const limitMs = ms * crowding();
		const leftMs = limitMs - (performance.now() - beganMs);
		if (leftMs <= 0) return limitMs;
		await sleep(Math.min(leftMs, ASK_MS), undefined, { signal });
	}
}

// --- internal ---

/** A broker that hangs must end some day. */
const MOST = 4;

const ASK_MS = 1_000;
