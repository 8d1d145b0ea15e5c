import type { Result, Run } from "../../model/result.ts";
import { withoutSearches } from "../words.ts";
import type {
	Figure,
	HeatFigure,
	PartsFigure,
	PercentileFigure,
	RateFigure,
	TimeFigure,
} from "./figure.ts";
import { heatFigure } from "./heat-figure.ts";
import { runId } from "./numbers.ts";
import { partsFigure } from "./parts-figure.ts";
import { overviewPercentiles, runPercentiles } from "./percentile-figure.ts";
import { caseFigures, searchFigure, stepsFigure } from "./rate-figure.ts";
import { timeFigure } from "./time-figure.ts";

/** Every picture of a report. */
export interface ReportFigures {
	/** All runs side by side; empty for a single run. */
	readonly overview: readonly Figure[];
	/** By `run.index`; the runs of searches have none. */
	readonly runs: ReadonlyMap<number, RunFigures>;
	/** One for each search that has a curve, in their order. */
	readonly searches: readonly Figure[];
}

/** null: nothing was measured. */
export interface RunFigures {
	readonly percentiles: PercentileFigure | null;
	readonly time: TimeFigure | null;
	readonly heat: HeatFigure | null;
	readonly parts: PartsFigure | null;
	/** Latency over rate, of a load in steps. */
	readonly steps: RateFigure | null;
}

/** Characters that all pictures of a report may take as JSON, about: each run has its share. */
export const BUDGET = 700_000;

/** The pictures of a result. Of long and of many runs they have fewer points, so that they stay within the budget. */
export function figuresOf(whole: Result, budget = BUDGET): ReportFigures {
	const result = withoutSearches(whole);
	const several = result.runs.length > 1;
	const share = (several ? 1 - OVERVIEW : 1) * budget;
	const level = levels();
	return {
		overview: several ? levels().fitting(budget * OVERVIEW, (at) => overviewOf(result, at)) : [],
		runs: new Map(
			result.runs.map((run) => [
				run.index,
				level.fitting(share / result.runs.length, (at) => runFigures(run, result, at)),
			]),
		),
		searches: whole.searches.flatMap(
			(search, i) => searchFigure(`search-${i + 1}`, search, whole) ?? [],
		),
	};
}

/** All of them in the order of a report. */
export function listOf({ overview, runs, searches }: ReportFigures): Figure[] {
	const ofRuns = [...runs.values()].flatMap(({ percentiles, parts, steps, time, heat }) =>
		[percentiles, parts, steps, time, heat].filter((f) => f !== null),
	);
	return [...overview, ...searches, ...ofRuns];
}

// --- internal ---

/** Part of the budget that the overview has. */
const OVERVIEW = 0.25;

const ALL_PANELS = Number.POSITIVE_INFINITY;

/** How much of a run is shown. */
interface Level {
	/** Points of a line over time, columns of a heat map. */
	readonly most: number;
	/** Of percentile curves, as a part of the value: 0.002 is below a pixel. */
	readonly tolerance: number;
	/** Panels over time, the more important ones first; with fewer there is no heat map either. */
	readonly panels: number;
	/** Intervals of percentiles are in the tables, too. */
	readonly intervals: boolean;
}

/** From fine to coarse: the first that fits is taken. Percentiles keep their marks, and every point that is left is exact. */
const LEVELS: readonly Level[] = [
	{ most: 300, tolerance: 0.002, panels: ALL_PANELS, intervals: true },
	{ most: 150, tolerance: 0.002, panels: ALL_PANELS, intervals: true },
	{ most: 80, tolerance: 0.005, panels: ALL_PANELS, intervals: true },
	{ most: 40, tolerance: 0.01, panels: ALL_PANELS, intervals: true },
	{ most: 25, tolerance: 0.02, panels: ALL_PANELS, intervals: true },
	{ most: 20, tolerance: 0.03, panels: 5, intervals: true },
	{ most: 15, tolerance: 0.03, panels: 4, intervals: true },
	{ most: 12, tolerance: 0.05, panels: 3, intervals: false },
	{ most: 10, tolerance: 0.1, panels: 1, intervals: false },
];

function runFigures(run: Run, result: Result, { panels, ...level }: Level): RunFigures {
	const id = runId(run);
	return {
		percentiles: runPercentiles(`${id}-percentiles`, run, result, level),
		time: timeFigure(`${id}-time`, run, result, { most: level.most, panels }),
		heat: panels < ALL_PANELS ? null : heatFigure(`${id}-heat`, run, result, level.most),
		parts: partsFigure(`${id}-parts`, run, result),
		steps: stepsFigure(`${id}-steps`, run, result),
	};
}

function overviewOf(result: Result, level: Level): Figure[] {
	return [
		...[overviewPercentiles(result, level)].filter((f) => f !== null),
		...caseFigures(result),
	];
}

/** Runs of one report are much alike: each begins near the level of the one before. */
function levels(): { fitting<T>(budget: number, make: (level: Level) => T): T } {
	let start = 0;
	return {
		fitting(budget, make) {
			for (let i = start; ; i++) {
				const made = make(LEVELS[i] as Level);
				const last = i === LEVELS.length - 1;
				if (!last && JSON.stringify(made).length > budget) continue;
				start = Math.max(0, i - 1);
				return made;
			}
		},
	};
}
