import { expect } from "vitest";
import { buildResult } from "../compare/build.ts";
import { built, type Fate, type More } from "../evidence/built.fake.ts";
import type { Metric, Plan, Sla } from "../model/plan.ts";
import { Result, type Run } from "../model/result.ts";
import { rendered } from "../render/rendered.fake.ts";

const MS = 1e6;

/** For tests: the result of one run, from the fate of each message; it follows its schema. */
export function made(plan: Plan, fates: readonly Fate[], more: More = {}) {
	const folder = built(plan, fates, more);
	const result = buildResult(folder);
	expect(Result.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
	const run = result.runs[0] as Run;
	const check = (name: string) => run.validity.find((c) => c.check === name)?.status;
	return { folder, result, run, check };
}

/** For tests: the same with all reports. */
export function shown(...of: Parameters<typeof made>) {
	const one = made(...of);
	const reports = rendered(one.result);
	for (const text of reports.out) expect(/NaN|undefined|Infinity/.exec(text)).toBeNull();
	return { ...one, ...reports };
}

/** For tests: the same result for several tests: it takes half a second to make. */
export function once<T>(make: () => T): () => T {
	let value: T | undefined;
	return () => {
		value ??= make();
		return value;
	};
}

/** For tests: "service p99 < 20ms". */
export function p99(metric: Metric, ms: number): Sla {
	const text = `${metric} p99 < ${ms}ms`;
	const about = { metric, percentile: 99, op: "<", limitNs: ms * MS } as const;
	return { kind: "percentile", text, ...about, abort: false };
}

/** For tests: "throughput >= 900". */
export function tally(name: string, op: string, limit: number): Sla {
	const text = `${name} ${op} ${limit}`;
	return { kind: "tally", text, tally: name, op, limit, abort: false } as Sla;
}

/** For tests: a limit that the generator counts. */
export function limit(
	metric: Plan["limits"][number]["metric"],
	ms: number,
): Plan["limits"][number] {
	return { metric, limitNs: ms * MS };
}
