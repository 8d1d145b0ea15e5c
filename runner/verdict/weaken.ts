import { GREW } from "./backlog.ts";
import type { Check } from "./check.ts";
import type { Facts } from "./facts.ts";
import { STEADY_MARGIN } from "./limits.ts";
import type { Judgement } from "./sla.ts";
import { drift } from "./steady.ts";

/**
 * A latency gate that passes does so for this duration only when the queue grew (`grew`), or p50 rose towards a limit that is near:
 * it is left open.
 */
export function weakened(
	j: Judgement,
	grew: Check | undefined,
	facts: Facts,
): Judgement {
	if (j.verdict !== "pass" || j.n === null) return j;
	const undecided = (why: string): Judgement => ({
		...j,
		verdict: "inconclusive",
		why: `${j.why}; but ${why}`,
	});
	if (grew) return undecided(GREW);
	const found = drift(facts);
	const near = j.margin !== null && j.margin < STEADY_MARGIN;
	return found?.significant && found.change > 0 && near
		? undecided(
				`p50 rose over the window, and the limit is less than ${STEADY_MARGIN} times what was measured`,
			)
		: j;
}
