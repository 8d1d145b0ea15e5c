import { commitText } from "../../result/commit.ts";
import { systemText } from "../../result/words.ts";
import { type ExportedFile, type Known, type Point, watchedFigures } from "./points.ts";

/**
 * What benchmark-action/github-action-benchmark reads: `customSmallerIsBetter` has the latencies and times, in ms, `customBiggerIsBetter` the
 * rates. A file without entries would be an error there, so it is not written. The first repeat has the plain name, so that a series goes on
 * when a scenario is repeated more often.
 */
export function exportGithubActionBenchmark(points: readonly Point[]): ExportedFile[] {
	const sources = [...new Set(points.map(({ source }) => source))];
	return sources.flatMap((source) => {
		// Of several reports each has a folder of its own.
		const folder = sources.length === 1 ? "" : `${fileName(source.result.runId)}/`;
		const own = points.filter((point) => point.source === source);
		const entries = own.flatMap((point) =>
			watchedFigures(point).map((figure) => ({
				bigger: figure.unit === "messages/s",
				entry: entryOf(point, figure),
			})),
		);
		return [
			{ name: "customSmallerIsBetter.json", bigger: false },
			{ name: "customBiggerIsBetter.json", bigger: true },
		].flatMap(({ name, bigger }) => {
			const found = entries.filter((one) => one.bigger === bigger).map(({ entry }) => entry);
			const text = `${JSON.stringify(found, null, "\t")}\n`;
			return found.length === 0 ? [] : [{ name: `${folder}${name}`, text }];
		});
	});
}

// --- internal ---

/** What every file system takes, and a shell without quotes. */
function fileName(text: string): string {
	return text.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "");
}

function entryOf(point: Point, figure: Known) {
	const { id, unit } = figure;
	// To the nanosecond.
	const value = (of: number) => (unit === "ns" ? of / 1e6 : of);
	const range = rangeOf(figure, value);
	const repeat = point.repeat > 1 ? `, repeat ${point.repeat}` : "";
	return {
		name: `${point.source.result.scenario}: ${point.system}, ${point.case}: ${id}${repeat}`,
		unit: unit === "ns" ? "ms" : unit,
		value: value(figure.value),
		...(range === null ? {} : { range }),
		extra: extraOf(point, figure),
	};
}

/** Shown in brackets behind the value. */
function rangeOf(
	{ value: own, low, high, atLeast }: Known,
	value: (of: number) => number,
): string | null {
	if (atLeast) return `more than ${value(own)}`;
	if (low == null) return null;
	return high == null ? `${value(low)} or more` : `${value(low)} to ${value(high)}`;
}

/** Lines below the value. */
function extraOf({ run, source, commit }: Point, { metric, weak, atLeast }: Known): string {
	const n = metric === null ? null : run.metrics[metric]?.n;
	return [
		systemText(run),
		n == null ? "" : `n = ${n}`,
		weak && !atLeast ? "weak: too few samples" : "",
		`run ${source.result.runId}`,
		commit === null ? "" : `commit ${commitText(commit)}`,
	]
		.filter((line) => line !== "")
		.join("\n");
}
