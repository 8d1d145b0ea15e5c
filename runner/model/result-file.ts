import { z } from "zod";
import { byMetric, Metric } from "./plan.ts";
import { MetricSummary, Result, Run } from "./result.ts";

/** `result.json`, and beside each run `details.json`, only for its charts and tables (reports/README.md, "result.json"). */
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
	/** As in the result and its run: a repeated run leaves the details of its first try behind. */
	runId: Result.shape.runId,
	startedAt: Run.shape.startedAt,
	...Run.pick({ series: true, slowest: true, omission: true, brokerLog: true }).shape,
	curves: z.partialRecord(Metric, MetricSummary.shape.curve),
});
export type DetailsFile = z.infer<typeof DetailsFile>;
