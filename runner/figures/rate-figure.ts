import type { RateFigure } from "../chart/old-figure.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import type { Percentile, Result, Run, Search } from "../model/result.ts";
import { medianRepeat } from "../result/select.ts";
import {
	durationText,
	factsText,
	intervalText,
	loadText,
	maxText,
	percentileName,
	percentileValue,
	runTitle,
	searchTitle,
} from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatBytesExact, formatCount } from "../units.ts";
import { systemNumbers } from "./numbers.ts";
import { gatesOf, overviewFacts, sentence, sharedLimits } from "./percentile-figure.ts";

type Line = RateFigure["lines"][number];
type Point = Line["points"][number];

/** Latency over offered rate of a search: the runs below its answer. null: fewer than two rates. */
export function searchFigure(id: string, search: Search, result: Result): RateFigure | null {
	const runs = new Map(result.runs.map((run) => [run.index, run]));
	// Probes are short and may be the ones that failed by accident: the curve is of the runs below the answer.
	const chosen = search.runs
		.filter(({ role }) => search.lo === null || role !== "probe")
		.toSorted((a, b) => a.rate - b.rate);
	const first = runs.get(search.runs[0]?.index ?? -1);
	const ofRun = (index: number, p: number) => {
		const run = runs.get(index);
		return run?.metrics[run.main]?.percentiles.find((x) => x.p === p);
	};
	const points = (key: "p50" | "p99" | "max") =>
		chosen.map((at): Point => {
			const value = at[key];
			const percentile = ofRun(at.index, key === "p50" ? 50 : 99);
			const [low, high] = key === "max" ? [null, null] : [percentile?.low, percentile?.high];
			return { x: at.rate, value, low: low ?? null, high: high ?? null, text: durationText(value) };
		});
	const metric = first?.main ?? "response";
	return overRate(
		{
			id,
			title: `${sentence(metric)} against rate: ${searchTitle(search)}`,
			facts: first === undefined ? "" : factsText(first, result),
			limits: first === undefined ? [] : limitsOf(first, result),
		},
		systemNumbers(result).get(search.system) ?? 0,
		points,
	);
}

/** Latency over rate of a load in steps. null: it has none, or the rates are alike, as in a backlog. */
export function stepsFigure(id: string, run: Run, result: Result): RateFigure | null {
	const busy = run.phases.filter(({ intended }) => intended > 0);
	if (run.load.pattern === "backlog" || busy.length < 2) return null;
	const metric = busy[0]?.metric ?? run.main;
	const phases = busy.toSorted((a, b) => a.rate - b.rate);
	const points = (key: "p50" | "p99" | "max") =>
		phases.map(({ rate, latency }): Point => {
			if (latency === null) return nothing(rate);
			if (key === "max")
				return {
					...nothing(rate),
					value: latency.censored > 0 ? null : latency.max,
					text: maxText(latency, run),
				};
			return pointAt(
				rate,
				latency.percentiles.find((x) => x.p === (key === "p50" ? 50 : 99)),
				run,
			);
		});
	return overRate(
		{
			id,
			title: `${sentence(metric)} against rate: ${runTitle(run, result)}`,
			facts: `${factsText(run, result)}; ${loadText(run)}`,
			limits: limitsOf(run, result),
		},
		systemNumbers(result).get(run.system) ?? 0,
		points,
	);
}

/**
 * Of several cases: p99 of every system by case, and of closed loops throughput. Where cases differ in one number, over that number. Each
 * pattern has its own: a round trip and a copy for each of ten subscribers are no points of one line.
 */
