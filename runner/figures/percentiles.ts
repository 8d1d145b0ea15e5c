import type { Datum, Figure, Series } from "../chart/figure.ts";
import type { MetricSummary, Result, Run } from "../model/result.ts";
import { mostHidden } from "../result/omission.ts";
import { byCase, maximum, medianRepeat, percentile, percentileAmount } from "../result/select.ts";
import { show } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { formatCount, formatDuration } from "../units.ts";
import {
	AXIS,
	colorsOf,
	datumOf,
	limitsOf,
	panelOf,
	type Subject,
	sentence,
	sharedFacts,
} from "./facts.ts";

/** HDR curves: latency over percentile, each value holds until the next. They end where the samples end to carry. */
export const CURVES: Pick<Figure, "x" | "layout" | "spans"> = {
	x: { ...AXIS, scale: "nines", title: "percentile" },
	layout: "grid",
	spans: [],
};

/** Response, service, ack and last of one run. null: nothing was measured. */
export function runPercentiles(of: Subject, tolerance: number): Figure | null {
	const { run, color, title } = of;
	// The main one first: it has the colour of the system; what stands beside it is grey, and has dashes.
	const measured = METRICS.flatMap((name) => {
		const m = run.metrics[name];
		return m !== null && m.curve.length > 0 ? [{ name, m, main: name === run.main }] : [];
	}).sort((a, b) => Number(b.main) - Number(a.main));
	if (measured.length === 0) return null;
	const hidden = hiddenOf(run);
	const limits = limitsOf(
		of.gates,
		measured.map(({ name }) => name),
	);
	const series = measured.map(({ name: key, m, main }, dash): Series => {
		const name = meaningOf(key, run);
		const curve = curveOf(m, run, { main, tolerance, intervals: true });
		return { key, name, group: name, color: dash === 0 ? color : -1, dash, thin: false, ...curve };
	});
	return {
		id: `${of.id}-percentiles`,
		title: `Latency by percentile: ${title}`,
		facts: [of.facts, ...hidden.map(({ text }) => text)].join("; "),
		...CURVES,
		panels: [panelOf("ns", series, limits, "")],
		...(hidden.length > 0 ? { between: hidden } : {}),
	};
}

/** The main metric of every run: small multiples by case, in each the systems, and thin beside the repeat that decides the others. null: fewer than two runs have curves. */
export function overviewPercentiles(result: Result, tolerance: number): Figure | null {
	const colors = colorsOf(result);
	const tables = byCase(result);
	const hasCurve = (run: Run) => (run.metrics[run.main]?.curve.length ?? 0) > 0;
	const measured = tables
		.map((table) => ({ ...table, rows: table.rows.filter(({ run }) => hasCurve(run)) }))
		.filter(({ rows }) => rows.length > 0);
	const shown = measured.slice(0, MOST_PANELS);
	const runs = shown.flatMap(({ rows }) => rows.map(({ run }) => run));
	if (runs.length < 2) return null;
	const metrics = [...new Set(runs.map((run) => run.main))];
	const limits = limitsOf(result.gates, metrics);
	return {
		id: "percentiles",
		title: `${sentence(metrics.join(" and "))} by percentile: ${result.scenario}${measured.length > shown.length ? `, the first ${shown.length} of ${measured.length} cases` : ""}`,
		facts: sharedFacts(result),
		...CURVES,
		panels: shown.map(({ case: name, rows }) => {
			const series = rows.map(({ run, name }): Series => {
				const { system: group } = run;
				const alike = rows.flatMap((row) => (row.run.system === group ? [row.run] : []));
				const decides = medianRepeat(alike) === run;
				const color = colors.get(group) ?? 0;
				const m = run.metrics[run.main] as MetricSummary;
				const curve = curveOf(m, run, { main: true, tolerance, intervals: decides });
				return {
					key: `run-${run.index}`,
					name,
					group,
					color,
					dash: color,
					thin: !decides,
					...curve,
				};
			});
			return panelOf("ns", series, limits, tables.length > 1 ? name : "");
		}),
	};
}

/** The curve has levels of its own: that it goes through the percentiles with a name they are points of it. */
export function withNamed(
	points: readonly (readonly [p: number, value: number])[],
	named: readonly Datum[],
): Datum[] {
	const all = new Map<number, Datum>(points.map(([x, y]) => [x, { x, y }]));
	for (const datum of named) all.set(datum.x, datum);
	return [...all.values()].sort((a, b) => a.x - b.x);
}

// --- internal ---

const METRICS = ["response", "service", "ack", "last"] as const;

/** Cases of more have their pictures at their runs. */
const MOST_PANELS = 24;

interface How {
	/** The run's main metric: what never completed is told there. */
	readonly main: boolean;
	readonly tolerance: number;
	readonly intervals: boolean;
}

function curveOf(m: MetricSummary, run: Run, how: How): Pick<Series, "draw" | "data" | "end"> {
	const none = how.intervals ? {} : { low: null, high: null };
	const named = m.percentiles
		.filter(({ value }) => value !== null)
		.map((p) => datumOf(p.p, { ...percentileAmount(p, run), ...none }));
	const points = m.curve.map(({ p, value }) => [p, value] as const);
	const data = thinned(withNamed(points, named), how.tolerance);
	const { max, n, censored } = m;
	if (censored > 0) {
		const text = `${formatCount(censored)} never completed: ${show(maximum(m, run))}`;
		return {
			draw: "line",
			data,
			...(how.main ? { end: { x: data.at(-1)?.x ?? 0, y: null, text } } : {}),
		};
	}
	// The maximum of n samples stands where 1/n of them are left.
	const end =
		max === null ? {} : { end: { x: 100 * (1 - 1 / n), y: max, text: formatDuration(max) } };
	return { draw: "line", data, ...end };
}

/**
 * Points that no screen tells apart are left out: those within `tolerance` (a part of the value) of the last one that is kept. What
 * is left is exact; the percentiles with a name and the last point stay.
 */
function thinned(data: readonly Datum[], tolerance: number): Datum[] {
	let before = Number.NEGATIVE_INFINITY;
	return data.filter(({ y, text }, i) => {
		const apart = Math.abs((y ?? 0) - before) > before * tolerance;
		if (!apart && text === undefined && i < data.length - 1) return false;
		before = y ?? 0;
		return true;
	});
}

function meaningOf(metric: (typeof METRICS)[number], run: Run): string {
	return {
		response: "response: from the intended send time",
		service: "service: from the actual send",
		ack: `ack: acknowledged, from the ${isClosed(run) ? "actual send" : "intended send time"}`,
		last: "last: until the last subscriber has its copy",
	}[metric];
}

/** What counting from the actual send would have hidden: the area between both curves. */
function hiddenOf(run: Run): NonNullable<Figure["between"]> {
	const p = mostHidden(run);
	if (p === null) return [];
	const value = (metric: "response" | "service") => show(percentile(run, metric, p));
	const text = `hidden by coordinated omission: p${p} ${value("response")} instead of ${value("service")}`;
	return [{ upper: "response", lower: "service", text }];
}
