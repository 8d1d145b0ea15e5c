import type { Axis, Datum, Figure, Panel, Series } from "../chart/figure.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import type { MetricSummary, Result, Run, Search } from "../model/result.ts";
import { maximum, medianRepeat, percentile, percentileIn } from "../result/select.ts";
import { type Amount, amount } from "../result/show.ts";
import { factsText, isClosed, searchTitle } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import {
	AXIS,
	colorsOf,
	datumOf,
	limitsOf,
	mainLimits,
	panelOf,
	type Subject,
	sentence,
	sharedFacts,
	subjectOf,
} from "./facts.ts";

/** Latency over offered rate of a search: the runs below its answer. null: fewer than two rates. */
export function searchFigure(id: string, search: Search, result: Result): Figure | null {
	const places = search.runs.flatMap(({ index, rate, role }) => {
		const run = result.runs.find((one) => one.index === index);
		return run === undefined ? [] : [{ run, rate, role, latency: run.metrics[run.main] }];
	});
	const [first] = places;
	if (first === undefined) return null;
	return overRate(
		{
			...subjectOf(first.run, result),
			id,
			title: searchTitle(search),
			facts: factsText(first.run, result),
		},
		// Probes are short and may be the ones that failed by accident: the curve is of the runs below the answer.
		places.filter(({ role }) => search.lo === null || role !== "probe"),
	);
}

/** Latency over rate of a load in steps. null: it has none, or the rates are alike, as in a backlog. */
export function stepsFigure(of: Subject): Figure | null {
	const { run, id } = of;
	const busy = run.phases.filter(({ intended }) => intended > 0);
	if (run.load.pattern === "backlog" || busy.length < 2) return null;
	return overRate(
		{ ...of, id: `${id}-steps` },
		busy.map(({ rate, latency }) => ({ rate, latency, run })),
	);
}

/**
 * Of several cases: p99 of every system by case, and of closed loops throughput. Where cases differ in one number, over that number. Each
 * pattern has its own: a round trip and a copy for each of ten subscribers are no points of one line.
 */
export function caseFigures(result: Result): Figure[] {
	const patterns = [...new Set(result.runs.map(({ load }) => load.pattern))];
	const colors = colorsOf(result);
	return patterns.flatMap((pattern) => {
		const runs = result.runs.filter(({ load }) => load.pattern === pattern);
		const figures = figuresOfCases({ ...result, runs }, colors);
		return patterns.length === 1
			? figures
			: figures.map((figure) => ({
					...figure,
					id: `${figure.id}-${pattern}`,
					title: `${figure.title}, ${pattern}`,
				}));
	});
}

// --- internal ---

type Base = Pick<Figure, "id" | "title" | "facts"> & Pick<Panel, "unit" | "limits">;
type Colors = ReadonlyMap<string, number>;

/** Figures of one pattern. */
function figuresOfCases(result: Result, colors: Colors): Figure[] {
	const cases = [...new Set(result.runs.map((run) => run.case))];
	if (cases.length < 2) return [];
	const { axis, x } = axisOf(result, cases);
	const facts = sharedFacts(result);
	const by = `by ${axis.title}: ${result.scenario}`;
	const metrics = [...new Set(result.runs.map((run) => run.main))];
	const figures = [
		...metrics.map((metric) => {
			const limits = limitsOf(result.gates, [metric]).filter((limit) => limit.x === 99);
			const base: Base = {
				id: `cases-${metric}`,
				title: `p99 of ${metric} ${by}`,
				facts,
				unit: "ns",
				limits: limits.map(({ text, y }) => ({ text, y })),
			};
			const lines = linesOf(result.runs, colors, x, (run) => {
				const measured = run.main === metric && run.metrics[metric] !== null;
				return measured ? datumOf(x(run), percentile(run, metric, 99)) : null;
			});
			return figureOf(base, axis, lines);
		}),
		...(["sent", "received"] as const).map((key) => {
			const title = `Messages ${key} per second ${by}`;
			const base: Base = { id: `cases-${key}`, title, facts, unit: "messages/s", limits: [] };
			const lines = linesOf(result.runs.filter(isClosed), colors, x, (run) => {
				const perSecond = run.throughput[key];
				return perSecond === null ? null : datumOf(x(run), amount(perSecond, "messages/s"));
			});
			return figureOf(base, axis, lines);
		}),
	];
	// Of one place there is nothing to see.
	return figures.filter(({ panels }) => {
		const data = panels.flatMap(({ series }) => series.flatMap((line) => line.data));
		return new Set(data.flatMap((datum) => (datum.y === null ? [] : datum.x))).size > 1;
	});
}

type Line = Omit<Series, "draw">;

