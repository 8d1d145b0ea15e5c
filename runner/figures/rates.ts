import type { Axis, Datum, Figure, Panel, Series } from "../chart/figure.ts";
import { workFacts } from "../compare/work.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import type { MetricSummary, Result, Run, Search } from "../model/result.ts";
import { maximum, medianRepeat, percentile, percentileIn } from "../result/select.ts";
import { type Amount, amount } from "../result/show.ts";
import { factsText, isClosed, searchTitle } from "../result/words.ts";
import { formatCount, plural } from "../units.ts";
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
		return figuresOfCases({ ...result, runs }, colors, patterns.length === 1 ? [] : [pattern]);
	});
}

// --- internal ---

type Colors = ReadonlyMap<string, number>;

/** Figures of one pattern, which is told where there are several. */
function figuresOfCases(result: Result, colors: Colors, pattern: readonly string[]): Figure[] {
	const { runs, gates, scenario } = result;
	const cases = [...new Set(runs.map((run) => run.case))];
	if (cases.length < 2) return [];
	const { axis, x } = axisOf(runs, cases);
	const base = (id: string, what: string, by: string): Pick<Figure, "id" | "title" | "facts"> => {
		const title = [`${what} by ${by}: ${scenario}`, ...pattern].join(", ");
		return { id: [id, ...pattern].join("-"), title, facts: sharedFacts(result) };
	};
	const latency = [...new Set(runs.map((run) => run.main))].flatMap((metric) => {
		const limits = limitsOf(gates, [metric])
			.filter((limit) => limit.x === 99)
			.map(({ text, y }) => ({ text, y }));
		const panel = (some: readonly Run[], at: (run: Run) => number, title?: string) => {
			const lines = linesOf(some, colors, at, (run) => {
				const measured = run.main === metric && run.metrics[metric] !== null;
				return measured ? datumOf(at(run), percentile(run, metric, 99)) : null;
			});
			return panelOf("ns", lines, limits, title);
		};
		const what = `p99 of ${metric}`;
		const over = axis === RATE ? [] : sameButForRate(runs.filter((run) => run.main === metric));
		const panels = over.map(({ title, alike }) => panel(alike, rateOf, title));
		return [
			figureOf(base(`rates-${metric}`, what, "rate"), RATE, panels, "grid"),
			figureOf(base(`cases-${metric}`, what, axis.title), axis, [panel(runs, x)]),
		];
	});
	const through = (["sent", "received"] as const).map((key) => {
		const lines = linesOf(runs.filter(isClosed), colors, x, (run) => {
			const perSecond = run.throughput[key];
			return perSecond === null ? null : datumOf(x(run), amount(perSecond, "messages/s"));
		});
		const of = base(`cases-${key}`, `Messages ${key} per second`, axis.title);
		return figureOf(of, axis, [panelOf("messages/s", lines)]);
	});
	// Of one place there is nothing to see.
	return [...latency, ...through].filter(({ panels }) => {
		const data = panels.flatMap(({ series }) => series.flatMap((line) => line.data));
		return new Set(data.flatMap((datum) => (datum.y === null ? [] : datum.x))).size > 1;
	});
}

/** What goes with a rate; all else is the same along a line. */
const WITH_RATE: readonly string[] = ["load", "duration", "warm-up", "drain", "connections"];

/** One of them for each connection, where the scenario says nothing else. */
const EACH_CONNECTION: readonly string[] = ["producers", "topics"];

/** Cases that differ in their rates, together with what else they have: "1KiB; 20 000/s over 25 connections". */
function sameButForRate(runs: readonly Run[]): { title: string; alike: readonly Run[] }[] {
	// Systems differ in more; what a case asks for is told by the first that has met it.
	const cases = [...grouped(runs, (run) => run.case).values()].flatMap((all) => {
		const [run] = all as [Run];
		const facts = Object.entries(workFacts(run)).filter(
			([name, value]) =>
				!WITH_RATE.includes(name) &&
				!(EACH_CONNECTION.includes(name) && value === `${run.load.connections}`),
		);
		const { connections, rate } = run.load;
		return rate === null ? [] : [{ all, facts, connections, rate: rateOf(run) }];
	});
	return [...grouped(cases, ({ facts }) => JSON.stringify(facts)).values()].flatMap((group) => {
		const [first, ...faster] = group.toSorted((a, b) => a.rate - b.rate) as [(typeof group)[0]];
		// Cases with the same rate differ in what no panel tells.
		if (group.length < 2 || new Set(group.map(({ rate }) => rate)).size < group.length) return [];
		const rest = first.facts
			.filter(([name, value]) =>
				cases.some(({ facts }) => Object.fromEntries(facts)[name] !== value),
			)
			.map(([name, value]) => (name === "message" ? value : `${name} ${value}`));
		const others = faster
			.filter(({ connections }) => connections !== first.connections)
			.map(({ rate, connections: n }) => `${formatCount(rate)}/s over ${plural(n, "connection")}`);
		return [{ title: [...rest, ...others].join("; "), alike: group.flatMap(({ all }) => all) }];
	});
}

