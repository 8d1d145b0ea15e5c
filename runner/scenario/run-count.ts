import { formatCount } from "../units.ts";
import { type Problem, refuse } from "./problem.ts";

/** More than anybody waits for; all of them are planned in memory before the first one starts. */
const MOST_RUNS = 10_000;

/** A scenario that repeats more runs than can be planned. */
export function tooManyRuns(repeat = 1, cases: number, systems: number): Problem[] {
	const runs = repeat * cases * systems;
	if (runs <= MOST_RUNS) return [];
	return [
		refuse([repeat > 1 ? "repeat" : "systems"], "too-many-runs", {
			systems,
			cases,
			repeat,
			runs,
			most: formatCount(MOST_RUNS),
			write: repeat > 1 ? "write a smaller repeat" : "remove some",
		}),
	];
}
