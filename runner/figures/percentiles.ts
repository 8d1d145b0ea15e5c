import type { Datum, Figure, Series } from "../chart/figure.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import type { Metric } from "../model/plan.ts";
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
	seriesOf,
	sharedFacts,
} from "./facts.ts";

/** Each value holds until the next; curves end where samples no longer support them. */
const CURVES: Pick<Figure, "x" | "spans"> = {
	x: { ...AXIS, scale: "nines", title: "percentile" },
	spans: [],
};

export function runPercentiles(of: Subject, points: number): Figure | null {
	const { run, color, title } = of;
	// The main one comes first and has the system's colour; the others are grey, with dashes.
	const measured = METRICS.flatMap((name) => {
		const m = run.metrics[name];
		return m !== null && m.curve.length > 0 ? [{ name, m, main: name === run.main }] : [];
	}).sort((a, b) => Number(b.main) - Number(a.main));
	if (measured.length === 0) return null;
	const series = measured.map(({ name, m, main }, dash) =>
		seriesOf(meaningOf(name, run), curveOf(m, run, points), {
			color: dash === 0 ? color : -1,
			dash,
			...endOf(m, run, main),
		}),
	);
	const named = (metric: Metric) => series[measured.findIndex(({ name }) => name === metric)];
	const hidden = hiddenOf(run, named("response"), named("service"));
	const metrics = measured.map(({ name }) => name);
	return {
		id: `${of.id}-percentiles`,
		title: `Latency by percentile: ${title}`,
		facts: [of.facts, ...hidden.map(({ name }) => name)].join("; "),
		...CURVES,
		panels: [panelOf("ns", [...series, ...hidden], limitsOf(of.gates, metrics), "")],
	};
}

/** A panel for each case with its systems; repeats that do not decide are thin. null if fewer than two runs have curves. */
export function overviewPercentiles(result: Result, points: number): Figure | null {
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
	const more =
		measured.length > shown.length ? `, the first ${shown.length} of ${measured.length} cases` : "";
	return {
		id: "percentiles",
		title: `${sentence(metrics.join(" and "))} by percentile: ${result.scenario}${more}`,
		facts: sharedFacts(result),
		...CURVES,
		panels: shown.map(({ case: name, rows }) => {
			const series = rows.map(({ run, name }) => {
				const alike = rows.flatMap((row) => (row.run.system === run.system ? [row.run] : []));
				const color = colors.get(run.system) ?? 0;
				const m = run.metrics[run.main] as MetricSummary;
				return seriesOf(name, curveOf(m, run, points), {
					group: run.system,
					color,
					dash: color,
					thin: medianRepeat(alike) !== run,
					...endOf(m, run, true),
				});
			});
			return panelOf("ns", series, limits, tables.length > 1 ? name : "");
		}),
	};
}

// --- internal ---

const METRICS = ["response", "service", "ack", "last"] as const;

/** Further cases have charts at their runs. */
const MOST_PANELS = 24;

/** Drops points that no screen can separate: within 0.2 % of the last one kept, at 300 points. The rest is exact. */
function curveOf(m: MetricSummary, run: Run, points: number): Datum[] {
	const named = m.percentiles
		.filter(({ value }) => value !== null)
		.map((p) => datumOf(p.p, percentileAmount(p, run)));
	// The curve has its own levels, and goes through the named percentiles too.
	const all = new Map([
		...m.curve.map(({ p: x, value: y }): [number, Datum] => [x, { x, y }]),
		...named.map((datum): [number, Datum] => [datum.x, datum]),
	]);
	const data = [...all.values()].sort((a, b) => a.x - b.x);
	let before = Number.NEGATIVE_INFINITY;
	return data.filter(({ y, text }, i, { length }) => {
		const apart = Math.abs((y ?? 0) - before) > (before * 0.6) / points;
		if (!apart && text === undefined && i < length - 1) return false;
		before = y ?? 0;
		return true;
	});
}

/** At 1 - 1/n of n samples; or how many never completed, on the main metric. */
function endOf(m: MetricSummary, run: Run, main: boolean): Pick<Series, "end"> {
	const { max, n, censored } = m;
	if (censored === 0)
		return max === null ? {} : { end: { x: 100 * (1 - 1 / n), y: max, text: formatDuration(max) } };
	const text = `${formatCount(censored)} never completed: ${show(maximum(m, run))}`;
	return main ? { end: { x: m.curve.at(-1)?.p ?? 0, y: null, text } } : {};
}

function meaningOf(metric: (typeof METRICS)[number], run: Run): string {
	return {
		response: "response: from the intended send time",
		service: "service: from the actual send",
		ack: `ack: acknowledged, from the ${isClosed(run) ? "actual send" : "intended send time"}`,
		last: "last: until the last subscriber has its copy",
	}[metric];
}

/** The area between both curves, as far as both go. */
function hiddenOf(run: Run, response: Series | undefined, service: Series | undefined): Series[] {
	const p = mostHidden(run);
	if (p === null || response === undefined || service === undefined) return [];
	const value = (metric: Metric) => show(percentile(run, metric, p));
	const both = [response.data, service.data];
	const last = smallestOf(both.map((data) => data.at(-1)?.x ?? 0));
	const places = both.flatMap((data) => data.map(({ x }) => x)).filter((x) => x <= last);
	const at = (data: readonly Datum[], x: number) => data.findLast((d) => d.x <= x)?.y ?? 0;
	const bounds = (x: number) => {
		const values = both.map((data) => at(data, x));
		return { y: null, low: smallestOf(values), high: largestOf(values) };
	};
	// A value holds until the next.
	const area = [...new Set(places)]
		.sort((a, b) => a - b)
		.flatMap((x, i, xs) => [
			{ x, ...bounds(xs[i - 1] ?? x) },
			{ x, ...bounds(x) },
		]);
	const name = `hidden by coordinated omission: p${p} ${value("response")} instead of ${value("service")}`;
	return [seriesOf(name, area, { group: response.group, color: -2, draw: "band" })];
}
