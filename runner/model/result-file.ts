import { z } from "zod";
import { byMetric, Metric } from "./plan.ts";
import { MetricSummary, Result, Run } from "./result.ts";

/**
 * A result on disk: `result.json`, which an index, a comparison and a CI job read, and beside each run a `details.json`, which has what
 * only charts and tables of that run need: four fifths of all. reports/README.md, "result.json", says what each version guarantees.
 */

const Figures = MetricSummary.omit({ curve: true }).nullable();

export const RunInFile = z.strictObject({
	...Run.omit({ series: true, slowest: true, omission: true, brokerLog: true }).shape,
	metrics: z.strictObject(byMetric(() => Figures)),
});
export type RunInFile = z.infer<typeof RunInFile>;

export const ResultFile = z.strictObject({ ...Result.shape, runs: z.array(RunInFile) });
export type ResultFile = z.infer<typeof ResultFile>;

export const DetailsFile = z.strictObject({
	schema: z.literal(1),
	/** Whose they are: as the result and its run have them. A run that was made again leaves the details of its first try behind. */
	runId: Result.shape.runId,
	startedAt: Run.shape.startedAt,
	...Run.pick({ series: true, slowest: true, omission: true, brokerLog: true }).shape,
	/** `metrics.<metric>.curve` of each metric that was measured. */
	curves: z.partialRecord(Metric, MetricSummary.shape.curve),
});
export type DetailsFile = z.infer<typeof DetailsFile>;
