import type { Figure } from "../chart/figure.ts";
import type { Result } from "../model/result.ts";
import { withoutSearches } from "../result/select.ts";
import { brokerFigure } from "./broker.ts";
import { subjectOf } from "./facts.ts";
import { overviewPercentiles, runPercentiles } from "./percentiles.ts";
import { caseFigures, searchFigure, stepsFigure } from "./rates.ts";
import { heatFigure, timeFigure } from "./time.ts";

/** Points of a line; with more than six runs fewer, to keep the page small. */
export const MOST = 300;
const FEWEST = 20;

/** In the report's order: `cases-...`, `percentiles`, `search-1`, then for each run `run-...-steps`, `-percentiles`, `-time`, `-heat`, `-broker`. */
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
			// Users ask about seconds, so this chart has twice the points.
			const makers = [stepsFigure, runPercentiles, timeFigure, heatFigure, brokerFigure];
			return makers.map((make) => make(of, make === timeFigure ? 2 * most : most));
		}),
	].filter((figure) => figure !== null);
}
