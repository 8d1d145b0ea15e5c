import type { Collected } from "../evidence/collect.ts";
import type { Bucket } from "../model/client-file.ts";
import type { MetricSummary, Run } from "../model/result.ts";
import { formatDuration, formatPart, plural } from "../units.ts";
import { MAX } from "./fields.ts";
import { maximum, percentile } from "./select.ts";
import { show } from "./show.ts";

type Breakdown = NonNullable<Run["breakdown"]>;
type Parts = Breakdown[number];

/**
 * What the messages around each percentile waited for, as means of their queued, lag and service; at the maximum those of the slowest one.
 * undefined: this load has no response times, or they were not broken down.
 */
export function breakdownOf(
	{ breakdown, slowest }: Pick<Collected, "breakdown" | "slowest">,
	response: MetricSummary | null,
): Breakdown | undefined {
	if (breakdown === null || response === null) return undefined;
	const { min, max, censored, percentiles } = response;
	const around = percentiles.flatMap(({ p, value, beyondTimeout }): Parts[] => {
		if (beyondTimeout) return [{ p, ...NEVER_COMPLETED }];
		const buckets = value === null ? [] : nearest(breakdown, value);
		const [first, last] = [buckets[0], buckets.at(-1)];
		if (first === undefined || last === undefined) return [];
		// A bucket's edge may lie beyond the exact extremes.
		const from = Math.max(first.fromNs, min ?? 0);
		const to = Math.min(last.toNs, max ?? last.toNs);
		return [{ p, ...meanOf(buckets), from, to }];
	});
	if (censored > 0) return [...around, { p: MAX, ...NEVER_COMPLETED }];
	const [most] = slowest;
	if (most === undefined || max === null) return around;
	const alone = meanOf([{ ...most, fromNs: max, toNs: max, messages: 1 }]);
	return [...around, { p: MAX, ...alone, from: max, to: max }];
}

/** "p99 303ms = queued 302.6ms + lag 31us + service 0.2ms"; of the deepest percentile below it where the samples do not carry p99. null: nothing to tell. */
export function breakdownText(run: Run): string | null {
	const at = run.breakdown?.findLast(({ p }) => p <= 99);
	return at === undefined ? null : partsText(run, at);
}

/** The same of any percentile. */
export function partsText(run: Run, parts: Parts): string {
	const max = parts.p === MAX;
	const name = max ? "max" : `p${parts.p}`;
	const of = max ? maximum(run.metrics.response, run) : percentile(run, "response", parts.p);
	const value = show(of);
	const { response, queued, lag, service, from, to } = parts;
	if (response === null || from === null || to === null)
		return `${name} lies among messages that did not complete, so nobody knows where their time went`;
	const part = (ns: number | null) => formatPart(ns ?? 0, response);
	const sum = `queued ${part(queued)} + lag ${part(lag)} + service ${part(service)}`;
	const mean = formatDuration(response);
	// What stands around a percentile is not the percentile: where that shows, say what the parts are of.
	return show({ ...of, weak: false }) === mean
		? `${name} ${value} = ${sum}`
		: `${name} ${value}: ${plural(parts.messages, "message")} between ${formatDuration(from)} and ${formatDuration(to)} took ${mean} on average = ${sum}`;
}

// --- internal ---

const NEVER_COMPLETED = {
	response: null,
	queued: null,
	lag: null,
	service: null,
	messages: 0,
	from: null,
	to: null,
};

/** A mean of fewer messages says little of a percentile. */
const ENOUGH = 10;
/** Messages that took longer by more than that factor, or less, are others. */
const NEAR = 1.25;

/** The bucket of a value; while it has too few messages, with those whose edges are nearest, as far as they are near. */
function nearest(all: readonly Bucket[], value: number): readonly Bucket[] {
	let from = all.findLastIndex(({ fromNs }) => fromNs <= value);
	const own = all[from];
	if (own === undefined || own.toNs < value) return [];
	let to = from;
	let messages = own.messages;
	while (messages < ENOUGH) {
		const [below, above] = [all[from - 1], all[to + 1]];
		// By ratio, as buckets are.
		const down = below === undefined ? Infinity : value / below.fromNs;
		const up = above === undefined ? Infinity : above.toNs / value;
		if (Math.min(down, up) > NEAR) break;
		if (down <= up) from--;
		else to++;
		messages += (down <= up ? below : above)?.messages ?? 0;
	}
	return all.slice(from, to + 1);
}

function meanOf(
	buckets: readonly Bucket[],
): Omit<Parts, "p" | "from" | "to"> & { readonly response: number } {
	const sum = (of: (b: Bucket) => number) => buckets.reduce((all, b) => all + of(b), 0);
	const messages = sum((b) => b.messages);
	const queued = sum((b) => b.queuedNs) / messages;
	const lag = sum((b) => b.lagNs) / messages;
	const service = sum((b) => b.serviceNs) / messages;
	const response = queued + lag + service;
	return { response, queued, lag, service, messages };
}
