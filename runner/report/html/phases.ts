import { formatCount, formatDuration } from "../../units.ts";
import { phaseTable } from "../phase-table.ts";
import type { Phase, Result, Run } from "../summary.ts";
import {
	type Area,
	label,
	line,
	linearScale,
	type Point,
	picture,
	valueAxis,
	valueScale,
} from "../svg.ts";
import { factsText } from "../words.ts";
import { type Markup, markup } from "./markup.ts";

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

const SIZE = { width: 720, height: 272 };
const AREA: Area = { left: 62, right: 690, top: 24, bottom: 228 };
const LINES = [
	["max-line", "max"],
	["response", "p99"],
	["median", "p50"],
] as const;

/** Latency against rate. null where the rates are alike, as in a backlog. */
function rateChart(run: Run, number: number, result: Result): Markup | null {
	const all = run.phases.toSorted((a, b) => a.rate - b.rate);
	const [lowest, highest] = [all[0]?.rate ?? 0, all.at(-1)?.rate ?? 0];
	if (run.load.pattern === "backlog" || highest <= lowest) return null;
	const values = all.flatMap((phase) =>
		LINES.map(([, key]) => latencyAt(phase, key)).filter((v) => v !== null),
	);
	if (values.length === 0) return null;
	const y = valueScale(values, AREA);
	// From left to right as the other axis goes from bottom to top.
	const turned = { left: 0, right: 0, top: AREA.left, bottom: AREA.right };
	const scale = linearScale(highest, turned, 6);
	const x = (rate: number) => AREA.left + AREA.right - scale(rate);
	const points = (key: "max" | "p99" | "p50") =>
		all.map((phase): Point | null => {
			const value = latencyAt(phase, key);
			return value === null ? null : [x(phase.rate), y(value)];
		});
	const metric = all[0]?.metric ?? run.main;
	const chart = picture(
		`s${number}`,
		SIZE,
		{
			title: `${metric} against rate: ${run.system}, ${run.case}`,
			facts: factsText(run, result),
			description: all
				.map((phase) => {
					const p99 = latencyAt(phase, "p99");
					return `${formatCount(phase.rate)}/s: p99 ${p99 === null ? "n/a" : formatDuration(p99)}`;
				})
				.join(". "),
		},
		markup`${valueAxis(y, AREA, formatDuration)}
${scale.ticks.map((tick) => label(formatCount(tick), [x(tick), AREA.bottom + 18], "middle"))}
${LINES.map(([name, key]) => markup`<g class="${name}">${line(points(key), "curve")}${points(key).map((point) => point && markup`<circle r="3" cx="${point[0].toFixed(1)}" cy="${point[1].toFixed(1)}"/>`)}</g>`)}
${label(`${metric}${y.logarithmic ? ", logarithmic" : ""}`, [AREA.left, 14])}
${label("scheduled messages per second", [AREA.right, SIZE.height - 4], "end")}`,
	);
	return markup`<figure><div class="wide">${chart}</div><figcaption>${LINES.map(
		([name, key]) =>
			markup`<span class="key"><svg viewBox="0 0 26 8" aria-hidden="true"><g class="${name}"><path class="curve" d="M0 4H26"/></g></svg>${key}</span>`,
	)}</figcaption></figure>`;
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
