import type { Axis, Datum, Figure, Panel, Series } from "../chart/figure.ts";
import { axisText } from "../chart/units.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import type { MetricSummary, Result, Run, Search } from "../model/result.ts";
import { maximum, medianRepeat, percentile, percentileIn } from "../result/select.ts";
import { type Amount, amount } from "../result/show.ts";
import { factsText, isClosed, searchTitle } from "../result/words.ts";
import {
	AXIS,
	colorsOf,
	datumOf,
	limitsOf,
	mainLimits,
	panelOf,
	type Subject,
	sentence,
	seriesOf,
	sharedFacts,
	subjectOf,
} from "./facts.ts";

/** Latency over offered rate. null for fewer than two rates. */
export function searchFigure(id: string, search: Search, result: Result): Figure | null {
	const places = search.runs.flatMap(({ index, rate, role }) => {
		const run = result.runs.find((one) => one.index === index);
		return run === undefined ? [] : [{ run, rate, role, latency: run.metrics[run.main] }];
	});
	const [first] = places;
	if (first === undefined) return null;
	const of = subjectOf(first.run, result);
	return overRate(
		{ ...of, id, title: searchTitle(search), facts: factsText(first.run, result) },
		// Probes are short and may fail by accident, so the curve has the runs below the answer.
		places.filter(({ role }) => search.lo === null || role !== "probe"),
	);
}

/** Latency over rate. null without steps, or if the rates are alike, as in a backlog. */
export function stepsFigure(of: Subject): Figure | null {
	const { run, id } = of;
	const busy = run.phases.filter(({ intended }) => intended > 0);
	if (run.load.pattern === "backlog" || busy.length < 2) return null;
	return overRate(
		{ ...of, id: `${id}-steps` },
		busy.map(({ rate, latency }) => ({ rate, latency, run })),
	);
}

/** p99 (closed loops: throughput) over the rate, or the one other number in which cases differ. A chart for each pattern. */
export function caseFigures(result: Result): Figure[] {
	const patterns = [...new Set(result.runs.map(({ load }) => load.pattern))];
	const colors = colorsOf(result);
	return patterns.flatMap((pattern) => {
		const runs = result.runs.filter(({ load }) => load.pattern === pattern);
		return figuresOfCases({ ...result, runs }, colors, patterns.length === 1 ? [] : [pattern]);
	});
}

// --- internal ---

type Colors = ReadonlyMap<string, number>;

function figuresOfCases(result: Result, colors: Colors, pattern: readonly string[]): Figure[] {
	const { gates, scenario } = result;
	if (new Set(result.runs.map((run) => run.case)).size < 2) return [];
	const { axis, x, multiples } = axisOf(result.runs);
	const figure = (
		id: string,
		what: string,
		panel: (runs: readonly Run[], title?: string) => Panel,
	): Figure => {
		const title = [`${what} by ${axis.title}: ${scenario}`, ...pattern].join(", ");
		const several = multiples.size > 1;
		const panels = [...multiples].map(([name, runs]) => panel(runs, several ? name : undefined));
		const base = { id: [id, ...pattern].join("-"), title, facts: sharedFacts(result) };
		return figureOf(base, axis, panels);
	};
	const latency = [...new Set(result.runs.map((run) => run.main))].map((metric) => {
		const limits = limitsOf(gates, [metric])
			.filter((limit) => limit.x === 99)
			.map(({ text, y }) => ({ text, y }));
		return figure(`cases-${metric}`, `p99 of ${metric}`, (runs, title) => {
			const lines = linesOf(runs, colors, x, (run) => {
				const measured = run.main === metric && run.metrics[metric] !== null;
				return measured ? datumOf(x(run), percentile(run, metric, 99)) : null;
			});
			return panelOf("ns", lines, limits, title);
		});
	});
	const through = (["sent", "received"] as const).map((key) =>
		figure(`cases-${key}`, `Messages ${key} per second`, (runs, title) => {
			const lines = linesOf(runs.filter(isClosed), colors, x, (run) => {
				const perSecond = run.throughput[key];
				return perSecond === null ? null : datumOf(x(run), amount(perSecond, "messages/s"));
			});
			return panelOf("messages/s", lines, [], title);
		}),
	);
	return [...latency, ...through].filter(({ panels }) => {
		const data = panels.flatMap(({ series }) => series.flatMap((line) => line.data));
		return new Set(data.flatMap((datum) => (datum.y === null ? [] : datum.x))).size > 1;
	});
}