export function caseFigures(result: Result): RateFigure[] {
	const patterns = [...new Set(result.runs.map(({ load }) => load.pattern))];
	const systems = systemNumbers(result);
	return patterns.flatMap((pattern) => {
		const runs = result.runs.filter(({ load }) => load.pattern === pattern);
		const figures = figuresOfCases({ ...result, runs }, systems);
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

function figuresOfCases(result: Result, systems: ReadonlyMap<string, number>): RateFigure[] {
	const cases = [...new Set(result.runs.map((run) => run.case))];
	if (cases.length < 2) return [];
	const axis = axisOf(result, cases);
	const metrics = [...new Set(result.runs.map((run) => run.main))];
	const figures = metrics.map((metric): RateFigure => {
		const name = percentileName(99);
		const lines = linesOf(result, systems, axis.x, (run, x) => {
			const m = run.main === metric ? run.metrics[metric] : null;
			return m === null
				? null
				: pointAt(
						x,
						m.percentiles.find((p) => p.p === 99),
						run,
					);
		});
		return {
			kind: "rate",
			id: `cases-${metric}`,
			title: `${name} of ${metric} by ${axis.by}: ${result.scenario}`,
			facts: overviewFacts(result),
			description: describe(lines, axis.axis),
			axis: axis.axis,
			unit: "ns",
			lines,
			limits: sharedLimits(result, [metric])
				.filter(({ p }) => p === 99)
				.map(({ text, value }) => ({ text, value })),
		};
	});
	const closed = result.runs.filter((run) => run.load.schedule.kind === "closed");
	const through = (["sent", "received"] as const).flatMap((key): RateFigure[] => {
		const lines = linesOf({ ...result, runs: closed }, systems, axis.x, (run, x) => {
			const value = run.throughput[key];
			return value === null ? null : { ...nothing(x), value, text: `${formatCount(value)}/s` };
		});
		return [
			{
				kind: "rate",
				id: `cases-${key}`,
				title: `Messages ${key} per second by ${axis.by}: ${result.scenario}`,
				facts: overviewFacts(result),
				description: describe(lines, axis.axis),
				axis: axis.axis,
				unit: "messages/s",
				lines,
				limits: [],
			},
		];
	});
	// Of one place there is nothing to see.
	return [...figures, ...through].filter(({ lines }) => {
		const rates = lines.flatMap(({ points }) =>
			points.flatMap(({ x, value }) => (value === null ? [] : [x])),
		);
		return new Set(rates).size > 1;
	});
}

const LINES = [
	["max", 1],
	["p99", 0],
	["p50", 2],
] as const;

function overRate(
	base: Pick<RateFigure, "id" | "title" | "facts" | "limits">,
	place: number,
	points: (key: "p50" | "p99" | "max") => Point[],
): RateFigure | null {
	const p99 = points("p99");
	const rates = p99.map(({ x }) => x);
	if (largestOf(rates) <= smallestOf(rates)) return null;
	const lines = LINES.map(
		([key, dash]): Line => ({
			key,
			name: key,
			group: key,
			colour: key === "p99" ? place : -1,
			dash,
			hidden: false,
			points: points(key),
		}),
	);
	if (lines.every((line) => line.points.every((p) => p.value === null))) return null;
	return {
		...base,
		kind: "rate",
		description: p99.map(({ x, text }) => `${formatCount(x)}/s: p99 ${text}`).join(". "),
		axis: { title: "scheduled messages per second", unit: "messages/s", names: null },
		unit: "ns",
		lines,
	};
}

/** The number in which alone the cases differ; else their names in their order. */
function axisOf(
	{ runs }: Result,
	cases: readonly string[],
): { readonly by: string; readonly axis: RateFigure["axis"]; readonly x: (run: Run) => number } {
	const varying = NUMBERS.filter(({ of }) => new Set(runs.map((run) => of(run))).size > 1);
	const [one] = varying;
	if (one !== undefined && varying.length === 1) {
		const values = cases.map((name) => {
			const run = runs.find((r) => r.case === name);
			return run === undefined ? null : one.of(run);
		});
		const known = new Set(values.filter((v) => v !== null));
		if (known.size === cases.length)
			return {
				by: one.by,
				axis: { title: one.by, unit: one.unit, names: null },
				x: (run) => one.of(run) ?? 0,
			};
	}
	return {
		by: "case",
		axis: { title: "case", unit: "cases", names: cases },
		x: (run) => cases.indexOf(run.case),
	};
}

const NUMBERS: readonly {
	readonly by: string;
	readonly unit: RateFigure["axis"]["unit"];
	readonly of: (run: Run) => number | null;
}[] = [
	{ by: "size of a message", unit: "bytes", of: ({ load }) => load.messageBytes },
	{ by: tell("axis-in-flight"), unit: "messages", of: ({ load }) => load.inFlight },
	{
		by: "scheduled messages per second",
		unit: "messages/s",
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
	result: Result,
	systems: ReadonlyMap<string, number>,
	x: (run: Run) => number,
	point: (run: Run, x: number) => Point | null,
): Line[] {
	const repeats = [...new Set(result.runs.map((run) => run.repeat))];
	return [...systems].flatMap(([system, place]) => {
		const own = result.runs.filter((run) => run.system === system);
		const line = (name: string, runs: readonly Run[], thin: boolean) => {
			const points = runs.flatMap((run) => point(run, x(run)) ?? []).sort((a, b) => a.x - b.x);
			return points.every((p) => p.value === null)
				? []
				: [
						{
							key: `${place} ${name}`,
							name,
							group: system,
							colour: place,
							dash: place,
							hidden: false,
							thin,
							points,
						},
					];
		};
		const deciding = [...new Set(own.map(x))].flatMap(
			(at) => medianRepeat(own.filter((run) => x(run) === at)) ?? [],
		);
		return [
			...line(system, deciding, false),
			...(repeats.length === 1
				? []
				: repeats.flatMap((repeat) =>
						line(
							`${system}, repeat ${repeat}`,
							own.filter((run) => run.repeat === repeat),
							true,
						),
					)),
		];
	});
}

function pointAt(x: number, p: Percentile | undefined, run: Run): Point {
	return p === undefined
		? nothing(x)
		: {
				x,
				value: p.value,
				low: p.low,
				high: p.high,
				text: `${percentileValue(p, run)} ${intervalText(p)}`.trim(),
			};
}

function nothing(x: number): Point {
	return { x, value: null, low: null, high: null, text: "n/a" };
}

function limitsOf(run: Run, result: Result): RateFigure["limits"] {
	return gatesOf(run, result).flatMap((g) =>
		g.metric === run.main && g.limitNs !== null ? [{ text: g.sla, value: g.limitNs }] : [],
	);
}

function describe(lines: readonly Line[], { unit, names }: RateFigure["axis"]): string {
	const at = (x: number) => names?.[x] ?? (unit === "bytes" ? formatBytesExact(x) : formatCount(x));
	return lines
		.map(({ name, points }) => `${name}: ${points.map((p) => `${at(p.x)} ${p.text}`).join(", ")}`)
		.join(". ");
}
