import type { Result } from "../model/result.ts";
import { withoutSearches } from "../result/select.ts";
import { type Built, subjectOf } from "./facts.ts";
import { heatFigure } from "./heat.ts";
import { overviewPercentiles, runPercentiles } from "./percentiles.ts";
import { caseFigures, searchFigure, stepsFigure } from "./rates.ts";
import { timeFigure } from "./time.ts";

/** Every picture of a report, in its order. */
export interface ReportFigures {
	/** All runs side by side; empty for a single run. */
	readonly overview: readonly Built[];
	/** One for each search that has a curve. */
	readonly searches: readonly Built[];
	/** By `run.index`, their ids end in -percentiles, -steps, -time, -heat; the runs of searches have none. */
	readonly runs: ReadonlyMap<number, readonly Built[]>;
}

/** Characters that all pictures of a report may take as JSON in fine points: each run has its share. */
const BUDGET = 700_000;

/** The pictures of a result. Those of a run that take more than its share of the budget have fewer points. */
export function figuresOf(whole: Result, budget = BUDGET): ReportFigures {
	const result = withoutSearches(whole);
	const several = result.runs.length > 1;
	const share = (several ? 1 - OVERVIEW : 1) * budget;
	const present = (figures: readonly (Built | null)[]) => figures.filter((f) => f !== null);
	return {
		overview: several
			? fitting(budget * OVERVIEW, ({ tolerance }) =>
					present([overviewPercentiles(result, tolerance), ...caseFigures(result)]),
				)
			: [],
		searches: present(whole.searches.map((s, i) => searchFigure(`search-${i + 1}`, s, whole))),
		runs: new Map(
			result.runs.map((run) => {
				const of = subjectOf(run, result);
				const figures = fitting(share / result.runs.length, ({ most, tolerance }) =>
					present([
						runPercentiles(of, tolerance),
						stepsFigure(of),
						timeFigure(of, most),
						heatFigure(of, most),
					]),
				);
				return [run.index, figures];
			}),
		),
	};
}

/** All of them in the order of a report. */
export function listOf({ overview, searches, runs }: ReportFigures): Built[] {
	return [...overview, ...searches, ...[...runs.values()].flat()];
}

// --- internal ---

/** Part of the budget that the overview has. */
const OVERVIEW = 0.25;

/** How much is shown. */
interface Level {
	/** Data of a line over time, columns of a heat map. */
	readonly most: number;
	/** Of percentile curves, as a part of the value: 0.002 is below a pixel. */
	readonly tolerance: number;
}

/** Percentiles keep their names in both, and every point that is left is exact. */
const FINE: Level = { most: 300, tolerance: 0.002 };
/** Where that is more than its share of the budget. */
const COARSE: Level = { most: 25, tolerance: 0.02 };

/** The budget is in packed columns... */
function fitting(budget: number, make: (level: Level) => Built[]): Built[] {
	const fine = make(FINE);
	return JSON.stringify(fine).length <= budget ? fine : make(COARSE);
}
