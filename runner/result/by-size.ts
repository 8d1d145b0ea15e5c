import { EMPTY } from "../histogram/distribution.ts";
import type { Run } from "../model/result.ts";
import { intendedInWindow, mainMetric, samplesPerMessage } from "../plan/samples.ts";
import { byClass } from "../plan/sizes.ts";
import { formatBytesExact } from "../units.ts";
import { type Facts, hasMetric, messagesDue, windowOf } from "../verdict/facts.ts";
import { intendedBySecond } from "../verdict/intervals.ts";
import { percentileOf, USUAL } from "../verdict/quantile.ts";

/** The main metric by class of size; undefined if all messages have the same, or nothing was measured. */
export function bySizeOf(facts: Facts): Run["sizes"] {
	const { plan } = facts.collected;
	const { sizes } = plan.message;
	const metric = mainMetric(plan);
	if (sizes === null || !hasMetric(facts, metric)) return undefined;
	const { warmupMessages, messages } = plan.schedule;
	const intended = byClass(plan, warmupMessages, messages);
	// It is unknown which messages a stopped run has offered.
	const each = messagesDue(facts) === intendedInWindow(plan) ? samplesPerMessage(plan, metric) : 0;
	const owed = intended.map(() => new Map<number, number>());
	let from = warmupMessages;
	for (const [second, n] of intendedBySecond(plan)) {
		for (const [k, count] of byClass(plan, from, from + n).entries()) owed[k]?.set(second, count);
		from += n;
	}
	const { startNs, endNs } = windowOf(facts.collected);
	const exact = sizes.runs.every(([bytes]) => sizes.classes.includes(bytes));
	return sizes.classes.map((toBytes, k) => {
		const own = facts.merged.get(`${metric}.${toBytes}B`);
		const distribution = own?.whole ?? EMPTY;
		const n = Math.max((intended[k] ?? 0) * each, distribution.count);
		const max = own?.maxNs ?? null;
		const only: Facts = { ...facts, merged: new Map(own && [[metric, own]]) };
		const span = { from: 0, to: Math.floor((endNs - startNs) / 1e9), owed: owed[k] };
		return {
			size: exact ? formatBytesExact(toBytes) : `up to ${formatBytesExact(toBytes)}`,
			toBytes,
			intended: intended[k] ?? 0,
			count: distribution.count,
			n,
			censored: n - distribution.count,
			max,
			percentiles: USUAL.map((p) =>
				percentileOf(only, metric, p, { distribution, n, min: null, max }, span),
			),
		};
	});
}
