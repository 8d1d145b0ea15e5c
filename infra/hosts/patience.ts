import { reasonOf } from "../../runner/reason.ts";
import { interrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { Unreachable } from "../machines/trouble.ts";

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
 * Waits for cleaning up as long as the connection lives, and 10 s after a Ctrl-C: the next mqbench there cleans up. Says `left` if it did not
 * succeed; null: nobody needs to know.
 */
export function tidying({ stop }: Pick<World, "stop">, say: (line: string) => void) {
	return (step: Promise<unknown>, left: string | null): Promise<void> =>
		new Promise((resolve) => {
			let late: NodeJS.Timeout | undefined;
			const end = (error?: unknown) => {
				stop.removeEventListener("abort", hurry);
				clearTimeout(late);
				if (error !== undefined && left !== null)
					say(
						`  ${left} (${error instanceof Unreachable ? error.reason : reasonOf(error).replace(/[.\s]+$/, "")})`,
					);
				resolve();
			};
			const hurry = () => {
				late = setTimeout(end, TIDY_MS, new Error("it takes too long"));
			};
			if (stop.aborted) hurry();
			else stop.addEventListener("abort", hurry, { once: true });
			step.then(() => end(), end);
		});
}

// --- internal ---

const TIDY_MS = 10_000;
