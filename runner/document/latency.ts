import { largestOf, smallestOf } from "../extremes.ts";
import { ticksOf } from "../figures/stretches.ts";
import { spread } from "../model/line-seconds.ts";
import { CATCH_UP } from "../model/load.ts";
import type { Metric } from "../model/plan.ts";
import type { MetricSummary, Run } from "../model/result.ts";
import { breakdownText, partsText } from "../result/breakdown.ts";
import { behindText, hiddenText } from "../result/omission.ts";
import { maximum, percentileIn } from "../result/select.ts";
import { amount, type Column, showInterval } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { percent } from "../text/percent.ts";
import { formatCount, formatDuration, plural } from "../units.ts";
import { BUFFERED_MESSAGES } from "../verdict/buffered.ts";
import { windowFor } from "../verdict/rates.ts";
import * as doc from "./blocks.ts";
import { CLOSED_MEANS } from "./words.ts";

export function percentiles(run: Run): doc.Block[] {
	const metrics = METRICS.flatMap((name) => {
		const summary = run.metrics[name];
		return summary === null ? [] : [{ name, summary }];
	});
	const closed = doc.text(isClosed(run) ? CLOSED_MEANS : null);
	const [first] = metrics;
	if (first === undefined)
		return [closed, doc.text(run.load.pattern === CATCH_UP ? null : "nothing was measured")];
	// The first unsupported one shows the duration that it needs.
	const shown = first.summary.percentiles.filter(
		(p, i, all) => p.support !== "none" || all[i - 1]?.support !== "none",
	);
	const unsupported = shown.find(({ support }) => support === "none") ?? null;
	const needs =
		unsupported === null
			? ""
			: `needs N >= ${formatCount(unsupported.needs)}; ${windowFor(unsupported.needs, run.load, first.name)}`;
	const row = (
		name: doc.Inline,
		cell: (summary: MetricSummary) => doc.Inline,
		depth?: doc.Depth,
	): doc.Row => ({
		cells: [name, ...metrics.map(({ summary }) => cell(summary))],
		depth,
	});
	const at = (summary: MetricSummary, p: number): doc.Inline => {
		const of = percentileIn(summary, p, run);
		return of.why === "not-measured" ? "" : [of, doc.aside(showInterval(of))];
	};
	const rows = [
		...shown.map((p) =>
			row([`p${p.p}`, doc.aside(p === unsupported ? needs : "")], (summary) => at(summary, p.p)),
		),
		row("max", (summary) => [
			maximum(summary, run),
			doc.aside(
				summary.censored > 0 && summary.max !== null
					? `${formatDuration(summary.max)} of those that completed`
					: "",
			),
		]),
		row("min", ({ min }) => amount(min, "ns"), 3),
		row("mean", ({ mean }) => amount(mean, "ns"), 3),
		row(
			"samples",
			({ n, censored }) => [
				amount(n, "messages"),
				doc.aside(censored > 0 ? `${formatCount(censored)} never completed` : ""),
			],
			3,
		),
	];
	const columns = doc.numbers(metrics.map(({ name }) => name));
	const stopped = metrics.some(({ summary }) => maximum(summary, run).why === "stopped");
	return [
		closed,
		doc.table(["percentile", ...columns], rows, { look: "turned" }),
		...doc.upTo(1, doc.text(unsupported && `p${unsupported.p} ${needs}`)),
		doc.text(stopped ? "stopped: among those under way when the run was" : null, "small"),
	];
}

/** Where p99 went; from `depth` on, where each percentile went. */
export function breakdown(run: Run, depth: doc.Depth | null): doc.Block[] {
	const { breakdown: parts = [] } = run;
	if (parts.length === 0) return [];
	const each = [
		doc.list(parts.map((one) => partsText(run, one))),
		doc.text(
			"Means of the messages around each percentile, at max of the slowest one. Queued: earlier sends blocked; lag: the generator was late; service: from the send call on",
			"small",
		),
	];
	return [
		doc.text(breakdownText(run)),
		...(depth === null ? [] : [doc.fold("Where each percentile went", each, { depth })]),
	];
}

