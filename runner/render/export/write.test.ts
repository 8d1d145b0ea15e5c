import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import { fixtureCopy } from "../../evidence/fixture.fake.ts";
import { main } from "../../main.ts";
import type { Result, Run } from "../../model/result.ts";
import { HOSTILE } from "../../page/pages.fake.ts";
import { type Changes, resultOf } from "../../result/indexed.fake.ts";
import { fakeWorld } from "../../world.fake.ts";
import { search, step } from "../hostile.fake.ts";
import { exported, exportedResults, store } from "./exported.fake.ts";
import { FORMATS } from "./write.ts";

const healthy = (more: Changes = {}) => resultOf("healthy", more);
const runs = (change: (run: Run, i: number) => Run): Result => {
	const result = resultOf("repeats");
	return { ...result, runs: result.runs.map(change) };
};
const names = Object.keys(FORMATS);
const command = async (cwd: string, ...argv: string[]) => {
	const world = fakeWorld({ cwd });
	const code = await main(["report", ...argv], world);
	return { code, out: world.out(), err: world.err() };
};

describe("what a fault did", () => {
	const failover = (open: boolean) =>
		resultOf("failover", {
			run: (run) => ({
				...run,
				verdict: "pass",
				why: null,
				failover: run.failover.map((f, i) =>
					open && i === 0 ? { ...f, unavailableStill: true } : f,
				),
			}),
		});
	const texts = (format: string, open = false) =>
		Object.values(exportedResults(format, failover(open)).files).join("\n");

	test.each([
		["github-action-benchmark", /unavailable",\s*"unit": "ms",\s*"value": 1360,/],
		["openmetrics", /mqbench_time_seconds\{.*figure="unavailable"\} 1\.36$/m],
	])("is in %s, of the worst one", (format, has) => {
		expect(texts(format)).toMatch(has);
		expect(texts(format)).toMatch(/drained/);
	});

	test.each([
		["github-action-benchmark", /more than 1360/],
		["openmetrics", /figure="unavailable",support="at-least"\} 1\.36$/m],
	])("says in %s that it is more where it had not ended", (format, has) => {
		expect(texts(format)).not.toMatch(has);
		expect(texts(format, true)).toMatch(has);
	});
});

describe("runs that say nothing about their system", () => {
	const verdicts = [
		...(["pass", "fail", "inconclusive"] as const),
		...(["invalid", "interrupted", "error"] as const),
	];
	const result = runs((run, i) => ({
		...run,
		verdict: verdicts[i] ?? "pass",
		why: i === 3 ? "lag" : null,
	}));

	test.each(names)(
		"are left out of %s and named on stderr; a breached SLA is a figure like any other",
		(format) => {
			const { code, err, files } = exportedResults(format, result);
			expect(code).toBe(0);
			expect(err.filter((line) => line.includes("left out"))).toEqual([
				...result.runs.slice(2).map((run, i) => {
					const why = ["INCONCLUSIVE", "INVALID, lag", "INTERRUPTED", "ERROR"];
					return `reports/r1: ${run.system}, ${run.case}, repeat ${run.repeat} of 3: left out: ${why[i]}`;
				}),
			]);
			const texts = Object.values(files).join("\n");
			const p99 = (run: Run | undefined) =>
				run?.metrics.response?.percentiles.find((p) => p.p === 99)?.value ?? 0;
			// As ns, ms or s: the digits are the same.
			const has = (run: Run | undefined) =>
				texts.replaceAll(/\b0\.0*|(?<=\d)\./g, "").includes(`${p99(run)}`);
			expect(result.runs.map(has)).toEqual([true, true, false, false, false, false]);
		},
	);

	test("are those that an SLA has stopped, and all that --quick has shortened", () => {
		const aborted = exportedResults(
			"openmetrics",
			runs((run, i) => ({
				...run,
				verdict: "fail",
				...(i === 0 ? { state: "aborted", abortedBy: "p99 < 5ms" } : {}),
			})),
		);
		expect(aborted.err[0]).toMatch(
			/repeat 1 of 3: left out: stopped as p99 < 5ms could not be met any more$/,
		);
		const quick = exportedResults("openmetrics", healthy({ quick: true }));
		expect(quick.code).toBe(4);
		expect(quick.err[0]).toMatch(/left out: shortened by --quick/);
	});

	test.each([
		["inconclusive", 6],
		["invalid", 4],
		["interrupted", 4],
		["error", 4],
	] as const)("where all are %s nothing is written, in one sentence: %i", (verdict, code) => {
		const done = exportedResults(
			"openmetrics",
			runs((run) => ({ ...run, verdict })),
		);
		expect(done).toMatchObject({ code, files: {}, out: [] });
		expect(done.err).toHaveLength(7);
		expect(done.err.at(-1)).toMatch(/^reports: nothing to export: /);
	});
});

