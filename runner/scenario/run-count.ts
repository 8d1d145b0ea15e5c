import { formatCount, plural } from "../units.ts";
import type { Problem } from "./problem.ts";

/** More than anybody waits for; all of them are planned in memory before the first one starts. */
const MOST_RUNS = 10_000;

/** A scenario that repeats more runs than can be planned. */
export function tooManyRuns(
	repeat = 1,
	cases: number,
	systems: number,
): Problem[] {
	const runs = repeat * cases * systems;
	if (runs <= MOST_RUNS) return [];
	const factors = `${plural(systems, "system")} x ${plural(cases, "case")} x repeat ${repeat}`;
	return [
		{
			path: [repeat > 1 ? "repeat" : "systems"],
			at: "value",
			message: `${factors} makes ${plural(runs, "run")}, and at most ${formatCount(MOST_RUNS)} are allowed; ${repeat > 1 ? "write a smaller repeat" : "remove some"}`,
		},
	];
}
