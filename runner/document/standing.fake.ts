import type { Percentile, Run } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";

const [SEED] = fixtureResult("repeats").runs;

/** For tests: a run with this p99 and interval, in us. p99 is null beyond the timeout; without `interval` there is none. */
export function runOf(
	p99: number | null,
	interval?: readonly [low: number, high: number | null],
	more: Partial<Run> = {},
): Run {
	if (SEED === undefined) throw new Error("no run");
	const metric = SEED.metrics[SEED.main];
	if (metric == null) throw new Error("no metric");
	const us = (value: number | null | undefined) => (value == null ? null : value * 1000);
	const percentiles = metric.percentiles.map(
		(one): Percentile =>
			one.p === 99
				? { ...one, value: us(p99), low: us(interval?.[0]), high: us(interval?.[1]) }
				: one,
	);
	return {
		...SEED,
		verdict: "pass",
		validity: [],
		metrics: { ...SEED.metrics, [SEED.main]: { ...metric, percentiles } },
		...more,
	};
}