/** Log where rates or sizes span more than a factor of 20; over the names of cases points alone, as nothing lies between two cases. */
function figureOf(
	{ unit, limits, ...base }: Base,
	axis: Pick<Axis, "title" | "unit" | "names">,
	lines: readonly Line[],
): Figure {
	const all = lines.flatMap(({ data }) => data.map(({ x }) => x));
	const powers = smallestOf(all) > 0 && largestOf(all) / smallestOf(all) > 20;
	const draw = axis.names === null ? "line" : "dots";
	const series = lines.map((line) => ({ ...line, draw }) as const);
	return {
		...base,
		x: { ...AXIS, ...axis, scale: axis.names !== null ? "names" : powers ? "log" : "linear" },
		layout: "stack",
		panels: [panelOf(unit, series, limits)],
		spans: [],
	};
}

const RATE = { title: "scheduled messages per second", unit: "messages/s", names: null } as const;

/** Maximum, p99 and p50 of one system. null: there is nothing to see. */
function overRate(
	of: Subject,
	places: readonly { rate: number; run: Run; latency: Omit<MetricSummary, "curve"> | null }[],
): Figure | null {
	const sorted = places.toSorted((a, b) => a.rate - b.rate);
	const line = (
		key: string,
		dash: number,
		amount: (place: (typeof places)[number]) => Amount,
	): Line => ({
		key,
		name: key,
		group: key,
		color: dash === 0 ? of.color : -1,
		dash,
		thin: false,
		data: sorted.map((place) => datumOf(place.rate, amount(place))),
	});
	const lines = [
		line("max", 1, ({ latency, run }) => maximum(latency, run)),
		line("p99", 0, ({ latency, run }) => percentileIn(latency, 99, run)),
		line("p50", 2, ({ latency, run }) => percentileIn(latency, 50, run)),
	];
	const seen = lines.some(({ data }) => data.some(({ y }) => y !== null));
	const varies = new Set(places.map(({ rate }) => rate)).size > 1;
	const { id, facts, run } = of;
	const title = `${sentence(run.main)} against rate: ${of.title}`;
	const base: Base = { id, title, facts, unit: "ns", limits: mainLimits(of) };
	return seen && varies ? figureOf(base, RATE, lines) : null;
}

/** The number in which alone the cases differ; else their names in their order. */
function axisOf({ runs }: Result, cases: readonly string[]) {
	const varying = NUMBERS.filter(({ of }) => new Set(runs.map(of)).size > 1);
	const [one] = varying;
	const known = new Set(runs.flatMap((run) => one?.of(run) ?? []));
	return one !== undefined && varying.length === 1 && known.size === cases.length
		? { axis: { title: one.by, unit: one.unit, names: null }, x: (run: Run) => one.of(run) ?? 0 }
		: {
				axis: { title: "case", unit: null, names: cases },
				x: (run: Run) => cases.indexOf(run.case),
			};
}

const NUMBERS: readonly {
	readonly by: string;
	readonly unit: Axis["unit"];
	readonly of: (run: Run) => number | null;
}[] = [
	{ by: "size of a message", unit: "bytes", of: ({ load }) => load.messageBytes },
	{ by: tell("axis-in-flight"), unit: "messages", of: ({ load }) => load.inFlight },
	{
		by: RATE.title,
		unit: RATE.unit,
		of: ({ load: { rate } }) => (rate === null ? null : (rate.messages * 1e9) / rate.perNs),
	},
	// No axis of its own: where connections vary, cases have to be told apart by name.
	{ by: "connections", unit: "messages", of: ({ load }) => load.connections },
	{ by: "consumers", unit: "messages", of: ({ load }) => load.consumers },
	{ by: "subscribers", unit: "messages", of: ({ load }) => load.subscriptions },
];

/**
 * A line for each system through the repeats that decide, of which each has been measured so; thin beside it, of several, every repeat: nothing
 * is averaged.
 */
function linesOf(
	runs: readonly Run[],
	colors: Colors,
	x: (run: Run) => number,
	datum: (run: Run) => Datum | null,
): Line[] {
	const repeats = [...new Set(runs.map((run) => run.repeat))];
	return [...colors].flatMap(([system, color]) => {
		const own = runs.filter((run) => run.system === system);
		const line = (name: string, some: readonly Run[], thin: boolean): Line[] => {
			const data = some.flatMap((run) => datum(run) ?? []).sort((a, b) => a.x - b.x);
			const look = { group: system, color, dash: color, thin };
			return data.every(({ y }) => y === null)
				? []
				: [{ key: `${color} ${name}`, name, ...look, data }];
		};
		const deciding = [...grouped(own, x).values()].flatMap((all) => medianRepeat(all) ?? []);
		const each = repeats.flatMap((repeat) => {
			const some = own.filter((run) => run.repeat === repeat);
			return line(`${system}, repeat ${repeat}`, some, true);
		});
		return [...line(system, deciding, false), ...(repeats.length === 1 ? [] : each)];
	});
}
