import type { Collected } from "../evidence/collect.ts";
import type { Bucket } from "../model/client-file.ts";
import type { MetricSummary, Run } from "../model/result.ts";
import { formatDuration, formatPart, plural } from "../units.ts";
import { MAX } from "./fields.ts";
import { maximum, percentile } from "./select.ts";
import { show } from "./show.ts";

type Breakdown = NonNullable<Run["breakdown"]>;
type Parts = Breakdown[number];

/** Mean queued, lag and service of the messages around each percentile, and of the slowest. Undefined without response times. */
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

/** `partsText` of the deepest percentile up to p99 that has parts. */
export function breakdownText(run: Run): string | null {
	const at = run.breakdown?.findLast(({ p }) => p <= 99);
	return at === undefined ? null : partsText(run, at);
}

/** "p99 303ms = queued 302.6ms + lag 31us + service 0.2ms", with the mean of the messages around it where that differs. */
export function partsText(run: Run, parts: Parts): string {
	const max = parts.p === MAX;
	const name = max ? "max" : `p${parts.p}`;
	const of = max ? maximum(run.metrics.response, run) : percentile(run, "response", parts.p);
	const { response, queued, lag, service, messages } = parts;
	if (response === null)
		return `${name} lies among messages that did not complete: where their time went is not known`;
	const part = (ns: number | null) => formatPart(ns ?? 0, response);
	const sum = `queued ${part(queued)} + lag ${part(lag)} + service ${part(service)}`;
	const mean = formatDuration(response);
	const about =
		show({ ...of, weak: false }) === mean
			? ""
			: `: ${plural(messages, "message")} around it took ${mean} on average`;
	return `${name} ${show(of)}${about} = ${sum}`;
}

// --- internal ---

const UNKNOWN = { response: null, queued: null, lag: null, service: null };
const NEVER_COMPLETED = { ...UNKNOWN, messages: 0, from: null, to: null };

/** A mean of fewer messages does not describe a percentile. */
const ENOUGH = 10;
const NEAR = 1.25;

/** The value's bucket, joined with its nearest neighbours within NEAR until it has ENOUGH messages. */
function nearest(all: readonly Bucket[], value: number): readonly Bucket[] {
	let from = all.findLastIndex(({ fromNs }) => fromNs <= value);
	const own = all[from];
	if (own === undefined || own.toNs < value) return [];
	let to = from;
	let messages = own.messages;
	while (messages < ENOUGH) {
		const [below, above] = [all[from - 1], all[to + 1]];
		const down = below === undefined ? Infinity : value / below.fromNs;
		const up = above === undefined ? Infinity : above.toNs / value;
		if (Math.min(down, up) > NEAR) break;
		if (down <= up) from--;
		else to++;
		messages += (down <= up ? below : above)?.messages ?? 0;
	}
	return all.slice(from, to + 1);
}

function meanOf(buckets: readonly Bucket[]) {
	const sum = (of: (b: Bucket) => number) => buckets.reduce((all, b) => all + of(b), 0);
	const messages = sum((b) => b.messages);
	const queued = sum((b) => b.queuedNs) / messages;
	const lag = sum((b) => b.lagNs) / messages;
	const service = sum((b) => b.serviceNs) / messages;
	return { response: queued + lag + service, queued, lag, service, messages };
}
