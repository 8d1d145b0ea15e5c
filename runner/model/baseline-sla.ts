import { type BaselineSla, Metric, type Plan, type Sla } from "./plan.ts";
import { Tally } from "./tallies.ts";

/** What the line is about, as a line with a fixed limit: for the rules on what a run has at all. */
export function subjectOf({ text, figure }: BaselineSla): Sla {
	const tally = Tally.safeParse(figure);
	if (tally.success)
		return {
			kind: "tally",
			text,
			tally: tally.data,
			op: ">=",
			limit: 0,
			abort: false,
		};
	const [metric, percentile = ""] = figure.split(" ");
	return {
		kind: "percentile",
		text,
		metric: Metric.parse(metric),
		percentile: Number(percentile.slice(1)),
		op: "<",
		limitNs: 0,
		abort: false,
	};
}

/** Is it a run of the system that the others of its scenario are compared with? */
export function isBaseline({ system, baselineSystem }: Plan): boolean {
	return system === baselineSystem;
}

/** "baseline + 10%", "baseline - 5%": the margin as it is judged, however it was written. */
export function baselineLimitText({ op, margin }: BaselineSla): string {
	const percent = Number((margin * 100).toPrecision(6));
	return `baseline ${op === "<" || op === "<=" ? "+" : "-"} ${percent}%`;
}