/** Log where rates or sizes span more than a factor of 20; over the names of cases points alone, as nothing lies between two cases. */
function figureOf(
	base: Pick<Figure, "id" | "title" | "facts">,
	axis: Pick<Axis, "title" | "unit" | "names">,
	panels: readonly Panel[],
	layout: Figure["layout"] = "stack",
): Figure {
	const all = panels.flatMap(({ series }) => series.flatMap(({ data }) => data.map(({ x }) => x)));
	const powers = smallestOf(all) > 0 && largestOf(all) / smallestOf(all) > 20;
	const scale = axis.names !== null ? "names" : powers ? "log" : "linear";
	const apart = (panel: Panel): Panel => ({
		...panel,
		series: panel.series.map((line) => ({ ...line, draw: "dots" })),
	});
	const x = { ...AXIS, ...axis, scale } as const;
	return { ...base, x, layout, panels: axis.names ? panels.map(apart) : panels, spans: [] };
}

function numberAxis(title: string, unit: Axis["unit"]) {
	return { title, unit, names: null };
}

const RATE = numberAxis("scheduled messages per second", "messages/s");

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
	): Series => ({
		key,
		name: key,
		group: key,
		color: dash === 0 ? of.color : -1,
		dash,
		thin: false,
		draw: "line",
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
	const panel = panelOf("ns", lines, mainLimits(of));
	return seen && varies ? figureOf({ id, title, facts }, RATE, [panel]) : null;
}

/** The number in which alone the cases differ; else their names in their order. */
function axisOf(runs: readonly Run[], cases: readonly string[]) {
	const [one, ...others] = NUMBERS.filter(({ of }) => new Set(runs.map(of)).size > 1);
	const known = new Set(runs.flatMap((run) => one?.of(run) ?? []));
	return one !== undefined && others.length === 0 && known.size === cases.length
		? { axis: one.axis, x: (run: Run) => one.of(run) ?? 0 }
		: {
				axis: { title: "case", unit: null, names: cases },
				x: (run: Run) => cases.indexOf(run.case),
			};
}

const NUMBERS: readonly {
	readonly axis: ReturnType<typeof numberAxis>;
	readonly of: (run: Run) => number | null;
}[] = [
	{ axis: numberAxis("size of a message", "bytes"), of: ({ load }) => load.messageBytes },
	{
		axis: numberAxis("messages in flight per producer", "messages"),
		of: ({ load }) => load.inFlight,
	},
	{ axis: RATE, of: (run) => (run.load.rate === null ? null : rateOf(run)) },
	// No axis of its own: where connections vary, cases have to be told apart by name.
	{ axis: numberAxis("connections", "messages"), of: ({ load }) => load.connections },
	{ axis: numberAxis("consumers", "messages"), of: ({ load }) => load.consumers },
	{ axis: numberAxis("subscribers", "messages"), of: ({ load }) => load.subscriptions },
];

/** Scheduled messages per second; 0 of a load that has no rate. */
function rateOf({ load: { rate } }: Run): number {
	return rate === null ? 0 : (rate.messages * 1e9) / rate.perNs;
}

/**
 * A line for each system through the repeats that decide, of which each has been measured so; thin beside it, of several, every repeat: nothing
 * is averaged.
 */
function linesOf(
	runs: readonly Run[],
	colors: Colors,
	x: (run: Run) => number,
	datum: (run: Run) => Datum | null,
): Series[] {
	const repeats = [...new Set(runs.map((run) => run.repeat))];
	return [...colors].flatMap(([system, color]) => {
		const own = runs.filter((run) => run.system === system);
		const line = (name: string, some: readonly Run[], thin: boolean): Series[] => {
			const data = some.flatMap((run) => datum(run) ?? []).sort((a, b) => a.x - b.x);
			const look = { group: system, color, dash: color, thin, draw: "line" as const };
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
