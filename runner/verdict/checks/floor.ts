import { noBroker } from "../../brokers/index.ts";
import { smallestOf } from "../../extremes.ts";
import { percentile } from "../../histogram/percentiles.ts";
import type { Sla } from "../../model/plan.ts";
import { mainMetric } from "../../plan/samples.ts";
import { say } from "../../text/say.ts";
import { formatCount, formatDuration } from "../../units.ts";
import { type Facts, type Floor, mainSampleOf } from "../facts.ts";
import { ratesOf } from "../rates.ts";
import { type Check, type Finding, unknown } from "./check.ts";
import { CEILING_SHARE, FLOOR_SHARE } from "./limits.ts";

/** Is the number one of the system, or of the generator? Compared with a run of the same case that has no system in it. */
export const floor: Check = {
	name: "floor",
	judge(facts) {
		const { floor: measured } = facts;
		if (facts.collected.plan.schedule.kind === "closed") return ceiling(facts);
		if (measured === null)
			return unknown(say("floor-not-measured"), say("measure-floor", { broker: noBroker }));
		const below = measured.p99 ?? measured.max;
		const response = mainSampleOf(facts);
		const atP99 = percentile(response, 99, 1);
		// Among those that never completed it is longer than any floor; of too few samples only the maximum of all is known.
		if (atP99.beyondTimeout)
			return {
				status: "ok",
				said: say("floor-below-loss"),
				figure: below === null ? null : formatDuration(below),
			};
		const all = response.distribution.count === response.n;
		const p99 = atP99.value ?? (all ? response.max : null);
		if (measured.problem !== null || below === null || p99 === null)
			return unknown(
				measured.problem === null
					? say("floor-not-comparable")
					: say("floor-problem", { problem: measured.problem }),
				say("see-completions"),
			);
		const figure = formatDuration(below);
		const limit = formatDuration(p99 * FLOOR_SHARE);
		const lines = facts.collected.plan.sla.filter((sla) => floorOver(sla, facts) !== null);
		if (lines.length > 0)
			return {
				status: "warn",
				said: say("floor-breaks", { floorNs: below, lines: lines.map(({ text }) => text) }),
				figure,
				limit,
				remedy: say("faster-floor"),
			};
		// Nothing is faster than no broker: the machine was busier while the floor was measured than before.
		if (below > p99)
			return {
				status: "unknown",
				said: say("floor-disturbed", { floorNs: below, p99Ns: p99 }),
				figure,
				limit,
				remedy: say("stop-others"),
			};
		return {
			...(below > p99 * FLOOR_SHARE
				? { status: "warn", said: say("floor-near", { floorNs: below, p99Ns: p99 }) }
				: { status: "ok", said: say("floor", { floorNs: below }) }),
			figure,
			limit,
			remedy: say("larger-differences"),
		};
	},
};

/** What the generator alone needs, where that is above the limit of this line on response; null: it is not, or nobody has measured it. */
export function floorOver(sla: Sla, { floor: measured }: Facts): number | null {
	if (sla.kind === "tally" || sla.metric !== "response") return null;
	const low = sla.kind === "percentile" && sla.percentile < 99;
	const ns = (low ? measured?.p50 : measured?.p99) ?? 0;
	return measured?.problem === null && ns > sla.limitNs ? ns : null;
}

/**
 * The floor from the files of its run. Its p99 is that of the best of its seconds: a floor is what the generator can do, and one
 * hiccup of the machine in a run of 3 s would be the p99 of all of it.
 */
export function floorOf(facts: Facts): Floor {
	const { state, problem, folder } = facts.collected;
	const { plan } = facts.collected;
	const sample = mainSampleOf(facts);
	const value = (p: number) => percentile(sample, p, 1).value;
	const seconds = facts.merged.get(mainMetric(plan))?.seconds ?? new Map();
	const best = [...seconds]
		.filter(([second]) => second >= 0)
		.map(([, { p99 }]) => p99)
		.filter((p99) => p99 !== null);
	return {
		folder: `floors/${folder}`,
		problem:
			state === "complete"
				? facts.unreadable
				: say("floor-failed", { problem: problem ?? state }).text,
		count: sample.distribution.count,
		p50: value(50),
		p99: best.length > 0 ? smallestOf(best) : value(99),
		max: sample.max,
		perSecond: plan.schedule.kind === "closed" ? ratesOf(facts.collected).received : null,
	};
}

// --- internal ---

/** A closed load shows how fast it goes: what the generator carries without any system is the most that it can show. */
function ceiling({ floor: measured, collected }: Facts): Finding {
	const { received, sent } = ratesOf(collected);
	const perSecond = received ?? sent;
	const most = measured?.perSecond ?? null;
	if (perSecond === null || most === null)
		return unknown(
			measured?.problem
				? say("floor-problem", { problem: measured.problem })
				: say("floor-not-measured"),
			say("measure-ceiling", { broker: noBroker }),
		);
	const figure = `${formatCount(perSecond)}/s`;
	return {
		...(perSecond > most * CEILING_SHARE
			? { status: "warn", said: say("ceiling-near", { perSecond, ceilingPerSecond: most }) }
			: { status: "ok", said: say("ceiling", { ceilingPerSecond: most }) }),
		figure,
		limit: `${formatCount(most * CEILING_SHARE)}/s`,
		remedy: say("larger-differences"),
	};
}
