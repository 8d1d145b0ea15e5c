import { formatDurationExact } from "../units.ts";
import { type BaselineSla, Metric, type Plan, type Sla } from "./plan.ts";
import { Tally } from "./tallies.ts";

/** The line with a fixed limit instead, for rules on what a run has at all. */
export function subjectOf({ text, figure }: BaselineSla): Sla {
	const tally = Tally.safeParse(figure);
	if (tally.success)
		return { kind: "tally", text, tally: tally.data, op: ">=", limit: 0, abort: false };
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

export function isBaseline({ system, baselineSystem }: Plan): boolean {
	return system === baselineSystem;
}

/** "baseline + 10%", "baseline - 5%": the margin as judged, however it was written. */
export function baselineLimitText(line: Omit<BaselineSla, "text">): string {
	const { op, margin, allowanceNs } = line;
	const percent = Number((margin * 100).toPrecision(6));
	const part = `baseline ${op === "<" || op === "<=" ? "+" : "-"} ${percent}%`;
	return allowanceNs === null
		? part
		: `max(${part}, baseline + ${formatDurationExact(allowanceNs)})`;
}

export function marginAt(
	{ margin, allowanceNs }: Pick<BaselineSla, "margin" | "allowanceNs">,
	baselineNs: number | null,
): number {
	return allowanceNs === null || baselineNs === null || baselineNs <= 0
		? margin
		: Math.max(margin, allowanceNs / baselineNs);
}
