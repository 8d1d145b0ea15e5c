import { tail } from "../histogram/percentiles.ts";
import type { Plan, Sla } from "../model/plan.ts";
import { intendedInWindow, limitIndex, samplesPerMessage } from "../plan/samples.ts";
import { type Said, said } from "../text/say.ts";
import { formatCount, formatDurationExact } from "../units.ts";
import { fails, passLimit } from "./statistics.ts";

/** What a run has counted so far. */
interface SoFar {
	/** By plan.limits: messages of the window over the limit. */
	readonly over: readonly number[];
	/** Of warm-up and window. */
	readonly failed: number;
	readonly duplicated: number;
}

interface Hopeless {
	/** Text of the SLA line. */
	readonly sla: string;
	readonly why: string;
}

/**
 * The first SLA line with `abort: true` that the run cannot pass any more, or null.
 *
 * Looking every second is testing every second: at 5 % each, bad luck would stop many a run. So n is the PLANNED number, and every message
 * still to come counts as under the limit: what holds now holds at the end. All three must:
 * - t is above the most that passes with phi = 1, which clustering only lowers;
 * - t is at least twice the budget, so that the end's verdict will be FAIL and not INCONCLUSIVE (reports/README.md, "Stopped early");
 * - the test fails at 0.5 %, ten times stricter than at the end.
 */
export function hopeless(plan: Plan, soFar: SoFar): Hopeless | null {
	for (const sla of plan.sla) {
		const over = soFar.over[limitIndex(plan, sla)] ?? 0;
		const why = sla.abort ? whyHopeless(sla, plan, { ...soFar, over }) : null;
		if (why !== null) return { sla: sla.text, why: why.text };
	}
	return null;
}

/** As `hopeless`, of one line, whether it is to stop the run or not. */
export function whyHopeless(
	sla: Sla,
	plan: Plan,
	soFar: Omit<SoFar, "over"> & { over: number },
): Said | null {
	if (sla.kind === "tally") return tallyHopeless(sla, soFar);
	const { over } = soFar;
	const n = intendedInWindow(plan) * samplesPerMessage(plan, sla.metric);
	const { limitNs } = sla;
	const share = sla.kind === "max" ? 0 : tail(sla.percentile);
	const allowed = n * share;
	const sure =
		sla.kind === "max"
			? over > 0
			: over > (passLimit(n, share) ?? -1) &&
				over >= 2 * allowed &&
				fails(over, n, share, PEEKING_ALPHA);
	const may = allowed < 1 ? "none may" : `at most ${formatCount(Math.floor(allowed))} may`;
	const text = `${formatCount(over)} of ${formatCount(n)} planned messages took longer than ${formatDurationExact(limitNs)}; ${may}`;
	return sure ? said("hopeless", text, { over, n, allowed, limitNs }) : null;
}

// --- internal ---

const PEEKING_ALPHA = 0.005;

/** Counts that can only grow. `lost` is none of them: what is missing may still come. */
function tallyHopeless(
	sla: Extract<Sla, { kind: "tally" }>,
	soFar: Pick<SoFar, "failed" | "duplicated">,
): Said | null {
	if (sla.tally !== "failed" && sla.tally !== "duplicated") return null;
	const count = soFar[sla.tally];
	const exceeded =
		sla.op === "<" ? count >= sla.limit : sla.op !== ">=" && sla.op !== ">" && count > sla.limit;
	return exceeded ? said("hopeless", `${formatCount(count)} ${sla.tally}`, { n: count }) : null;
}
