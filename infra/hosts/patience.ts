import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "../../runner/reason.ts";
import { interrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { Unreachable } from "../clients/ssh-trouble.ts";

/** Ctrl-C does not wait for what a host does. */
export function unlessStopped<T>(
	step: Promise<T>,
	stop: AbortSignal,
): Promise<T> {
	step.catch(() => {});
	return new Promise((resolve, reject) => {
		const give = () => reject(interrupted(stop));
		if (stop.aborted) return give();
		stop.addEventListener("abort", give, { once: true });
		step
			.then(resolve, reject)
			.finally(() => stop.removeEventListener("abort", give));
	});
}

/**
 * Waits for something that tidies up, as long as its connection lives: what hangs on that ends with it. `left` is said where it did not go through;
 * null: nobody has to know.
 */
export function tidying(
	{ stop }: Pick<World, "stop">,
	say: (line: string) => void,
) {
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

/** After a Ctrl-C nobody is held up for longer: the next mqbench that comes there tidies up. */
const TIDY_MS = 10_000;
