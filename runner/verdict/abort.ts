import { tail } from "../histogram/percentiles.ts";
import type { Plan, Sla } from "../model/plan.ts";
import { intendedInWindow, limitIndex, samplesPerMessage } from "../plan/samples.ts";
import { type Said, said } from "../text/say.ts";
import { formatCount, formatDurationExact } from "../units.ts";
import { fails, passLimit } from "./statistics.ts";

/** What a run has counted so far, of warm-up and window. */
interface Counted {
	readonly failed: number;
	readonly duplicated: number;
}

/** The first SLA line with `abort: true` that the run cannot pass any more, or null. `over`: messages of the window over each of plan.limits. */
export function hopeless(
	plan: Plan,
	soFar: Counted & { readonly over: readonly number[] },
): { readonly sla: string; readonly why: string } | null {
	for (const sla of plan.sla) {
		const over = soFar.over[limitIndex(plan, sla)] ?? 0;
		const why = sla.abort ? whyHopeless(sla, plan, { ...soFar, over }) : null;
		if (why !== null) return { sla: sla.text, why: why.text };
	}
	return null;
}

const PEEKING_ALPHA = 0.005;

/**
 * Why one line cannot be met any more, whether it is to stop the run or not; null: it may.
 *
 * Looking every second is testing every second: at 5 % each, bad luck would stop many a run. So n is the PLANNED number, and every message
 * still to come counts as under the limit: what holds now holds at the end. All three must:
 * - t is above the most that passes with phi = 1, which clustering only lowers;
 * - t is at least twice the budget, so that the end's verdict will be FAIL and not INCONCLUSIVE (reports/README.md, "Stopped early");
 * - the test fails at 0.5 %, ten times stricter than at the end.
 *
 * Of counts only those that can but grow: what is lost may still come.
 */
export function whyHopeless(
	sla: Sla,
	plan: Plan,
	soFar: Counted & { readonly over: number },
): Said | null {
	if (sla.kind === "tally") {
		const { tally, op, limit } = sla;
		if (tally !== "failed" && tally !== "duplicated") return null;
		const n = soFar[tally];
		const sure = op === "<" ? n >= limit : op !== ">=" && op !== ">" && n > limit;
		return sure ? said("hopeless", `${formatCount(n)} ${tally}`, { n }) : null;
	}
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
