import { setTimeout as sleep } from "node:timers/promises";
import { failure, type MqbenchError } from "./errors.ts";

export function interrupted(stop: AbortSignal): MqbenchError {
	return failure("interrupted", { signal: String(stop.reason) });
}

export function orInterrupted(stop: AbortSignal): void {
	if (stop.aborted) throw interrupted(stop);
}

/** Fails with `interrupted` as soon as it is stopped. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
	await sleep(ms, undefined, { signal: stop }).catch(() => {});
	orInterrupted(stop);
}
