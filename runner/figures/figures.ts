import type { Figure } from "../chart/figure.ts";
import type { Result } from "../model/result.ts";
import { withoutSearches } from "../result/select.ts";
import { type Subject, subjectOf } from "./facts.ts";
import { overviewPercentiles, runPercentiles } from "./percentiles.ts";
import { caseFigures, searchFigure, stepsFigure } from "./rates.ts";
import { heatFigure, timeFigure } from "./time.ts";

/** The most points that a line has: of more runs than six fewer, so that their page stays small. */
export const MOST = 300;
const FEWEST = 20;

/** The pictures of a run, of at most so many points a line, by the end of their names. null: there is nothing to see. */
const OF_RUN: readonly ((of: Subject, most: number) => Figure | null)[] = [
	stepsFigure,
	runPercentiles,
	timeFigure,
	heatFigure,
];

/**
 * Every picture of a report, in its order. Of several runs first those of all side by side: `cases-...`, `percentiles`; then `search-1` for
 * the first search that has a curve; then of each run that is not of a search `run-...-steps`, `-percentiles`, `-time`, `-heat`.
 */
export function figuresOf(whole: Result, points?: number): Figure[] {
	const result = withoutSearches(whole);
	const { runs } = result;
	const share = Math.floor((6 * MOST) / runs.length);
	const most = points ?? Math.max(FEWEST, Math.min(MOST, share));
	return [
		...(runs.length > 1 ? [...caseFigures(result), overviewPercentiles(result, most)] : []),
		...whole.searches.map((search, i) => searchFigure(`search-${i + 1}`, search, whole)),
		...runs.flatMap((run) => {
			const of = subjectOf(run, result);
			// What happened in a second is what people ask of a run: of those there may be twice as many.
			return OF_RUN.map((make) => make(of, make === timeFigure ? 2 * most : most));
		}),
	].filter((figure) => figure !== null);
}
