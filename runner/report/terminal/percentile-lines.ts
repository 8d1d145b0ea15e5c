import type { Metric } from "../../model/plan.ts";
import type { MetricSummary, Run } from "../../model/result.ts";
import {
	closedText,
	maxText,
	percentileName,
	percentileValue,
	requiredSamplesText,
	WEAK_MEANS,
} from "../words.ts";
import type { Page } from "./text-page.ts";

/** Percentiles of what a run has, side by side or on a narrow page below each other, and what their marks mean. */
export function percentileLines(run: Run, page: Page): string[] {
	const rows: [Metric, MetricSummary | null][] = [
		["response", run.metrics.response],
		["service", run.metrics.service],
		["ack", run.metrics.ack],
		["last", run.metrics.last],
	];
	const closed = closedText(run);
	const shown = rows.filter((r): r is [Metric, MetricSummary] => r[1] !== null);
	if (shown.length === 0) return ["  nothing was measured"];
	const table = [
		["", ...COLUMNS.map(percentileName), "max"],
		...shown.map(([name, m]) => [
			name,
			...COLUMNS.map((p) => {
				const found = m.percentiles.find((x) => x.p === p);
				return found ? percentileValue(found, run) : "n/a";
			}),
			maxText(m, run),
		]),
	];
	const lines = (page.width < WIDE ? turned(table) : table).map(
		(row) =>
			`  ${row.map((text, i) => (i === 0 ? text.padEnd(FIRST) : text.padStart(CELL))).join("")}`,
	);
	if (closed !== null) lines.unshift(...page.fold(closed, "  "));
	const [metric, first] = shown[0] as (typeof shown)[number];
	const unsupported = first.percentiles.find(
		(p) => p.support === "none" && COLUMNS.includes(p.p),
	);
	if (unsupported)
		lines.push(
			...page.fold(
				`${percentileName(unsupported.p)} n/a (${requiredSamplesText(unsupported, run, metric)})`,
				"  ",
			),
		);
	if (table.some((row) => row.some((cell) => cell.startsWith("~"))))
		lines.push(...page.fold(`~ ${WEAK_MEANS}`, "  "));
	if (table.some((row) => row.includes("stopped")))
		lines.push(
			...page.fold("stopped: among those under way when the run was", "  "),
		);
	return lines;
}

// --- internal ---

const COLUMNS = [50, 90, 99, 99.9, 99.99];
const FIRST = 8;
const CELL = 10;
/** From this width on percentiles stand side by side. */
const WIDE = 2 + FIRST + CELL * (COLUMNS.length + 1);

/** Rows as columns. */
function turned(table: readonly string[][]): string[][] {
	return (table[0] ?? []).map((_, i) => table.map((row) => row[i] ?? ""));
}
