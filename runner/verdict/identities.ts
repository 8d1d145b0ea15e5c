import { Metric } from "../plan/plan.ts";
import type { Counters } from "../run/collect.ts";
import type { Facts } from "./facts.ts";
import { sumsOf } from "./facts.ts";
import { intendedInWindow, limitIntervals } from "./intervals.ts";

/**
 * What must be equal if mqbench has counted right (DESIGN.md, section 5). Empty, or sentences about what is not. Only
 * asked of files that are closed: in others some counts are missing.
 */
export function brokenIdentities(facts: Facts): string[] {
	const { plan, counters, closed, seconds } = facts.collected;
	if (!closed) return [];
	const broken: string[] = [];
	const same = (what: string, a: number, b: number) => {
		if (a !== b) broken.push(`${what}: ${a} and ${b}`);
	};
	for (const scope of ["warmup", "window"] as const) {
		const c = counters[scope];
		if (c === null) continue;
		for (const [what, a, b] of equations(c)) same(`${scope} ${what}`, a, b);
	}
	if (counters.window)
		same(
			"intended in the window",
			counters.window.intended,
			intendedInWindow(plan),
		);
	if (counters.warmup)
		same(
			"intended in the warm-up",
			counters.warmup.intended,
			plan.schedule.warmupMessages,
		);
	for (const metric of Metric.options)
		same(
			`${metric} in histogram and counters`,
			facts.merged.get(metric)?.whole.count ?? 0,
			sumsOf(facts, metric).count,
		);
	for (const [k, limit] of plan.limits.entries()) {
		const intervals = limitIntervals(plan, seconds, k);
		same(
			`${limit.metric} per 100 ms and in counters`,
			intervals.reduce((n, i) => n + i.n - i.censored, 0),
			sumsOf(facts, limit.metric).count,
		);
		if (intervals.some((i) => i.censored < 0))
			broken.push(`more ${limit.metric} than intended messages in 100 ms`);
	}
	return broken;
}

// --- internal ---

function equations(c: Counters): [what: string, a: number, b: number][] {
	const all: [string, number, number][] = [
		["intended = sent + notOffered", c.intended, c.sent + c.notOffered],
		[
			"received = delivered + unackedReceived + failedReceived",
			c.received,
			c.delivered + (c.unackedReceived ?? 0) + c.failedReceived,
		],
	];
	// Without acknowledgements a message that was sent without error is delivered or lost.
	return c.acked === null
		? [
				...all,
				[
					"sent = delivered + lost + failed + unknown",
					c.sent,
					c.delivered + c.lost + c.failed + c.unknown,
				],
			]
		: [
				...all,
				[
					"sent = acked + failed + unknown",
					c.sent,
					c.acked + c.failed + c.unknown,
				],
				["acked = delivered + lost", c.acked, c.delivered + c.lost],
			];
}
