import { commitAt, commitText } from "../../result/commit.ts";
import { systemText } from "../../result/words.ts";
import { type ExportedFile, type Known, type Point, watchedFigures } from "./points.ts";

/** `customSmallerIsBetter`: latencies and times in ms; `customBiggerIsBetter`: rates. Empty files would fail there, so none is written. */
export function exportGithubActionBenchmark(points: readonly Point[]): ExportedFile[] {
	const results = [...new Set(points.map(({ result }) => result))];
	return results.flatMap((result) => {
		// With several reports each has a folder, whose name is safe in every file system, and in a shell without quotes.
		const safe = result.runId.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "");
		const folder = results.length === 1 ? "" : `${safe}/`;
		const own = points.filter((point) => point.result === result);
		const entries = own.flatMap((point) =>
			watchedFigures(point).map((figure) => entryOf(point, figure)),
		);
		return ["customSmallerIsBetter", "customBiggerIsBetter"].flatMap((name, i) => {
			const some = entries.filter(({ unit }) => (unit === "ms") === (i === 0));
			const text = `${JSON.stringify(some, null, "\t")}\n`;
			return some.length === 0 ? [] : [{ name: `${folder}${name}.json`, text }];
		});
	});
}

// --- internal ---

/** To the nanosecond. `range` is shown behind the value, `extra` below it. */
function entryOf({ result, run, search }: Point, figure: Known) {
	const { system, case: name, repeat } = search ?? run;
	const { id, unit, metric, low, high, atLeast, weak } = figure;
	const value = (of: number) => (unit === "ns" ? of / 1e6 : of);
	const interval =
		low == null ? undefined : `${value(low)} ${high == null ? "or more" : `to ${value(high)}`}`;
	const n = metric === null ? null : run.metrics[metric]?.n;
	const commit = commitAt(result.environment, run.startedAt);
	const extra = [
		systemText(run),
		n == null ? "" : `n = ${n}`,
		weak && !atLeast ? "weak: too few samples" : "",
		`run ${result.runId}`,
		commit === null ? "" : `commit ${commitText(commit)}`,
	];
	return {
		// The first repeat has the plain name: a series goes on if repeats are added.
		name: `${result.scenario}: ${system}, ${name}: ${id}${repeat > 1 ? `, repeat ${repeat}` : ""}`,
		unit: unit === "ns" ? "ms" : unit,
		value: value(figure.value),
		range: atLeast ? `more than ${value(figure.value)}` : interval,
		extra: extra.filter((line) => line !== "").join("\n"),
	};
}
