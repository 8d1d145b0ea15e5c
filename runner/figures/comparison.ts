import type { Datum, Figure, Series } from "../chart/figure.ts";
import type { Comparing } from "../compare/comparing.ts";
import { machineText } from "../compare/machine.ts";
import { intervalText, looksOf, ratioOfText, verdictCell } from "../compare/words.ts";
import type { Baseline, Comparison } from "../model/comparison.ts";
import { at, bySystemAndCase, type Place } from "../result/select.ts";
import { formatDuration, plural } from "../units.ts";
import { AXIS, panelOf, sentence, seriesOf } from "./facts.ts";
import { CURVES, withNamed } from "./percentiles.ts";

/** For each system and case the ratios, `ratios-b-1`, and both sides' curves, `compare-b-1`. */
export function comparedFigures(comparing: Comparing): Figure[] {
	return bySystemAndCase(comparing.comparisons).flatMap(({ all: comparisons, ...of }, i) => {
		const title = `${of.system}, ${of.case}`;
		return [
			ratioFigure(`ratios-b-${i + 1}`, title, comparisons),
			curvesFigure(`compare-b-${i + 1}`, title, sidesOf(comparing, of)),
		].filter((figure) => figure !== null);
	});
}

// --- internal ---

type Entry = Baseline["runs"][number];

interface Side {
	readonly name: string;
	readonly place: number;
	readonly system: string;
	readonly baseline: Baseline;
	readonly runs: readonly Entry[];
}

function sidesOf({ a, b, systems }: Comparing, of: Place): Side[] {
	return [a.baseline, b.baseline].map((baseline, place) => {
		const system = systems?.[place] ?? of.system;
		const runs = at({ ...of, system }, baseline.runs).filter(
			(run) => run.without === null && run.curve.length > 0,
		);
		return { name: systems === null ? "AB".charAt(place) : system, place, system, baseline, runs };
	});
}

/** All runs, never averaged; the one with the median p99 is strong. */
function curvesFigure(id: string, title: string, sides: readonly Side[]): Figure | null {
	const series = sides.flatMap((side) => {
		const median = medianRun(side.runs);
		// The strong one comes first in switches, legend and dashes.
		const runs = side.runs.toSorted((x, y) => Number(y === median) - Number(x === median));
		return runs.map((run) => curveOf(run, side, run !== median));
	});
	const main = sides.flatMap(({ runs }) => runs)[0]?.main;
	if (main === undefined) return null;
	return {
		id,
		title: `${sentence(main)} by percentile: ${title}`,
		facts: sides.map(factsOf).join("; "),
		...CURVES,
		panels: [panelOf("ns", series, [], "")],
	};
}

const NAMED = [50, 90, 99, 99.9, 99.99];

/** Curves have no intervals: those in the table are the ratio's. */
function curveOf(run: Entry, { name, place }: Side, thin: boolean): Series {
	const { main, figures, beyond, weak, curve } = run;
	const named = NAMED.flatMap((x): Datum[] => {
		const figure = `${main} p${x}`;
		const y = figures[figure];
		if (y == null) return [];
		const text = `${weak.includes(figure) ? "~" : ""}${formatDuration(y)}`;
		return [beyond.includes(figure) ? { x, y: null, text: `> ${text}` } : { x, y, text }];
	});
	const data = withNamed(curve, named);
	const max = figures[`${main} max`] ?? null;
	const text = formatDuration(max ?? 0);
	// A baseline has no number of samples, so the maximum stands where the curve ends.
	const x = data.findLast(({ y }) => y !== null)?.x ?? 0;
	const end = beyond.includes(`${main} max`)
		? { x, y: null, text: `some never completed: > ${text}` }
		: { x, y: max, text };
	// The system is the same on both sides, so each side has its own colour and dashes.
	const look = { group: name, color: place, dash: place, thin };
	return seriesOf(`${name}, ${thin ? "" : "median run: "}repeat ${run.repeat}`, data, {
		...look,
		...(max === null ? {} : { end }),
	});
}

/** As `medianRepeat`: the higher of two; a run without a p99 is slower than any. */
function medianRun(runs: readonly Entry[]): Entry | undefined {
	const p99 = (run: Entry) => run.figures[`${run.main} p99`] ?? Number.MAX_VALUE;
	return runs.toSorted((x, y) => p99(x) - p99(y))[Math.floor(runs.length / 2)];
}

function factsOf({ name, system, baseline, runs }: Side): string {
	const facts = baseline.systems[system];
	return [
		`${name}: ${facts?.broker ?? system}`,
		facts?.durability,
		machineText(baseline.machine),
		plural(runs.length, "run"),
	]
		.filter((part) => part !== undefined)
		.join(", ");
}

function ratioFigure(id: string, title: string, comparisons: readonly Comparison[]): Figure | null {
	const rows = comparisons.flatMap((c) =>
		c.ratio !== null && c.ratio > 0 ? { ...c, ratio: c.ratio } : [],
	);
	const [first] = rows;
	if (first === undefined) return null;
	// As wide as the names are apart.
	const margin = rows.flatMap(({ margin }, x) =>
		[x - 0.5, x + 0.5].map((x): Datum => ({ x, y: null, low: 1 / (1 + margin), high: 1 + margin })),
	);
	const ratio = rows.map((c, x): Datum => {
		const text = `${ratioOfText(c)} ${intervalText(c)}; ${verdictCell(c)}`;
		const high = c.confidence === null ? null : c.high;
		const interval = c.low === null && high === null ? {} : { low: c.low, high };
		return { x, y: c.ratio, text, ...interval, ...(c.judged ? { look: looksOf(c) } : {}) };
	});
	return {
		id,
		title: `Ratios: ${title}`,
		facts: `${first.b.name} against ${first.a.name}`,
		x: { ...AXIS, scale: "names", title: "figure", names: rows.map(({ metric }) => metric) },
		panels: [
			{
				title: "ratio with its 95 % interval; the band: what the margin allows",
				unit: "times",
				log: false,
				series: [
					seriesOf("ratio", ratio, { draw: "dots", color: 0 }),
					seriesOf("margin", margin, { group: "", draw: "band" }),
				],
				limits: [],
			},
		],
		spans: [],
	};
}
