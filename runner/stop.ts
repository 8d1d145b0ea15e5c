import { setTimeout as sleep } from "node:timers/promises";
import { failure, type MqbenchError } from "./errors.ts";

/** What whoever was stopped (Ctrl-C, SIGTERM) fails with. */
export function interrupted(stop: AbortSignal): MqbenchError {
	return failure("interrupted", { signal: String(stop.reason) });
}

/** Fails with `interrupted` where it was stopped. */
export function orInterrupted(stop: AbortSignal): void {
	if (stop.aborted) throw interrupted(stop);
}

/** Waits, and fails with `interrupted` as soon as it is stopped. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
	await sleep(ms, undefined, { signal: stop }).catch(() => {});
	orInterrupted(stop);
}
