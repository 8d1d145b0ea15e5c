import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "../../runner/reason.ts";
import { interrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { Unreachable } from "../remote/trouble.ts";

/** Ctrl-C does not wait for what a host does. */
export function unlessStopped<T>(step: Promise<T>, stop: AbortSignal): Promise<T> {
	step.catch(() => {});
	return new Promise((resolve, reject) => {
		const give = () => reject(interrupted(stop));
		if (stop.aborted) return give();
		stop.addEventListener("abort", give, { once: true });
		step.then(resolve, reject).finally(() => stop.removeEventListener("abort", give));
	});
}

/**
 * Waits for cleaning up as long as the connection lives; what hangs on the connection ends with it. Says `left` if it did not succeed; null:
 * nobody needs to know.
 */
export function tidying({ stop }: Pick<World, "stop">, say: (line: string) => void) {
	return async (step: Promise<unknown>, left: string | null): Promise<void> => {
		const over = new AbortController();
		const limit = async () => {
			if (!stop.aborted)
				await new Promise((resolve) => {
					stop.addEventListener("abort", resolve, { signal: over.signal });
				});
			await sleep(TIDY_MS, undefined, { signal: over.signal });
			throw new Error("it takes too long");
		};
		const given = limit();
		given.catch(() => {});
		try {
			await Promise.race([step, given]);
		} catch (error) {
			if (left !== null)
				say(
					`  ${left} (${error instanceof Unreachable ? error.reason : reasonOf(error).replace(/[.\s]+$/, "")})`,
				);
		} finally {
			over.abort();
		}
	};
}

// --- internal ---

/** Nobody waits longer after a Ctrl-C: the next mqbench there cleans up. */
const TIDY_MS = 10_000;
