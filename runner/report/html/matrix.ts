import { formatDuration } from "../../units.ts";
import { type CaseTable, caseTables } from "../matrix.ts";
import type { MetricSummary, Result, Run } from "../summary.ts";
import {
	type Area,
	label,
	type Point,
	picture,
	steps,
	valueAxis,
	valueScale,
} from "../svg.ts";
import { hostText, systemTitle } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { depthOf, percentileAxis } from "./percentile-chart.ts";
import { badge } from "./sections.ts";

/** All runs side by side, case by case; where several systems met a case, in one chart. Of one run nothing. */
export function matrix(result: Result): Markup | null {
	if (result.runs.length < 2) return null;
	return markup`<h3>All runs</h3>${caseTables(result).map((table, i) => caseOf(table, i + 1, result))}`;
}

// --- internal ---

function caseOf(table: CaseTable, number: number, result: Result): Markup {
	const runs = table.rows.map(({ run }) => run);
	const systems = new Set(runs.map((run) => run.system)).size;
	const chart = systems > 1 ? chartOf(table, number, result) : null;
	const host = hosts(runs, result);
	return markup`<h4>${table.case}: ${table.of}</h4>${chart && figureOf(chart, runs)}
<div class="wide"><table>${host !== null && markup`<caption>${host}</caption>`}<thead><tr><th>run</th><th>durability</th><th>verdict</th>${table.head.map((name) => markup`<th class="n">${name}</th>`)}</tr></thead><tbody>
${table.rows.map(
	({ run, name, cells }) =>
		markup`<tr><th><a href="#run-${result.runs.indexOf(run) + 1}">${name}</a></th><td>${run.load.durability}</td><td>${badge(run.verdict)}</td>${cells.map((cell) => markup`<td class="n">${cell}</td>`)}</tr>
`,
)}</tbody></table></div>`;
}

const SIZE = { width: 720, height: 332 };
const AREA: Area = { left: 62, right: 690, top: 24, bottom: 288 };
/** So many systems are told apart by colour and dashes. */
const COLOURS = 8;

/** One curve for each run, repeats of a system alike: percentiles are never averaged. */
function chartOf(
	table: CaseTable,
	number: number,
	result: Result,
): Markup | null {
	const runs = table.rows.map(({ run }) => run);
	const curves = runs
		.map((run) => [run, run.metrics[run.main]] as const)
		.filter(
			(c): c is [Run, MetricSummary] => c[1] !== null && c[1].curve.length > 0,
		);
	if (curves.length === 0) return null;
	const y = valueScale(
		curves.flatMap(([, m]) => [
			m.curve[0]?.value ?? 0,
			m.curve.at(-1)?.value ?? 0,
		]),
		AREA,
	);
	const deepest = curves.map(([, m]) => depthOf(m.curve.at(-1)?.p ?? 0));
	const nines = Math.max(2, ...deepest);
	const x = (depth: number) =>
		AREA.left + (depth / nines) * (AREA.right - AREA.left);
	const places = placesOf(runs);
	const first = runs[0] as Run;
	return picture(
		`c${number}`,
		SIZE,
		{
			title: `${table.of} by percentile: ${table.case}`,
			facts: [table.case, hosts(runs, result)].filter((t) => t).join("; "),
			description: table.rows
				.map(
					({ name, cells }) =>
						`${name}: ${cells.map((c, i) => `${table.head[i]} ${c}`).join(", ")}`,
				)
				.join(". "),
		},
		markup`${valueAxis(y, AREA, formatDuration)}${percentileAxis(x, nines, AREA)}
${curves.map(([run, m]) => markup`<g class="s${places.get(run.system) ?? 0}">${steps(points(m, x, y), "curve")}</g>`)}
${label(`${first.main}${y.logarithmic ? ", logarithmic" : ""}`, [AREA.left, 14])}
${label("percentile", [AREA.right, SIZE.height - 4], "end")}`,
	);
}

/** Corners that no screen tells apart are left out. */
function points(
	m: MetricSummary,
	x: (depth: number) => number,
	y: (ns: number) => number,
): Point[] {
	return m.curve.map((c): Point => [x(depthOf(c.p)), y(c.value)]);
}

function figureOf(chart: Markup, runs: readonly Run[]): Markup {
	const places = placesOf(runs);
	const keys = [...places].map(([system, place]) => {
		const run = runs.find((r) => r.system === system) as Run;
		return markup`<span class="key"><svg viewBox="0 0 26 8" aria-hidden="true"><g class="s${place}"><path class="curve" d="M0 4H26"/></g></svg>${systemTitle(run)}</span>`;
	});
	return markup`<figure><div class="wide">${chart}</div><figcaption>${keys}</figcaption></figure>`;
}

/** The colour of each system, by its order. */
function placesOf(runs: readonly Run[]): Map<string, number> {
	const systems = [...new Set(runs.map((run) => run.system))];
	return new Map(systems.map((system, i) => [system, i % COLOURS]));
}

/** null when some ran elsewhere, or nobody knows. */
function hosts(runs: readonly Run[], result: Result): string | null {
	const texts = new Set(runs.map((run) => hostText(run, result)));
	return texts.size === 1 ? ([...texts][0] ?? null) : null;
}
