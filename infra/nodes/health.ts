import { setTimeout as sleep } from "node:timers/promises";
import type { Signs } from "../../runner/brokers/process.ts";

/** How a description tells that the broker as a whole answers; absent: it does when all of its nodes are ready. */
export type Health = Pick<Signs, "healthy">;

/** Asks until it says yes, or nobody wants to know any more. An answer that fails is one that says no. */
export async function untilHealthy(
	broker: Health,
	over: AbortSignal,
): Promise<void> {
	while (broker.healthy && !(await broker.healthy().catch(() => false))) {
		if (over.aborted) return;
		await sleep(HEALTH_MS);
	}
}

// --- internal ---

const HEALTH_MS = 100;
