import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MqbenchError } from "../errors.ts";
import { fixtureCopy } from "../evidence/fixture.fake.ts";
import { Baseline } from "../model/comparison.ts";
import type { Result, Run, Search } from "../model/result.ts";
import { search, step } from "../render/hostile.fake.ts";
import { writeReports } from "../render/write.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import { readBaseline } from "./baseline-file.ts";
import { baselineOf, baselineText } from "./baseline-of-result.ts";
import { buildResult } from "./build.ts";
import { compareRuns } from "./compare.ts";

const repeats = fixtureResult("repeats");
const stall = fixtureResult("stall");

describe("figures", () => {
	test.each([
		["lag", "invalid"],
		["interrupted", "interrupted"],
	])("a run that is not to be trusted has none: %s", (name, why) => {
		const [found] = baselineOf(fixtureResult(name)).runs;
		expect(found).toMatchObject({ without: why, figures: {} });
	});

	test("a run that an SLA stopped has none, and names the line", () => {
		const aborted: Run = { ...(stall.runs[0] as Run), state: "aborted", abortedBy: "p99 < 5ms" };
		const [found] = baselineOf({ ...stall, runs: [aborted] }).runs;
		expect(found).toMatchObject({
			without: "stopped as p99 < 5ms could not be met any more",
			figures: {},
		});
	});
});

describe("searches", () => {
	const searched = (parts: Partial<Search>): Result => ({
		...stall,
		runs: stall.runs.map((run) => ({ ...run, search: { role: "probe" as const, of: "256B" } })),
		searches: [
			search({
				sla: ["p99 < 5ms"],
				lo: 9000,
				runs: [step({ index: stall.runs[0]?.index ?? 0 })],
				...parts,
			}),
		],
	});

	test.each([
		["one figure", {}, { without: null, figures: { "highest rate": 9000 }, beyond: [] }],
		["at least so much", { limitedBy: "generator" }, { beyond: ["highest rate"] }],
		[
			"none",
			{ lo: null, verdict: "fail", answer: "no rate" },
			{ without: "fail: no rate", figures: {} },
		],
	] as const)("are %s", (_, parts, entry) => {
		const place = { system: "nats", case: "256B", repeat: 1 };
		expect(baselineOf(searched(parts)).runs).toMatchObject([{ ...place, ...entry }]);
	});

	test("with another SLA are another question", () => {
		const other = { ...baselineOf(searched({ sla: ["p99 < 9ms"] })), runId: "b" };
		const { notCompared } = compareRuns(
			{ name: "A", of: baselineOf(searched({})) },
			{ name: "B", of: other },
		);
		expect(notCompared[0]?.why).toBe("other work: sla p99 < 5ms against p99 < 9ms");
	});
});

describe("the file", () => {
	test("is small enough to be committed", () => {
		const sizeOf = (result: Result) => Buffer.byteLength(baselineText(baselineOf(result)));
		expect(sizeOf(stall)).toBeLessThan(4_000);
		const many = publishedOnce("message-queue-latency");
		expect(many.runs).toHaveLength(20);
		expect(sizeOf(many)).toBeLessThan(40_000);
	});

	test("says the same when it is read again", () => {
		for (const result of [stall, repeats]) {
			const baseline = baselineOf(result);
			const text = baselineText(baseline);
			expect(Baseline.parse(JSON.parse(text))).toEqual(baseline);
			// Files of earlier versions have a curve.
			const runs = baseline.runs.map((run) => ({ ...run, curve: [[50, 1e5]] }));
			expect(Baseline.parse({ ...baseline, runs })).toEqual(baseline);
			const lines = text.split("\n").filter((line) => line.includes('"figures"'));
			expect(lines.map((line) => JSON.parse(line.replace(/,$/, "")).repeat)).toEqual(
				result.runs.map(({ repeat }) => repeat),
			);
		}
	});

	test("holds no password", () => {
		const run = stall.runs[0] as Run;
		const driverOptions = { url: "nats://user:hunter2@host:4222" };
		const text = baselineText(baselineOf({ ...stall, runs: [{ ...run, driverOptions }] }));
		expect(text).not.toContain("hunter2");
	});

	test("names from outside do no harm", () => {
		const runs = stall.runs.map((run) => ({ ...run, system: "__proto__", case: '"}],"<script>' }));
		const baseline = baselineOf({ ...stall, runs });
		const read = Baseline.parse(JSON.parse(baselineText(baseline)));
		expect(read.runs[0]?.case).toBe('"}],"<script>');
		expect(read.runs[0]?.system).toBe("__proto__");
	});
});

