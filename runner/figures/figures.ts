import type {
	Figure,
	HeatFigure,
	PercentileFigure,
	RateFigure,
	TimeFigure,
} from "../chart/old-figure.ts";
import type { Result, Run } from "../model/result.ts";
import { withoutSearches } from "../result/select.ts";
import { heatFigure } from "./heat-figure.ts";
import { runId } from "./numbers.ts";
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
	/** Latency over rate, of a load in steps. */
	readonly steps: RateFigure | null;
}

/** Characters that all pictures of a report may take as JSON in fine points: each run has its share. */
const BUDGET = 700_000;

/** The pictures of a result. Those of a run that take more than its share of the budget have fewer points. */
export function figuresOf(whole: Result, budget = BUDGET): ReportFigures {
	const result = withoutSearches(whole);
	const several = result.runs.length > 1;
	const share = (several ? 1 - OVERVIEW : 1) * budget;
	return {
		overview: several ? fitting(budget * OVERVIEW, (at) => overviewOf(result, at)) : [],
		runs: new Map(
			result.runs.map((run) => [
				run.index,
				fitting(share / result.runs.length, (at) => runFigures(run, result, at)),
			]),
		),
		searches: whole.searches.flatMap(
			(search, i) => searchFigure(`search-${i + 1}`, search, whole) ?? [],
		),
	};
}

/** All of them in the order of a report. */
export function listOf({ overview, runs, searches }: ReportFigures): Figure[] {
	const ofRuns = [...runs.values()].flatMap(({ percentiles, steps, time, heat }) =>
		[percentiles, steps, time, heat].filter((f) => f !== null),
	);
	return [...overview, ...searches, ...ofRuns];
}

// --- internal ---

/** Part of the budget that the overview has. */
const OVERVIEW = 0.25;

/** How much of a run is shown. */
interface Level {
	/** Points of a line over time, columns of a heat map. */
	readonly most: number;
	/** Of percentile curves, as a part of the value: 0.002 is below a pixel. */
	readonly tolerance: number;
}

/** Percentiles keep their marks in both, and every point that is left is exact. */
const FINE: Level = { most: 300, tolerance: 0.002 };
/** Where that is more than its share of the budget. */
const COARSE: Level = { most: 25, tolerance: 0.02 };

function runFigures(run: Run, result: Result, level: Level): RunFigures {
	const id = runId(run);
	return {
		percentiles: runPercentiles(`${id}-percentiles`, run, result, level.tolerance),
		time: timeFigure(`${id}-time`, run, result, level.most),
		heat: heatFigure(`${id}-heat`, run, result, level.most),
		steps: stepsFigure(`${id}-steps`, run, result),
	};
}

function overviewOf(result: Result, level: Level): Figure[] {
	return [
		...[overviewPercentiles(result, level.tolerance)].filter((f) => f !== null),
		...caseFigures(result),
	];
}

function fitting<T>(budget: number, make: (level: Level) => T): T {
	const fine = make(FINE);
	return JSON.stringify(fine).length <= budget ? fine : make(COARSE);
}