test("of a search its answer counts, and not the runs at which it had to fail", () => {
	const probe = healthy({
		run: (run) => ({ ...run, verdict: "fail", search: { of: run.case, role: "probe" } }),
	});
	const [run] = probe.runs as [Run];
	const of = (parts: Parameters<typeof search>[0]) => ({
		...probe,
		searches: [
			search({
				...parts,
				case: run.case,
				runs: [step({ index: run.index, rate: 1000 })],
			}),
		],
	});
	const found = exportedResults("openmetrics", of({ lo: 20_000 }));
	const lines = (found.files["metrics.txt"] ?? "")
		.split("\n")
		.filter((line) => line.startsWith("mqbench"));
	expect(lines).toEqual([
		expect.stringMatching(/_messages_per_second\{.*rate="highest rate"\} 20000$/),
		expect.stringMatching(/^mqbench_sla_met\{.*\} 1$/),
	]);
	const bounded = exportedResults("openmetrics", of({ limitedBy: "generator" }));
	expect(bounded.code).toBe(4);
	expect(bounded.err[0]).toMatch(/256B 1000\/s: left out: between 20 000/);
});

describe("folders", () => {
	test("are runs, or hold some, one or several; the same run counts once", () => {
		const cwd = testFolder();
		const add = (folder: string, n: number) =>
			store(cwd, folder, {
				...healthy({ startedAt: `2026-01-0${n}T00:00:00.000Z` }),
				runId: `run-${n}`,
			});
		add("old/a", 1);
		add("reports/published/b", 2);
		add("reports/c", 3);
		add("reports/copy", 1);
		const { code, err, files } = exported("openmetrics", [
			path.join(cwd, "old/a"),
			path.join(cwd, "reports"),
		]);
		expect(code).toBe(0);
		const p99 = /mqbench_latency_seconds.*"response",statistic="p99"[^}]*\} \S+ (\S+)$/gm;
		const times = [...(files["metrics.txt"] ?? "").matchAll(p99)].map(([, time]) => Number(time));
		expect(times).toEqual([1, 2, 3].map((n) => Date.UTC(2026, 0, n) / 1000));
		expect(err).toEqual([]);
	});

	test("without a result.json of this version are computed from their files", () => {
		const folder = fixtureCopy("stall");
		rmSync(path.join(folder, "result.json"), { force: true });
		const anew = exported("openmetrics", [folder]);
		expect(anew.code).toBe(0);
		writeFileSync(path.join(folder, "result.json"), '{"schema":');
		expect(exported("openmetrics", [folder]).files).toEqual(anew.files);
	});

	test.each(names)("without a result are one sentence and exit code 2: %s", (format) => {
		const folder = testFolder();
		expect(() => exported(format, [folder])).toThrow(`${folder}: is neither the folder of a run`);
		mkdirSync(path.join(folder, "cut"));
		writeFileSync(path.join(folder, "cut", "result.json"), "{");
		const { code, err } = exported(format, [folder]);
		expect(code).toBe(2);
		expect(err[0]).toMatch(/cut: left out: .*it is not JSON/);
		expect(err.at(-1)).toMatch(/nothing to export/);
	});
});

describe("mqbench report --export", () => {
	test("writes into export/<format> of the folder, and names the files; what is there already stays", async () => {
		const cwd = testFolder();
		store(cwd, "reports/a", healthy());
		const done = await command(cwd, "reports", "--export", "openmetrics");
		expect(done).toEqual({ code: 0, err: "", out: "reports/export/openmetrics/metrics.txt\n" });
		expect(readdirSync(path.join(cwd, "reports")).sort()).toEqual(["a", "export"]);
		// It is not a run, for the index and for the next export.
		expect((await command(cwd, "reports")).out).toMatch(/^1 result: /);
		expect((await command(cwd, "reports", "--export", "openmetrics")).code).toBe(0);
	});

	test("of another format is a mistake that lists all formats", async () => {
		const { code, err } = await command("/", "reports", "--export", "constructor");
		expect(code).toBe(2);
		expect(err).toContain(names.join(", "));
	});

	test.each([
		[["a", "b"], "takes one folder"],
		[["a", "--out", "b"], "takes one folder"],
		[["a", "--export", "openmetrics", "--json"], "cannot be used with"],
	])("%j is a mistake", async (argv, words) => {
		const { code, err } = await command("/", ...argv);
		expect(code).toBe(2);
		expect(err).toContain(words);
	});
});

test.each(names)("names from outside lead nowhere else and do no harm: %s", (format) => {
	const cwd = testFolder();
	const result = healthy({ scenario: `../../${HOSTILE}` });
	const named = (run: Run, i: number): Run => ({
		...run,
		system: "../..\u001b[31m",
		case: `${HOSTILE}/../x`,
		verdict: i === 0 ? "pass" : "invalid",
		why: "\u001b[2J",
	});
	const hostile = {
		...result,
		runId: "../../../evil",
		runs: [...result.runs, ...result.runs].map(named),
	};
	store(cwd, "reports/a", hostile);
	store(cwd, "reports/b", { ...hostile, runId: "/evil/2" });
	const world = fakeWorld({ cwd: path.join(cwd, "reports") });
	return main(["report", ".", "--export", format, "--out", "out"], world).then(() => {
		expect(readdirSync(cwd)).toEqual(["reports"]);
		expect(world.err().includes("\u001b")).toBe(false);
		expect(world.out().includes("\u001b")).toBe(false);
		for (const line of world.out().split("\n"))
			if (line.startsWith("out/")) expect(line).toMatch(/^out(?:\/\w[\w.-]*)+$/);
	});
});