test("what is measured of a disk is no setting, and no difference of two systems", () => {
	const baselineFor = (settings: Record<string, string>) =>
		baselineOf({
			...stall,
			runs: stall.runs.map((run) => ({
				...run,
				brokerSettings: { sync_interval: "always", ...settings },
			})),
		});
	const [one, other] = [
		baselineFor({ "store fdatasync": "81us (p50 of 64)" }),
		baselineFor({ "store fdatasync": "97us (p50 of 64)" }),
	];
	expect(Object.values(one.systems)[0]).toMatchObject({ "broker sync_interval": "always" });
	expect(one.systems).toEqual(other.systems);
	expect(baselineFor({ "volume fdatasync": "1ms (p50 of 9)" })).toEqual(one);
});

describe("reading", () => {
	const reason = (path: string): string => {
		try {
			readBaseline(path);
		} catch (error) {
			expect(error).toBeInstanceOf(MqbenchError);
			expect((error as MqbenchError).exit).toBe(2);
			return (error as Error).message.replaceAll(path, "<path>");
		}
		throw new Error("was read");
	};

	test("every run folder gets one, and it reads the same from all that is in it", () => {
		const copy = fixtureCopy("repeats");
		writeReports(copy, buildResult(copy));
		const own = readBaseline(copy);
		expect(own).toEqual(baselineOf(repeats));
		expect(readBaseline(join(copy, "baseline.json"))).toEqual(own);
		expect(readBaseline(join(copy, "result.json"))).toEqual(own);
		rmSync(join(copy, "baseline.json"));
		expect(readBaseline(copy)).toEqual(own);
		rmSync(join(copy, "result.json"));
		expect(readBaseline(copy)).toEqual(own);
	});

	test("a folder of an older mqbench is computed anew from its raw files", () => {
		const copy = fixtureCopy("stall");
		writeFileSync(join(copy, "result.json"), '{"schema": 1, "gates": []}');
		expect(readBaseline(copy)).toEqual(baselineOf(stall));
	});

	test.each([
		["{", "it is not JSON"],
		["[1]", "it is neither a baseline.json nor a result.json of this version (it: "],
		["null", "it is neither a baseline.json nor a result.json of this version"],
		['{"schema": 2, "runs": []}', "of this version (schema: "],
		['{"schema": 1, "gates": []}', "of this version (schema: "],
	])("%s: one sentence", (text, words) => {
		const copy = fixtureCopy("stall");
		const file = join(copy, "x.json");
		writeFileSync(file, text);
		const found = reason(file);
		expect(found).toContain(words);
		expect(found.split("\n")).toHaveLength(1);
	});

	test("what is not there, or no run folder", () => {
		expect(reason("/nowhere/x.json")).toBe(
			"<path>: cannot be compared with (there is no such file or folder). Give the folder of a run (reports/<run-id>) or a baseline.json of one",
		);
		const copy = fixtureCopy("stall");
		const empty = join(copy, "empty");
		mkdirSync(empty);
		expect(reason(empty)).toContain(
			"there is neither baseline.json nor result.json nor runs/ in it",
		);
		writeFileSync(join(empty, "baseline.json"), "{");
		expect(reason(empty)).toContain("its baseline.json: it is not JSON");
	});
});