/** Logarithmic above a factor of 20; over names only points, because there is nothing between two cases. */
function figureOf(
	base: Pick<Figure, "id" | "title" | "facts">,
	axis: CaseAxis,
	panels: readonly Panel[],
): Figure {
	const all = panels.flatMap(({ series }) => series.flatMap(({ data }) => data.map(({ x }) => x)));
	const powers = smallestOf(all) > 0 && largestOf(all) / smallestOf(all) > 20;
	const scale = axis.names !== null ? "names" : powers ? "log" : "linear";
	const apart = (panel: Panel): Panel => ({
		...panel,
		series: panel.series.map((line) => ({ ...line, draw: "dots" })),
	});
	const x = { ...AXIS, ...axis, scale } as const;
	return { ...base, x, panels: axis.names ? panels.map(apart) : panels, spans: [] };
}

type CaseAxis = Pick<Axis, "title" | "unit" | "names">;

function overRate(
	of: Subject,
	places: readonly { rate: number; run: Run; latency: Omit<MetricSummary, "curve"> | null }[],
): Figure | null {
	const sorted = places.toSorted((a, b) => a.rate - b.rate);
	const line = (name: string, dash: number, amount: (place: (typeof places)[number]) => Amount) => {
		const data = sorted.map((place) => datumOf(place.rate, amount(place)));
		return seriesOf(name, data, { color: dash === 0 ? of.color : -1, dash });
	};
	const lines = [
		line("max", 1, ({ latency, run }) => maximum(latency, run)),
		line("p99", 0, ({ latency, run }) => percentileIn(latency, 99, run)),
		line("p50", 2, ({ latency, run }) => percentileIn(latency, 50, run)),
	];
	const seen = lines.some(({ data }) => data.some(({ y }) => y !== null));
	const varies = new Set(places.map(({ rate }) => rate)).size > 1;
	const { id, facts, run } = of;
	const title = `${sentence(run.main)} against rate: ${of.title}`;
	const panel = panelOf("ns", lines, mainLimits(of));
	return seen && varies ? figureOf({ id, title, facts }, RATE, [panel]) : null;
}

/** The first number in which cases differ, with panels by the others if each has two points; otherwise the names of the cases. */
function axisOf(runs: readonly Run[]) {
	const cases = [...new Set(runs.map((run) => run.case))];
	const [first, ...others] = NUMBERS.filter(({ of }) => new Set(runs.map(of)).size > 1);
	const x = (run: Run) => first?.of(run) ?? 0;
	// "size of a message 1KiB"
	const rest = (run: Run) =>
		others.map((o) => `${o.title} ${axisText({ ...AXIS, ...o, scale: "linear" }, o.of(run) ?? 0)}`);
	const multiples = grouped(runs, (run) => rest(run).join(", "));
	const apart = new Set(runs.map((run) => `${x(run)} ${rest(run)}`)).size === cases.length;
	const lines = [...multiples.values()].every((all) => new Set(all.map(x)).size > 1);
	if (first !== undefined && apart && lines)
		return { axis: { title: first.title, unit: first.unit, names: null }, x, multiples };
	return {
		axis: { title: "case", unit: null, names: cases },
		x: (run: Run) => cases.indexOf(run.case),
		multiples: new Map([["", runs]]),
	};
}

const RATE = { title: "scheduled messages per second", unit: "messages/s", names: null } as const;

const NUMBERS: readonly (CaseAxis & { readonly of: (run: Run) => number | null })[] = [
	{
		...RATE,
		of: ({ load: { rate } }) => (rate === null ? null : (rate.messages * 1e9) / rate.perNs),
	},
	...(
		[
			["size of a message", "bytes", ({ load }) => load.messageBytes],
			["messages in flight per producer", "messages", ({ load }) => load.inFlight],
			["connections", "messages", ({ load }) => load.connections],
			["consumers", "messages", ({ load }) => load.consumers],
			["subscribers", "messages", ({ load }) => load.subscriptions],
		] as const satisfies readonly [string, Axis["unit"], (run: Run) => number | null][]
	).map(([title, unit, of]) => ({ title, unit, names: null, of })),
];

/** A line through the repeats that decide, and thin ones for every repeat: nothing is averaged. */
function linesOf(
	runs: readonly Run[],
	colors: Colors,
	x: (run: Run) => number,
	datum: (run: Run) => Datum | null,
): Series[] {
	const repeats = [...new Set(runs.map((run) => run.repeat))];
	return [...colors].flatMap(([group, color]) => {
		const own = runs.filter((run) => run.system === group);
		const line = (name: string, some: readonly Run[], thin: boolean): Series[] => {
			const data = some.flatMap((run) => datum(run) ?? []).sort((a, b) => a.x - b.x);
			const known = data.some(({ y }) => y !== null);
			return known ? [seriesOf(name, data, { group, color, dash: color, thin })] : [];
		};
		const deciding = [...grouped(own, x).values()].flatMap((all) => medianRepeat(all) ?? []);
		const each = repeats.flatMap((repeat) => {
			const some = own.filter((run) => run.repeat === repeat);
			return line(`${group}, repeat ${repeat}`, some, true);
		});
		return [...line(group, deciding, false), ...(repeats.length === 1 ? [] : each)];
	});
}
