import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Run } from "../../model/result.ts";
import { resultOf, withP99 } from "../index/runs.fake.ts";
import { fixtureResult, publishedFolder } from "../stored.fake.ts";
import { exported, exportedResults, PUBLISHED, publishedJson } from "./exported.fake.ts";

/** The published schema (bencher.dev/bmf.json) with the lengths that Bencher allows for names. */
const Bmf = z.record(
	z.string().min(1).max(1024),
	z.record(
		z.string().min(1).max(64),
		z.strictObject({
			value: z.number(),
			lower_value: z.number().optional(),
			upper_value: z.number().optional(),
		}),
	),
);
const read = (text: string | undefined) => Bmf.parse(JSON.parse(text ?? ""));

const passed = (run: Run): Run => ({ ...run, verdict: "pass" });

describe.each(PUBLISHED)("Bencher's file of %s", (name) => {
	test("has the figures of result.json in ns, with their intervals", () => {
		const { files, code } = exported("bencher", [publishedFolder(name)]);
		const runs: Run[] = publishedJson(name).runs;
		const repeats = [...new Set(runs.map(({ repeat }) => repeat))];
		expect(code).toBe(0);
		expect(Object.keys(files).sort()).toEqual(
			repeats.map((repeat) => `repeat-${repeat}.json`).sort(),
		);
		const latencies = (repeat: number) =>
			Object.entries(read(files[`repeat-${repeat}.json`])).map(([run, figures]) => [
				repeat,
				run,
				// What a fault did is tried in write.test.ts.
				Object.fromEntries(Object.entries(figures).filter(([of]) => of.startsWith("response"))),
			]);
		const expected = runs.map((run) => {
			const m = run.metrics.response;
			const percentiles = m?.percentiles.filter((p) => p.value !== null) ?? [];
			return [
				run.repeat,
				`${name}: ${run.system}, ${run.case}`,
				{
					...Object.fromEntries(
						percentiles.map(({ p, value, low, high }) => [
							`response p${p} (ns)`,
							{
								value,
								...(low === null ? {} : { lower_value: low }),
								...(high === null ? {} : { upper_value: high }),
							},
						]),
					),
					"response max (ns)": { value: m?.max },
				},
			];
		});
		expect(new Set(repeats.flatMap(latencies))).toEqual(new Set(expected));
	});
});

test("each repeat is a file, an iteration for Bencher, and none is averaged", () => {
	const result = resultOf("repeats", { run: passed });
	const { files, out } = exportedResults("bencher", result);
	expect(Object.keys(files).sort()).toEqual(["repeat-1.json", "repeat-2.json", "repeat-3.json"]);
	for (const repeat of [1, 2, 3]) {
		const found = read(files[`repeat-${repeat}.json`]);
		const runs = result.runs.filter((run) => run.repeat === repeat);
		expect(
			runs.map((run) => found[`repeats: ${run.system}, ${run.case}`]?.["response p99 (ns)"]?.value),
		).toEqual(runs.map((run) => run.metrics.response?.percentiles.find((p) => p.p === 99)?.value));
	}
	expect(out.at(-1)).toContain(
		"--file out/repeat-1.json --file out/repeat-2.json --file out/repeat-3.json",
	);
});

test("the command that sends a report tells its commit and its date; of several each has its own", () => {
	const commit = "0123456789".repeat(4);
	const { files, out, err } = exportedResults(
		"bencher",
		resultOf("healthy", {
			startedAt: "2026-01-02T00:00:00.750Z",
			run: withP99(1e6),
			git: { commit, dirty: false },
		}),
		resultOf("healthy", { startedAt: "2026-01-03T00:00:00.000Z" }),
	);
	expect(Object.keys(files).sort()).toEqual(["run-1/repeat-1.json", "run-2/repeat-1.json"]);
	const at = (n: number) => Date.UTC(2026, 0, n) / 1000;
	expect(out.slice(-2)).toEqual([
		`bencher run --adapter json --file out/run-1/repeat-1.json --hash ${commit} --backdate ${at(2)}`,
		`bencher run --adapter json --file out/run-2/repeat-1.json --backdate ${at(3)}`,
	]);
	expect(err.join()).not.toContain("uncommitted");
});

test("what Bencher cannot be told is told on stderr: a dirty tree, weak percentiles", () => {
	const { out, err } = exportedResults(
		"bencher",
		resultOf("healthy", { git: { commit: "a".repeat(40), dirty: true } }),
	);
	expect(out.at(-1)).toContain(`--hash ${"a".repeat(40)} `);
	expect(err.join("\n")).toMatch(/reports\/r1: .*uncommitted changes/);
	expect(err.join("\n")).toMatch(/reports\/r1: .*response p99/);
});

test("a percentile among messages that never completed is the timeout, without an upper end", () => {
	const lost = fixtureResult("lost");
	const { files } = exportedResults("bencher", {
		...lost,
		runs: lost.runs.map((run) => ({ ...run, verdict: "fail" as const })),
	});
	const [benchmark = {}] = Object.values(read(files["repeat-1.json"]));
	const { timeoutNs } = (lost.runs[0] as Run).load;
	expect(benchmark["response p99.9 (ns)"]?.value).toBe(timeoutNs);
	expect(benchmark["response p99.9 (ns)"]).not.toHaveProperty("upper_value");
	expect(benchmark["response max (ns)"]?.value).toBeGreaterThanOrEqual(timeoutNs);
});
