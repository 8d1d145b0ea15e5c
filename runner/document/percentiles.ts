import type { Metric } from "../model/plan.ts";
import type { MetricSummary, Run } from "../model/result.ts";
import {
	closedText,
	durationText,
	intervalText,
	maxText,
	percentileName,
	percentileValue,
	requiredSamplesText,
} from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration } from "../units.ts";
import { type Block, type Medium, PAGE, type Row, TERMINAL, type Text } from "./blocks.ts";
import { aside, numbers, paragraph, table } from "./make.ts";

/** The window's percentiles of every metric that a run has; `facts` says of which system, and where. */
export function percentiles(run: Run, facts: string): Block[] {
	const metrics = METRICS.flatMap((name) => {
		const summary = run.metrics[name];
		return summary === null ? [] : [{ name, summary }];
	});
	const closed = paragraph(closedText(run));
	const [first] = metrics;
	if (first === undefined) return [closed, paragraph("nothing was measured")];
	// Of those that nothing carries the first one says what it needs.
	const shown = first.summary.percentiles.filter(
		(p, i, all) => p.support !== "none" || all[i - 1]?.support !== "none",
	);
	const unsupported = shown.find(({ support }) => support === "none") ?? null;
	const needs = unsupported === null ? "" : requiredSamplesText(unsupported, run, first.name);
	const row = (
		name: Text,
		cell: (summary: MetricSummary) => Text,
		media?: readonly Medium[],
	): Row => ({ cells: [name, ...metrics.map(({ summary }) => cell(summary))], media });
	const at = (summary: MetricSummary, p: number): Text => {
		const percentile = summary.percentiles.find((x) => x.p === p);
		return percentile === undefined
			? ""
			: [percentileValue(percentile, run), aside(intervalText(percentile))];
	};
	const rows = [
		...shown.map((p) =>
			row([percentileName(p.p), aside(p === unsupported ? needs : "")], (summary) =>
				at(summary, p.p),
			),
		),
		row("max", (summary) => [
			maxText(summary, run),
			aside(
				summary.censored > 0 && summary.max !== null
					? `${formatDuration(summary.max)} of those that completed`
					: "",
			),
		]),
		row("min", ({ min }) => durationText(min), PAGE),
		row("mean", ({ mean }) => durationText(mean), PAGE),
		row(
			"samples",
			({ n, censored }) => [
				formatCount(n),
				aside(censored > 0 ? `${formatCount(censored)} never completed` : ""),
			],
			PAGE,
		),
	];
	const columns = numbers(metrics.map(({ name }) => name));
	const stopped = metrics.some(({ summary }) => maxText(summary, run) === "stopped");
	return [
		closed,
		table(["percentile", ...columns], rows, { look: "p", caption: facts, turned: true }),
		paragraph(unsupported && `${percentileName(unsupported.p)} n/a (${needs})`, "plain", TERMINAL),
		paragraph(stopped ? tell("stopped-means") : null, "small"),
	];
}

// --- internal ---

const METRICS: readonly Metric[] = ["response", "service", "lag", "queued", "ack", "last"];
