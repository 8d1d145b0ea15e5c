import { formatCount, formatDuration } from "../../units.ts";
import { mostHidden } from "../omission.ts";
import type { Gate, MetricSummary, Run } from "../summary.ts";
import {
	type Area,
	type Caption,
	label,
	line,
	type Point,
	picture,
	steps,
	valueAxis,
	valueScale,
} from "../svg.ts";
import { maxText, percentileValue } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { factorText } from "./omission.ts";

/**
 * Latency by percentile, as HdrHistogram's plotters draw it: x is log10(1 / (1 - p)), so that every nine takes the
 * same width. A curve ends at the last percentile that its samples carry, and goes on dotted to the maximum.
 */
export function percentileChart(
	id: string,
	caption: Pick<Caption, "title" | "facts">,
	run: Run,
	gates: readonly Gate[],
): Markup | null {
	const curves = NAMES.map((name) => [name, run.metrics[name]] as const).filter(
		(c): c is [(typeof NAMES)[number], MetricSummary] =>
			c[1] !== null && c[1].curve.length > 0,
	);
	if (curves.length === 0) return null;
	const limits = gates.filter(
		(g) => g.limitNs !== null && NAMES.some((n) => n === g.metric),
	);
	const y = valueScale(
		[
			...curves.flatMap(([, m]) => [m.curve[0]?.value ?? 0, m.max ?? 0]),
			...limits.map((g) => g.limitNs ?? 0),
		],
		AREA,
	);
	const nines = Math.max(2, ...curves.map(([, m]) => Math.log10(m.n)));
	const x = (depth: number) =>
		AREA.left + (depth / nines) * (AREA.right - AREA.left);

	return picture(
		id,
		SIZE,
		{ ...caption, description: describe(curves, run) },
		markup`${valueAxis(y, AREA, formatDuration)}${percentileAxis(x, nines, AREA)}
${limits.map((gate) => limitLine(gate, x, y, nines))}
${curves.map(([name, m]) => curveOf(name, m, run, x, y))}
${hiddenMark(run, x, y)}
${label(`latency${y.logarithmic ? ", logarithmic" : ""}`, [AREA.left, 14])}
${label("percentile", [AREA.right, SIZE.height - 4], "end")}`,
	);
}

/** The curves that a chart of this run shows, in the order of its legend. */
export const NAMES = ["response", "service", "ack", "last"] as const;

/** Nines of a percentile: every one takes the same width. */
export function depthOf(p: number): number {
	return Math.log10(100 / (100 - p));
}

/** Grid lines at 90 %, 99 % ... as deep as the curves go. */
export function percentileAxis(x: Axis, nines: number, area: Area): Markup {
	const percentiles = [
		0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999, 99.999999,
	];
	return markup`${percentiles
		.filter((p) => depthOf(p) <= nines + 0.01)
		.map(
			(p) =>
				markup`${line(
					[
						[x(depthOf(p)), area.top],
						[x(depthOf(p)), area.bottom],
					],
					"grid",
				)}${label(`${p}%`, [x(depthOf(p)), area.bottom + 18], "middle")}`,
		)}`;
}

// --- internal ---

const SIZE = { width: 720, height: 352 };
const AREA: Area = { left: 62, right: 690, top: 44, bottom: 308 };

type Axis = (value: number) => number;

function curveOf(
	name: string,
	m: MetricSummary,
	run: Run,
	x: Axis,
	y: Axis,
): Markup {
	const points = m.curve.map((c): Point => [x(depthOf(c.p)), y(c.value)]);
	const last = points.at(-1);
	const marks = m.percentiles.filter((p) => p.value !== null);
	// The maximum of n samples stands where 1/n of them are left; with some that never completed there is none.
	const max: Point | null =
		m.max === null || m.censored > 0 ? null : [x(Math.log10(m.n)), y(m.max)];
	const title = (p: (typeof marks)[number]) =>
		`${name} p${p.p}: ${percentileValue(p, run)}`;
	return markup`<g class="${name}">${steps(points, "curve")}${
		last && max
			? markup`${line([last, max], "beyond")}<path class="max" d="M${max[0] - 4} ${max[1]}l4 -4l4 4l-4 4z"><title>${name} max: ${formatDuration(m.max ?? 0)}</title></path>`
			: null
	}${marks.map(
		(p) =>
			markup`<circle r="3" cx="${x(depthOf(p.p)).toFixed(1)}" cy="${y(p.value ?? 0).toFixed(1)}"><title>${title(p)}</title></circle>`,
	)}${
		m.censored > 0 && last && name === run.main
			? markup`${line([last, [last[0], AREA.top]], "beyond")}${label(`${formatCount(m.censored)} never completed: ${maxText(m, run)}`, [last[0], AREA.top - 8], last[0] > (AREA.left + AREA.right) / 2 ? "end" : "start")}`
			: null
	}</g>`;
}

/** The gap that counting from the actual send would have hidden. */
function hiddenMark(run: Run, x: Axis, y: Axis): Markup | null {
	const hidden = mostHidden(run);
	if (hidden === null) return null;
	const at = x(depthOf(hidden.p));
	const [from, to] = [y(hidden.service) - 5, y(hidden.response) + 5];
	return markup`<g class="hidden"><path d="M${(at - 4).toFixed(1)} ${from.toFixed(1)}h8m-4 0V${to.toFixed(1)}m-4 0h8"/>${label(factorText(hidden.factor), [at + 7, (from + to) / 2 + 4])}</g>`;
}

/** An SLA is met when the curve is below its line at its percentile, where the mark is. */
function limitLine(gate: Gate, x: Axis, y: Axis, nines: number): Markup {
	const height = y(gate.limitNs ?? 0);
	const depth = Math.min(
		gate.percentile === null ? nines : depthOf(gate.percentile),
		nines,
	);
	return markup`${line(
		[
			[AREA.left, height],
			[AREA.right, height],
		],
		"limit",
	)}<path class="flag" d="M${x(depth).toFixed(1)} ${height.toFixed(1)}l-5 -9h10z"/>${label(gate.sla, [AREA.left + 6, height - 6], "start", "label limit-label")}`;
}

function describe(
	curves: readonly [string, MetricSummary][],
	run: Run,
): string {
	return curves
		.map(
			([name, m]) =>
				`${name}: ${m.percentiles
					.filter((p) => p.support !== "none")
					.map((p) => `p${p.p} ${percentileValue(p, run)}`)
					.join(", ")}`,
		)
		.join(". ");
}
