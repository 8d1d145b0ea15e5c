import type { PercentileFigure, RatioFigure } from "../chart/old-figure.ts";
import type { Comparing, Other } from "../compare/comparing.ts";
import {
	groupsOf,
	intervalText,
	looksOf,
	machineText,
	ratioOfText,
	verdictCell,
} from "../compare/words.ts";
import type { Baseline, Comparison } from "../model/comparison.ts";
import { percentText } from "../text/comparisons.ts";
import { tell } from "../text/tell.ts";
import { formatDuration } from "../units.ts";

/**
 * The curves of both sides over each other, one picture for each system and case. Curves are never averaged: of each side all runs are
 * shown, and the one whose p99 is the median one is strong.
 */
export function comparingFigures(
	comparing: Comparing,
	other: Other,
): (PercentileFigure & { readonly of: string })[] {
	const { a, systems } = comparing;
	return groupsOf(other.comparisons).flatMap((group, i) => {
		const sides = [
			{ ...a, system: systems?.[0] ?? group.system },
			{ ...other, system: group.system },
		].map((side, place) => ({
			...side,
			place,
			name: systems === null ? (place === 0 ? "A" : other.letter) : (systems[place] ?? ""),
			runs: side.baseline.runs.filter(
				(run) =>
					run.system === side.system &&
					run.case === group.case &&
					run.without === null &&
					run.curve.length > 0,
			),
		}));
		const curves = sides.flatMap((side) => {
			const shown = medianRun(side.runs);
			// The one that is shown comes first: in switches, legend and dashes.
			const runs = [
				...side.runs.filter((run) => run === shown),
				...side.runs.filter((run) => run !== shown),
			];
			return runs.map((run) => curveOf(run, side, run !== shown));
		});
		if (curves.length === 0) return [];
		const metric = curves[0]?.metric ?? "response";
		return [
			{
				of: group.title,
				kind: "percentiles" as const,
				id: `compare-${other.letter.toLowerCase()}-${i + 1}`,
				title: `${metric.charAt(0).toUpperCase()}${metric.slice(1)} by percentile: ${group.title}`,
				facts: sides.map((side) => factsOf(side)).join("; "),
				description: describe(group.comparisons),
				panels: [{ title: "" }],
				curves,
				hidden: [],
				limits: [],
			},
		];
	});
}

/** Every ratio of one system and case, those that are judged first, percentiles from the lowest to the maximum. */
export function ratioFigure(
	id: string,
	title: string,
	comparisons: readonly Comparison[],
): RatioFigure | null {
	const rows = comparisons.flatMap((c): RatioFigure["rows"] =>
		c.ratio === null || c.ratio <= 0
			? []
			: [
					{
						name: c.metric,
						ratio: c.ratio,
						low: c.low,
						high: c.confidence === null ? null : c.high,
						margin: c.margin,
						word: verdictCell(c),
						look: c.judged ? looksOf(c) : "unknown",
						text: [`${ratioOfText(c)} ${intervalText(c)}`, smallestText(c)]
							.filter((part) => part !== null)
							.join("; "),
					},
				],
	);
	return rows.length === 0
		? null
		: {
				kind: "ratios",
				id,
				title: `Ratios: ${title}`,
				facts: comparisons
					.filter(({ judged }) => judged)
					.flatMap((c) => {
						const text = smallestText(c);
						return text === null ? [] : [`${c.metric}: ${text}`];
					})
					.join("; "),
				description: rows.map(({ name, text, word }) => `${name} ${text}: ${word}`).join(". "),
				rows,
			};
}

/**
 * The smallest change that such an interval tells from none: the square root of its ends' ratio, "the smallest change that these runs can
 * show is 8 %". null: there is no interval.
 */
export function smallestText({ low, high }: Comparison): string | null {
	if (low === null || high === null || low <= 0) return null;
	return tell("smallest-change", { share: percentText(Math.sqrt(high / low) - 1) });
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

const MARKS = [50, 90, 99, 99.9, 99.99];

function curveOf(run: Entry, side: Side, thin: boolean): PercentileFigure["curves"][number] {
	const { main, figures, beyond, curve } = run;
	const max = figures[`${main} max`] ?? null;
	const censored = beyond.includes(`${main} max`);
	const marks = MARKS.flatMap((p) => {
		const name = `${main} p${p}`;
		const value = figures[name];
		if (value == null) return [];
		const [weak, over] = [run.weak.includes(name) ? "~" : "", beyond.includes(name) ? "> " : ""];
		return [{ p, value, over, text: `${over}${weak}${formatDuration(value)}`, interval: "" }];
	});
	const points = [
		...new Map([
			...curve,
			...marks.filter(({ over }) => over === "").map(({ p, value }) => [p, value] as const),
		]),
	].sort(([x], [y]) => x - y);
	return {
		key: `${side.place}-${run.repeat}`,
		name: `${side.name}, ${thin ? "" : "median run: "}repeat ${run.repeat}`,
		// What is compared has a colour and dashes of its own; not the system, which is the same on both sides.
		group: side.name,
		panel: 0,
		colour: side.place,
		dash: side.place,
		hidden: false,
		thin,
		metric: main,
		points,
		// How many samples there were is not in a baseline: the maximum stands as far right as the curve reaches.
		max: max === null || censored ? null : { p: points.at(-1)?.[0] ?? 0, value: max },
		// Intervals are of the ratio, in the table.
		marks: marks.map(({ over, ...mark }) => mark),
		censored: censored && max !== null ? `some never completed: > ${formatDuration(max)}` : null,
	};
}

/** The run with the median p99, as of repeats (`medianRepeat`): of an even number the higher of the two; one without is slower than any. */
function medianRun(runs: readonly Entry[]): Entry | undefined {
	const p99 = (run: Entry) => run.figures[`${run.main} p99`] ?? Number.MAX_VALUE;
	return runs.toSorted((x, y) => p99(x) - p99(y))[Math.floor(runs.length / 2)];
}

function factsOf({ name, system, baseline, runs }: Side): string {
	const facts = baseline.systems[system];
	return [
		`${name}: ${facts?.broker ?? system}`,
		facts?.durability,
		machineText(baseline),
		`${runs.length} ${runs.length === 1 ? "run" : "runs"}`,
	]
		.filter((part) => part !== undefined)
		.join(", ");
}

function describe(comparisons: readonly Comparison[]): string {
	return comparisons
		.filter((c) => c.judged || c.advisory !== null)
		.map((c) => `${c.metric}: ${verdictCell(c)}. ${c.why}`)
		.join(". ");
}
