import { phaseTable } from "../phase-table.ts";
import type { Phase, Result, Run } from "../summary.ts";
import { factsText } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { latencyByRate } from "./rate-chart.ts";

/** The parts of the window: a table, and of steps latency against rate. null: the window is one. */
export function phases(
	run: Run,
	number: number,
	result: Result,
): Markup | null {
	const table = phaseTable(run);
	if (table === null) return null;
	const chart = rateChart(run, number, result);
	return markup`<h3>${title(table.title)}</h3>${chart}
<div class="wide"><table><caption>${factsText(run, result)}</caption><thead><tr>${table.head.map((name, i) => (i === 0 ? markup`<th>${name}</th>` : markup`<th class="n">${name}</th>`))}</tr></thead><tbody>
${table.rows.map(
	(row) =>
		markup`<tr>${row.map((cell, i) => (i === 0 ? markup`<th>${cell}</th>` : markup`<td class="n">${cell}</td>`))}</tr>
`,
)}</tbody></table></div>`;
}

// --- internal ---

/** Latency against rate. null where the rates are alike, as in a backlog. */
function rateChart(run: Run, number: number, result: Result): Markup | null {
	if (run.load.pattern === "backlog") return null;
	const metric = run.phases[0]?.metric ?? run.main;
	return latencyByRate(
		`s${number}`,
		{
			metric,
			title: `${metric} against rate: ${run.system}, ${run.case}`,
			facts: factsText(run, result),
		},
		run.phases.map((phase) => ({
			rate: phase.rate,
			p50: latencyAt(phase, "p50"),
			p99: latencyAt(phase, "p99"),
			max: latencyAt(phase, "max"),
		})),
	);
}

/** Only what the samples carry, and no maximum where some never completed. */
function latencyAt(
	{ latency }: Phase,
	key: "p50" | "p99" | "max",
): number | null {
	if (latency === null) return null;
	if (key === "max") return latency.censored > 0 ? null : latency.max;
	const p = key === "p50" ? 50 : 99;
	return latency.percentiles.find((x) => x.p === p)?.value ?? null;
}

function title(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
