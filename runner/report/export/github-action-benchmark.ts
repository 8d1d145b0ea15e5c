import { isRate } from "../../compare/figures.ts";
import { tell } from "../../text/tell.ts";
import { commitText } from "../commit.ts";
import { systemText } from "../words.ts";
import type { Exported } from "./exported.ts";
import { bySource } from "./groups.ts";
import { type Figure, msOf, nameOf, type Point, watchedFigures } from "./points.ts";

/**
 * What benchmark-action/github-action-benchmark reads: `customSmallerIsBetter` has the latencies and times, in ms, `customBiggerIsBetter` the
 * rates. A file without entries would be an error there, so it is not written. The first repeat has the plain name, so that a series goes on
 * when a scenario is repeated more often.
 */
export function exportGithubActionBenchmark(points: readonly Point[]): Exported {
	const files = bySource(points).flatMap(({ folder, points }) => {
		const entries = points.flatMap((point) =>
			watchedFigures(point).map((figure) => ({
				bigger: isRate(figure.name),
				entry: entryOf(point, figure),
			})),
		);
		return [
			{ name: "customSmallerIsBetter.json", bigger: false },
			{ name: "customBiggerIsBetter.json", bigger: true },
		].flatMap(({ name, bigger }) => {
			const own = entries.filter((one) => one.bigger === bigger);
			const text = JSON.stringify(
				own.map(({ entry }) => entry),
				null,
				"\t",
			);
			return own.length === 0 ? [] : [{ name: `${folder}${name}`, text: `${text}\n` }];
		});
	});
	return { files, notes: [], hints: [] };
}

// --- internal ---

function entryOf(point: Point, figure: Figure) {
	const { name, unit } = figure;
	const value = (of: number) => (unit === "ns" ? msOf(of) : of);
	const range = rangeOf(figure, value);
	const repeat = point.repeat > 1 ? `, repeat ${point.repeat}` : "";
	return {
		name: `${nameOf(point)}: ${name}${repeat}`,
		unit: unit === "ns" ? "ms" : unit,
		value: value(figure.value),
		...(range === null ? {} : { range }),
		extra: extraOf(point, figure),
	};
}

/** Shown in brackets behind the value. */
function rangeOf(
	{ value: own, low, high, support }: Figure,
	value: (of: number) => number,
): string | null {
	if (support === "beyond-timeout" || support === "more-than")
		return tell("export-more-than", { value: value(own) });
	if (low === null) return null;
	return high === null
		? tell("export-from", { low: value(low) })
		: tell("export-range", { low: value(low), high: value(high) });
}

/** Lines below the value. */
function extraOf({ run, source, commit }: Point, { metric, support }: Figure): string {
	const n = metric === null ? null : run.metrics[metric]?.n;
	return [
		systemText(run),
		n == null ? "" : `n = ${n}`,
		support === "weak" ? tell("export-weak-mark") : "",
		`run ${source.result.runId}`,
		commit === null ? "" : tell("at-commit", { commit: commitText(commit) }),
	]
		.filter((line) => line !== "")
		.join("\n");
}
