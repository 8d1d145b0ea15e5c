import type { Metric } from "../model/plan.ts";
import type { MetricSummary, Run } from "../model/result.ts";
import { maximum, percentileIn } from "../result/select.ts";
import { amount, showInterval } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { formatCount, formatDuration } from "../units.ts";
import { windowFor } from "../verdict/rates.ts";
import {
	aside,
	type Block,
	type Depth,
	type Inline,
	numbers,
	type Row,
	table,
	text,
	upTo,
} from "./blocks.ts";
import { CLOSED_MEANS } from "./words.ts";

/** The window's percentiles of every metric that a run has. */
export function percentiles(run: Run): Block[] {
	const metrics = METRICS.flatMap((name) => {
		const summary = run.metrics[name];
		return summary === null ? [] : [{ name, summary }];
	});
	const closed = text(isClosed(run) ? CLOSED_MEANS : null);
	const [first] = metrics;
	if (first === undefined) return [closed, text("nothing was measured")];
	// Of those that nothing carries the first one says what it needs.
	const shown = first.summary.percentiles.filter(
		(p, i, all) => p.support !== "none" || all[i - 1]?.support !== "none",
	);
	const unsupported = shown.find(({ support }) => support === "none") ?? null;
	const needs =
		unsupported === null
			? ""
			: `needs N >= ${formatCount(unsupported.needs)}; ${windowFor(unsupported.needs, run.load, first.name)}`;
	const row = (name: Inline, cell: (summary: MetricSummary) => Inline, depth?: Depth): Row => ({
		cells: [name, ...metrics.map(({ summary }) => cell(summary))],
		depth,
	});
	const at = (summary: MetricSummary, p: number): Inline => {
		const of = percentileIn(summary, p, run);
		return of.why === "not-measured" ? "" : [of, aside(showInterval(of))];
	};
	const rows = [
		...shown.map((p) =>
			row([`p${p.p}`, aside(p === unsupported ? needs : "")], (summary) => at(summary, p.p)),
		),
		row("max", (summary) => [
			maximum(summary, run),
			aside(
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
				aside(censored > 0 ? `${formatCount(censored)} never completed` : ""),
			],
			3,
		),
	];
	const columns = numbers(metrics.map(({ name }) => name));
	const stopped = metrics.some(({ summary }) => maximum(summary, run).why === "stopped");
	return [
		closed,
		table(["percentile", ...columns], rows, { look: "turned" }),
		...upTo(1, text(unsupported && `p${unsupported.p} ${needs}`)),
		text(stopped ? "stopped: among those under way when the run was" : null, "small"),
	];
}

// --- internal ---

const METRICS: readonly Metric[] = ["response", "service", "lag", "queued", "ack", "last"];
