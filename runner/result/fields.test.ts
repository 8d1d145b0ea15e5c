import { describe, expect, test } from "vitest";
import { baselineOf } from "../compare/baseline-of-result.ts";
import { Metric } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { rowsOfCsv } from "../render/csv.fake.ts";
import { renderCsv } from "../render/csv.ts";
import { exportOpenMetrics } from "../render/export/openmetrics.ts";
import { pointsOf } from "../render/export/points.ts";
import { COUNTS, countLabel, countsOf, field, figuresOf, isBad, snake } from "./fields.ts";
import { fixtureResult } from "./stored.fake.ts";

const FIXTURES = ["clients", "failover", "healthy", "lost", "repeats", "stall"];
/** By the name of the figure. */
const COLUMNS: Readonly<Record<string, string>> = {
	throughput: "received_per_second",
	"throughput.sent": "sent_per_second",
	achieved: "achieved_per_second",
	drainTime: "drain_ns",
	drainRate: "drain_per_second",
};

describe.each(FIXTURES)("every figure of %s is the same in every file", (name) => {
	const result = fixtureResult(name);
	const rows = rowsOfCsv(renderCsv(result));
	const baseline = baselineOf(result);

	test.each(result.runs.map((run, i) => [`${run.system}, ${run.case}, ${run.repeat}`, i] as const))(
		"%s",
		(_, i) => {
			const run = result.runs[i] as Run;
			const row = rows[i] ?? {};
			const entry = baseline.runs[i];
			for (const figure of figuresOf(run)) {
				const { id, metric, p, value, atLeast, why } = figure;
				const statistic = id.split(" ")[1];
				if (metric !== null) {
					const column = row[`${metric}_${statistic}_ns`];
					const completed = p === 100 ? run.metrics[metric]?.max : value;
					const empty = value === null || (atLeast && p < 100);
					expect(column, id).toBe(empty ? "" : String(completed ?? ""));
					if (p < 100)
						expect(row[`${metric}_${statistic}_support`], id).toBe(
							atLeast ? "beyond-timeout" : why ? "none" : figure.weak ? "weak" : "ok",
						);
				} else if (COLUMNS[id]) expect(row[COLUMNS[id]], id).toBe(String(value ?? ""));
				if (entry?.without !== null) continue;
				const own = (metric === "lag" || metric === "queued") && p > 99 && p < 100;
				if (value === null || own) expect(entry.figures[id], id).toBeUndefined();
				else expect(entry.figures[id]).toBeCloseTo(value, value > 1e6 ? -3 : 2);
				expect(entry.beyond.includes(id), id).toBe(!own && (atLeast ?? false));
				expect(entry.weak.includes(id), id).toBe(!own && (figure.weak ?? false));
			}
			const ids = figuresOf(run).map(({ id }) => id);
			if (entry?.without === null)
				expect(ids).toEqual(expect.arrayContaining(Object.keys(entry.figures)));
		},
	);

	test("also as samples", () => {
		const passed = result.runs.map((run) => ({ ...run, verdict: "pass" as const }));
		const [file] = exportOpenMetrics(pointsOf({ ...result, runs: passed }, ".").points);
		const known = (family: string, labels: string, value: number) =>
			expect(file?.text).toMatch(new RegExp(`^${family}\\{.*${labels}.*\\} ${value}$`, "m"));
		for (const run of passed) {
			for (const { id, metric, value, unit } of figuresOf(run)) {
				if (value === null) continue;
				const [, statistic] = id.split(" ");
				if (metric !== null)
					known(
						"mqbench_latency_seconds",
						`metric="${metric}",statistic="${statistic}"`,
						value / 1e9,
					);
				else if (unit === "messages/s")
					known("mqbench_rate_messages_per_second", `rate="${id}"`, value);
			}
			for (const count of COUNTS) {
				const value = run[count];
				if (value !== null) known("mqbench_window_messages", `count="${count}"`, value);
				expect(
					rows[result.runs.indexOf(result.runs[passed.indexOf(run)] as Run)]?.[snake(count)],
				).toBe(String(value ?? ""));
			}
		}
	});
});

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
