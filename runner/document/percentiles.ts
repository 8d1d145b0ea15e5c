import type { Metric } from "../model/plan.ts";
import type { MetricSummary, Run } from "../model/result.ts";
import { maximum, percentileIn } from "../result/select.ts";
import { amount, show, showInterval } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration } from "../units.ts";
import { windowFor } from "../verdict/window-length.ts";
import { aside, numbers, paragraph, table } from "./make.ts";
import { type Block, type Medium, PAGE, type Row, TERMINAL, type Text } from "./old-blocks.ts";

/** The window's percentiles of every metric that a run has; `facts` says of which system, and where. */
export function percentiles(run: Run, facts: string): Block[] {
	const metrics = METRICS.flatMap((name) => {
		const summary = run.metrics[name];
		return summary === null ? [] : [{ name, summary }];
	});
	const closed = paragraph(isClosed(run) ? tell("closed-means") : null);
	const [first] = metrics;
	if (first === undefined) return [closed, paragraph("nothing was measured")];
	// Of those that nothing carries the first one says what it needs.
	const shown = first.summary.percentiles.filter(
		(p, i, all) => p.support !== "none" || all[i - 1]?.support !== "none",
	);
	const unsupported = shown.find(({ support }) => support === "none") ?? null;
	const needs =
		unsupported === null
			? ""
			: `needs N >= ${formatCount(unsupported.needs)}; ${windowFor(unsupported.needs, run.load, first.name)}`;
	const row = (
		name: Text,
		cell: (summary: MetricSummary) => Text,
		media?: readonly Medium[],
	): Row => ({ cells: [name, ...metrics.map(({ summary }) => cell(summary))], media });
	const at = (summary: MetricSummary, p: number): Text => {
		const of = percentileIn(summary, p, run);
		return of.why === "not-measured" ? "" : [show(of), aside(showInterval(of))];
	};
	const rows = [
		...shown.map((p) =>
			row([`p${p.p}`, aside(p === unsupported ? needs : "")], (summary) => at(summary, p.p)),
		),
		row("max", (summary) => [
			show(maximum(summary, run)),
			aside(
				summary.censored > 0 && summary.max !== null
					? `${formatDuration(summary.max)} of those that completed`
					: "",
			),
		]),
		row("min", ({ min }) => show(amount(min, "ns")), PAGE),
		row("mean", ({ mean }) => show(amount(mean, "ns")), PAGE),
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
	const stopped = metrics.some(({ summary }) => maximum(summary, run).why === "stopped");
	return [
		closed,
		table(["percentile", ...columns], rows, { look: "p", caption: facts, turned: true }),
		paragraph(unsupported && `p${unsupported.p} n/a (${needs})`, "plain", TERMINAL),
		paragraph(stopped ? tell("stopped-means") : null, "small"),
	];
}

// --- internal ---

const METRICS: readonly Metric[] = ["response", "service", "lag", "queued", "ack", "last"];
