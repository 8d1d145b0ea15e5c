import type { MetricSummary } from "../model/result.ts";
import { bucketOfRank } from "./distribution.ts";
import { rank, type Sample, samplesForBound, valueAtRank } from "./percentiles.ts";

type CurvePoint = MetricSummary["curve"][number];

/** Five points per halving of the distance to 100 %, as HdrHistogram's tools. Stops at unsupported or never completed samples. */
export function curve(s: Sample): CurvePoint[] {
	const points: CurvePoint[] = [];
	for (let level = 0; s.n > 0; level = next(level)) {
		// Twelve decimals as printed: a row and its rank belong together.
		const p = Number(level.toFixed(10));
		if (p > 0 && samplesForBound(p) > s.n) break;
		const r = p === 0 ? 1 : rank(s.n, p);
		const value = valueAtRank(s, r);
		if (value === null) break;
		points.push({ p, value, total: s.distribution.upTo[bucketOfRank(s.distribution, r)] ?? 0 });
	}
	return points;
}

/** An `.hgrm` file for HdrHistogram's plotters, in ms. The last row is the exact maximum whatever its support: plotters skip it. */
export function hgrm(
	points: readonly CurvePoint[],
	total: {
		/** Completed samples; `censored` ones never did. */
		readonly count: number;
		readonly censored: number;
		readonly mean: number;
		readonly max: number;
	},
): string {
	const row = (value: number, p: number, count: number) =>
		`${ms(value).padStart(14)} ${(p / 100).toFixed(12)} ${String(count).padStart(10)}`;
	return [
		"         Value     Percentile TotalCount 1/(1-Percentile)",
		"",
		...points.map(
			({ p, value, total }) =>
				`${row(value, p, total)} ${(100 / (100 - p)).toFixed(2).padStart(14)}`,
		),
		row(total.max, 100, total.count),
		`#[Mean    = ${ms(total.mean).padStart(14)}]`,
		`#[Max     = ${ms(total.max).padStart(14)}, Total count = ${total.count}]`,
		`#[Never completed = ${total.censored}: they count as larger than every value above]`,
		"",
	].join("\n");
}

// --- internal ---

const TICKS_PER_HALF_DISTANCE = 5;

function next(level: number): number {
	const halvings = Math.floor(Math.log2(100 / (100 - level))) + 1;
	return level + 100 / (TICKS_PER_HALF_DISTANCE * 2 ** halvings);
}

function ms(ns: number): string {
	return (ns / 1e6).toFixed(6);
}
