import { failure } from "../../errors.ts";
import { didYouMean, KNOWN } from "../../suggest.ts";
import { tell } from "../../text/tell.ts";
import { exportGithubActionBenchmark } from "./github-action-benchmark.ts";
import { exportOpenMetrics } from "./openmetrics.ts";
import type { Format } from "./points.ts";

/** The tools that `--export` writes for, by the word for each. */
export const FORMATS: Readonly<Record<string, Format>> = {
	"github-action-benchmark": exportGithubActionBenchmark,
	openmetrics: exportOpenMetrics,
};

/** Throws, with all of them, where there is no such format. */
export function formatNamed(word: string): Format {
	const format = Object.hasOwn(FORMATS, word) ? FORMATS[word] : undefined;
	if (format !== undefined) return format;
	const known = Object.keys(FORMATS);
	const guess = didYouMean(word, known);
	throw failure("usage", {
		message: tell("export-unknown", {
			format: word,
			suggestion: guess.startsWith(KNOWN) ? "" : guess,
			known,
		}),
	});
}
