import type { Figure } from "../chart/figure.ts";
import { packed } from "../chart/packed.ts";
import type { Result } from "../model/result.ts";
import { withoutSearches } from "../result/select.ts";
import { subjectOf } from "./facts.ts";
import { heatFigure } from "./heat.ts";
import { overviewPercentiles, runPercentiles } from "./percentiles.ts";
import { caseFigures, searchFigure, stepsFigure } from "./rates.ts";
import { timeFigure } from "./time.ts";

/** Characters that all pictures of a report may take as JSON in fine points: each run has its share. */
const BUDGET = 700_000;

/**
 * Every picture of a report, in its order. Of several runs first those of all side by side: `rates-...`, `cases-...`, `percentiles`; then `search-1` for
 * the first search that has a curve; then of each run that is not of a search `run-...-steps`, `-percentiles`, `-time`, `-heat`. Those that take
 * more than their share of the budget have fewer points.
 */
export function figuresOf(whole: Result, budget = BUDGET): Figure[] {
	const result = withoutSearches(whole);
	const several = result.runs.length > 1;
	const share = ((several ? 1 - OVERVIEW : 1) * budget) / result.runs.length;
	return [
		...fitting(budget * OVERVIEW, ({ tolerance }) =>
			several ? [...caseFigures(result), overviewPercentiles(result, tolerance)] : [],
		),
		...whole.searches.flatMap((s, i) => searchFigure(`search-${i + 1}`, s, whole) ?? []),
		...result.runs.flatMap((run) => {
			const of = subjectOf(run, result);
			return fitting(share, ({ most, tolerance }) => [
				stepsFigure(of),
				runPercentiles(of, tolerance),
				timeFigure(of, most),
				heatFigure(of, most),
			]);
		}),
	];
}

// --- internal ---

/** Part of the budget that all side by side have. */
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
const COARSE: Level = { most: 25, tolerance: 0.02 };

function fitting(budget: number, make: (level: Level) => readonly (Figure | null)[]): Figure[] {
	const fine = make(FINE);
	const kept =
		JSON.stringify(fine.map((figure) => figure && packed(figure))).length <= budget
			? fine
			: make(COARSE);
	return kept.filter((figure) => figure !== null);
}
