import { noBroker } from "../../brokers/index.ts";
import { smallestOf } from "../../extremes.ts";
import { percentile } from "../../histogram/percentiles.ts";
import type { Sla } from "../../model/plan.ts";
import { mainMetric } from "../../plan/samples.ts";
import { formatCount, formatDuration } from "../../units.ts";
import { type Facts, type Floor, mainSampleOf } from "../facts.ts";
import { ratesOf } from "../rates.ts";
import { type Check, compared, type Finding, unknown } from "./check.ts";
import { SEE_COMPLETIONS } from "./counts.ts";
import { CEILING_SHARE, FLOOR_SHARE } from "./limits.ts";

/** Is the number one of the system, or of the generator? Compared with a run of the same case that has no system in it. */
export const floor: Check = {
	name: "floor",
	judge(facts) {
		const { floor: measured } = facts;
		if (facts.collected.plan.schedule.kind === "closed") return ceiling(facts);
		if (measured === null)
			return unknown(
				"not measured",
				`measure the floor of the generator as well, with ${noBroker} at the same rate`,
			);
		const floorNs = measured.p99 ?? measured.max;
		const response = mainSampleOf(facts);
		const atP99 = percentile(response, 99, 1);
		// Among those that never completed it is longer than any floor; of too few samples only the maximum of all is known.
		if (atP99.beyondTimeout)
			return {
				status: "ok",
				text: "p99 lies among messages that never completed",
				figure: floorNs === null ? null : formatDuration(floorNs),
			};
		const all = response.distribution.count === response.n;
		const p99Ns = atP99.value ?? (all ? response.max : null);
		if (measured.problem !== null) return unknown(measured.problem, SEE_COMPLETIONS);
		if (floorNs === null || p99Ns === null) {
			const nothing = unknown("nothing to compare the generator's floor with", SEE_COMPLETIONS);
			return { ...nothing, code: "floor-not-comparable" };
		}
		const text = `without any broker p99 is ${formatDuration(floorNs)} at best`;
		const near = compared(floorNs, {
			limit: p99Ns * FLOOR_SHARE,
			above: "warn",
			show: formatDuration,
			text,
			values: { floorNs, p99Ns },
			remedy: LARGER_DIFFERENCES,
		});
		const lines = facts.collected.plan.sla.filter((sla) => floorOver(sla, facts) !== null);
		if (lines.length > 0)
			return {
				...near,
				status: "warn",
				text: `${text}: no system can keep ${lines.map((line) => line.text).join(" and ")} here`,
				remedy:
					"raise the limit, lower the rate, or use a faster machine: no system can keep this limit here",
			};
		// Nothing is faster than no broker: the machine was busier while the floor was measured than before.
		if (floorNs > p99Ns)
			return {
				...near,
				status: "unknown",
				text: `${text}, more than the ${formatDuration(p99Ns)} with one: other work disturbed the machine`,
				remedy: "stop what else runs on the machine",
			};
		return near.status === "ok"
			? near
			: { ...near, text: `${text}, a large part of the ${formatDuration(p99Ns)} with one` };
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
				: `the floor of the generator was not measured: ${problem ?? state}`,
		count: sample.distribution.count,
		p50: value(50),
		p99: best.length > 0 ? smallestOf(best) : value(99),
		max: sample.max,
		perSecond: plan.schedule.kind === "closed" ? ratesOf(facts.collected).received : null,
	};
}

// --- internal ---

const LARGER_DIFFERENCES = "compare systems by larger differences only, or use a faster machine";

/** A closed load shows how fast it goes: what the generator carries without any system is the most that it can show. */
function ceiling({ floor: measured, collected }: Facts): Finding {
	const { received, sent } = ratesOf(collected);
	const perSecond = received ?? sent;
	const ceilingPerSecond = measured?.perSecond ?? null;
	if (perSecond === null || ceilingPerSecond === null)
		return unknown(
			measured?.problem ?? "not measured",
			`measure the ceiling of the generator as well, with ${noBroker} and as many messages`,
		);
	const show = (n: number) => `${formatCount(n)}/s`;
	const found = compared(perSecond, {
		limit: ceilingPerSecond * CEILING_SHARE,
		above: "warn",
		show,
		text: `without any broker the generator carries ${show(ceilingPerSecond)}`,
		values: { perSecond, ceilingPerSecond },
		remedy: LARGER_DIFFERENCES,
	});
	return found.status === "ok" ? found : { ...found, code: "ceiling-near" };
}
