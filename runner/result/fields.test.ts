import { expect, test } from "vitest";
import { baselineOf } from "../compare/baseline-of-result.ts";
import { Metric } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { COUNTS, countLabel, countsOf, field, figuresOf, isBad } from "./fields.ts";
import { fixtureResult } from "./stored.fake.ts";

test.each(["clients", "failover", "healthy", "lost", "repeats", "stall"])(
	"a baseline has every figure of %s, but deep percentiles of what is no result of the system",
	(name) => {
		const result = fixtureResult(name);
		for (const [i, run] of result.runs.entries()) {
			const entry = baselineOf(result).runs[i];
			if (entry?.without !== null) continue;
			for (const { id, metric, p, value, atLeast, weak } of figuresOf(run)) {
				const own = (metric === "lag" || metric === "queued") && p > 99 && p < 100;
				if (value === null || own) expect(entry.figures[id], id).toBeUndefined();
				else expect(entry.figures[id]).toBeCloseTo(value, value > 1e6 ? -3 : 2);
				expect(entry.beyond.includes(id), id).toBe(!own && (atLeast ?? false));
				expect(entry.weak.includes(id), id).toBe(!own && (weak ?? false));
			}
			const ids = figuresOf(run).map(({ id }) => id);
			expect(ids).toEqual(expect.arrayContaining(Object.keys(entry.figures)));
		}
	},
);

test("each count has a name of its own", () => {
	const [run] = fixtureResult("healthy").runs as [Run];
	const names = COUNTS.map((count) => countLabel(run, count));
	expect(new Set(names).size).toBe(COUNTS.length);
	expect(names).toEqual(expect.arrayContaining(["not offered", "timed out", "lost"]));
	const fanOut = { ...run, load: { ...run.load, pattern: "fan-out" as const } };
	expect(countLabel(fanOut, "lost")).toBe("copies lost");
	expect(countLabel(fanOut, "failed")).toBe("failed");
	expect(COUNTS.filter((count) => !isBad(count))).toEqual([
		"intended",
		"sent",
		"acked",
		"received",
	]);
});

test("a run has no count that its pattern cannot have", () => {
	const [run] = fixtureResult("healthy").runs as [Run];
	expect(countsOf(run)).not.toContain("timedOut");
	expect(countsOf({ ...run, timedOut: 0 })).toContain("timedOut");
	const publish = { ...run, load: { ...run.load, pattern: "publish" as const } };
	expect(countsOf(publish)).not.toContain("received");
	expect(countsOf(publish)).not.toContain("lost");
});

test.each([
	["response p99.99", { id: "response p99.99", unit: "ns", metric: "response", p: 99.99 }],
	["ack max", { id: "ack max", unit: "ns", metric: "ack", p: 100 }],
	["throughput.received", { id: "throughput", unit: "messages/s", metric: null }],
	["drainTime", { id: "drainTime", unit: "ns", metric: null }],
	["highest rate", { id: "highest rate", unit: "messages/s", metric: null }],
	["from elsewhere", { id: "from elsewhere", unit: "ns", metric: null }],
])("%s", (name, expected) => {
	expect(field(name)).toMatchObject(expected);
});

test("every metric has a figure where it was measured", () => {
	const [run] = fixtureResult("healthy").runs as [Run];
	const metrics = new Set(figuresOf(run).map(({ metric }) => metric));
	for (const metric of Metric.options)
		expect(metrics.has(metric), metric).toBe((run.metrics[metric]?.n ?? 0) > 0);
});