/** p99 by second in one line of a terminal, if there are three. A page has its charts. */
export function overTime({ series }: Run): doc.Block[] {
	const seconds = series.seconds.filter(({ second }) => second >= 0);
	const known = seconds.flatMap(({ p99 }) => p99 ?? []);
	if (known.length < 3) return [];
	const scale = `${formatDuration(smallestOf(known))} to ${formatDuration(largestOf(known))}`;
	// A second without a p99 because messages never came is not a quiet one.
	const never = seconds.filter(({ p99, missing }) => p99 === null && (missing ?? 0) > 0).length;
	const note = `in ${plural(never, "second")} of the window messages never completed`;
	return doc.upTo(
		1,
		doc.text([
			"p99 by second  ",
			{ as: "line", values: seconds.map(({ p99 }) => p99) },
			`  ${scale}`,
		]),
		doc.text(never === 0 ? null : note),
	);
}

/** Messages that waited in the client library during the window; nothing if they were always negligible. */
export function held(run: Run): doc.Block[] {
	const startNs = run.window.startNs;
	const seconds = ticksOf(run)
		.filter(({ at }) => at * 1e9 > startNs)
		.flatMap(({ held, ...tick }) => (held?.length ? [{ ...tick, held }] : []));
	const samples = seconds.flatMap((tick) =>
		spread(tick, tick.held).map(({ n, at }) => ({ n, ns: at * 1e9 })),
	);
	const most = samples.reduce((a, b) => (b.n > a.n ? b : a), { n: 0, ns: 0 });
	if (most.n <= BUFFERED_MESSAGES) return [];
	const long = samples.filter(({ n }) => n > BUFFERED_MESSAGES).length;
	const why = run.load.work
		? "messages waited in the client library for the consumers' work"
		: "the client library held messages back";
	const said = `${why}: ${formatCount(most.n)} at ${formatDuration(most.ns - startNs)}, the most, and more than ${BUFFERED_MESSAGES} in ${percent(long / samples.length)} of the window`;
	return [doc.text(said, "small")];
}

export function omission(run: Run): doc.Block[] {
	const texts = [hiddenText(run), behindText(run)].filter((said) => said !== null);
	if (texts.length === 0) return [];
	return [
		doc.heading("What a closed loop would have hidden", 3),
		...texts.map((said) => doc.text(said)),
	];
}

export function slowest({ slowest: all, load }: Run, depth: doc.Depth): doc.Block[] {
	if (all.length === 0) return [];
	const title = `The slowest ${all.length === 1 ? "message" : "messages"}, and what they waited for`;
	const columns: Column<Run["slowest"][number]>[] = [
		["due", ({ intendedNs }) => `${((intendedNs - load.warmupNs) / 1e9).toFixed(3)}s`],
		["producer", ({ producer }) => `${producer}`],
		["sequence", ({ sequence }) => `${sequence}`],
		["topic", ({ topic }) => `${topic}`],
		...(all.some(({ partition }) => partition !== null)
			? [["partition", (m: (typeof all)[number]) => `${m.partition ?? "n/a"}`] as const]
			: []),
		["response", ({ responseNs }) => amount(responseNs, "ns")],
		["queued", ({ queuedNs }) => amount(queuedNs, "ns")],
		["lag", ({ lagNs }) => amount(lagNs, "ns")],
		["service", ({ serviceNs }) => amount(serviceNs, "ns")],
	];
	const means =
		"Due: seconds after the window opened. Response = queued (earlier sends blocked) + lag (the generator was late) + service (from the send call on)";
	return [
		doc.fold(title, [doc.tableOf(all.slice(0, MOST), columns, 0), doc.text(means, "small")], {
			depth,
		}),
	];
}

// --- internal ---

const METRICS: readonly Metric[] = ["response", "service", "lag", "queued", "ack", "last"];

const MOST = 5;
