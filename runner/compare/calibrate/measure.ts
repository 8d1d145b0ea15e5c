import type { Baseline, Calibration } from "../../model/comparison.ts";
import type { Result } from "../../model/result.ts";
import { field, judgedFigures } from "../../result/fields.ts";
import { bySystemAndCase, type Place } from "../../result/select.ts";
import { baselineOf } from "../baseline-of-result.ts";
import { LEAST_RUNS, noiseOf } from "./noise.ts";

export interface NotCalibrated extends Place {
	/** null means all figures. */
	readonly metric: string | null;
	readonly why: string;
}

/** From A/A runs: figures that decide by default, throughput, and `asked` (SLA lines' figures). INVALID and stopped runs do not count. */
export function calibrationOf(
	result: Result,
	asked: readonly string[],
): { readonly calibration: Calibration | null; readonly missing: NotCalibrated[] } {
	const { machine, scenario, runId, runs } = baselineOf(result);
	const missing: NotCalibrated[] = [];
	const noise = bySystemAndCase(runs).flatMap(({ all: group, ...place }): Calibration["noise"] => {
		const counting = group.filter(({ without }) => without === null);
		if (counting.length < LEAST_RUNS) {
			const why = group.find(({ without }) => without !== null)?.without;
			missing.push({
				...place,
				metric: null,
				why: `${counting.length} of ${group.length} runs count, and it takes ${LEAST_RUNS}${why == null ? "" : ` (${why})`}; more --runs, or a quieter machine, give them`,
			});
			return [];
		}
		const [one] = counting as [Baseline["runs"][number]];
		const names = asked.map((name) => field(name).id);
		const figures = new Set([...judgedFigures(one), ...names, "throughput"]);
		return [...figures].flatMap((metric) => {
			const values = counting.flatMap((run) => run.figures[metric] ?? []);
			const noise = noiseOf(values);
			if (noise !== null) return [{ ...place, work: one.work, metric, ...noise }];
			// Throughput is asked for everywhere, but not every run has one.
			if (metric !== "throughput" || values.length > 0)
				missing.push({
					...place,
					metric,
					why: `${values.length} of ${counting.length} runs have a value, and it takes ${LEAST_RUNS}${values.length === 0 ? " (npx mqbench plan says what the samples carry)" : ""}`,
				});
			return [];
		});
	});
	return {
		calibration:
			machine === null || noise.length === 0
				? null
				: { schema: 1, scenario, runId, machine, noise },
		missing,
	};
}
