import { failure } from "../../errors.ts";
import { didYouMean, KNOWN } from "../../suggest.ts";
import { tell } from "../../text/tell.ts";
import { exportBencher } from "./bencher.ts";
import type { Exported, Target } from "./exported.ts";
import { exportGithubActionBenchmark } from "./github-action-benchmark.ts";
import { exportOmb } from "./omb.ts";
import { exportOpenMetrics } from "./openmetrics.ts";
import { exportOtava } from "./otava.ts";
import type { Point } from "./points.ts";

type Format = (points: readonly Point[], target: Target) => Exported;

/** The tools that `--export` writes for, by the word for each. */
export const FORMATS: Readonly<Record<string, Format>> = {
	otava: exportOtava,
	bencher: exportBencher,
	"github-action-benchmark": exportGithubActionBenchmark,
	openmetrics: exportOpenMetrics,
	omb: exportOmb,
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
