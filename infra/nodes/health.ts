import { setTimeout as sleep } from "node:timers/promises";
import type { Described } from "../../runner/brokers/process.ts";

/** How to ask whether the broker as a whole works; absent: it works when all of its nodes are ready. */
export type Health = Pick<Described, "healthy">;

/** Asks until the answer is yes, or nobody is interested any more. A failed question counts as no. */
export async function untilHealthy(broker: Health, over: AbortSignal): Promise<void> {
	while (broker.healthy && !(await broker.healthy().catch(() => false))) {
		if (over.aborted) return;
		await sleep(HEALTH_MS);
	}
}

// --- internal ---

const HEALTH_MS = 100;
