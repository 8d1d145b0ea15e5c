import type { Clock } from "../world.ts";

/**
 * A watch that says how many milliseconds have gone by since T0, which the generator has told by the wall clock (milliseconds since 1970). The
 * wall clock is read once, now: whoever sets it during a run moves nothing.
 */
export function sinceT0(t0Ms: number, clock: Clock): () => number {
	const t0 = clock.monotonicMs() - (clock.nowMs() - t0Ms);
	return () => clock.monotonicMs() - t0;
}
