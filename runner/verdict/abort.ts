import { tail } from "../histogram/percentiles.ts";
import type { Plan, Sla } from "../model/plan.ts";
import { intendedInWindow, limitIndex, samplesPerMessage } from "../plan/samples.ts";
import { said } from "../text/say.ts";
import { formatCount, formatDurationExact } from "../units.ts";
import { fails, passLimit } from "./statistics.ts";

type Counted = Readonly<Record<"failed" | "duplicated", number>>;

/** The first SLA line with `abort: true` that can no longer pass. `over`: messages of the window over each of plan.limits. */
export function hopeless(plan: Plan, soFar: Counted & { readonly over: readonly number[] }) {
	for (const sla of plan.sla) {
		const over = soFar.over[limitIndex(plan, sla)] ?? 0;
		const why = sla.abort ? whyHopeless(sla, plan, { ...soFar, over }) : null;
		if (why !== null) return { sla: sla.text, why: why.text };
	}
	return null;
}

const PEEKING_ALPHA = 0.005;

/**
 * Why a line can no longer pass; null while it can. Testing every second would stop many a run by bad luck, so n is the PLANNED number,
 * messages to come count as within the limit, and three conditions must hold: t exceeds the most that passes with phi = 1; t is at least
 * twice the budget, so the verdict is FAIL (reports/METHOD.md, "Stopped early"); and the test fails at 0.5 %. Only counts that never fall
 * qualify: a lost message may still arrive.
 */
export function whyHopeless(sla: Sla, plan: Plan, soFar: Counted & { readonly over: number }) {
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
