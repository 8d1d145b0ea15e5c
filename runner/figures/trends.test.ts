import { describe, expect, test } from "vitest";
import { machinesOf } from "../compare/machine.ts";
import type { Result, Run } from "../model/result.ts";
import { searchedResult } from "../page/pages.fake.ts";
import { headlineOf, systemTexts } from "../result/headline.ts";
import { addResult, type Changes, emptyFolder, resultOf, withP99 } from "../result/indexed.fake.ts";
import { readRuns } from "../result/indexed.ts";
import { trendsOf } from "./trends.ts";

/** Entries of results in folders r1, r2, ... as they are read from files. */
function entries(...results: readonly Result[]) {
	const root = emptyFolder();
	results.forEach((result, i) => {
		addResult(root, `r${i + 1}`, result);
	});
	return readRuns(root);
}

const day = (n: number) => `2026-01-${String(n).padStart(2, "0")}T12:00:00Z`;
const healthy = (n: number, p99: number, changes: Changes = {}) =>
	resultOf("healthy", { startedAt: day(n), run: withP99(p99), ...changes });

const linesOf = (...results: readonly Result[]) =>
	trendsOf(entries(...results)).flatMap(({ figure }) => figure.lines);

describe("a trend", () => {
	test("has each run's p99 at the time it began, and opens its report", () => {
		const [trend, ...others] = trendsOf(entries(healthy(3, 3e6), healthy(1, 1e6), healthy(2, 2e6)));
		expect(others).toEqual([]);
		expect(trend).toMatchObject({
			scenario: "healthy",
			systems: ["nats"],
			figure: {
				kind: "trend",
				id: "trend-1",
				title: "healthy, 256B 1000/s: response p99",
				unit: "ns",
			},
		});
		expect(trend?.figure.lines).toHaveLength(1);
		expect(trend?.figure.lines[0]).toMatchObject({ name: "nats", dash: 0 });
		expect(
			trend?.figure.lines[0]?.points.map(({ at, value, href, verdict }) => [
				new Date(at).toISOString(),
				value,
				href,
				verdict,
			]),
		).toEqual([
			["2026-01-01T12:00:00.000Z", 1e6, "r2/report.html", "pass"],
			["2026-01-02T12:00:00.000Z", 2e6, "r3/report.html", "pass"],
			["2026-01-03T12:00:00.000Z", 3e6, "r1/report.html", "pass"],
		]);
		expect(trend?.figure.facts).toContain(
			"nats: none, nothing is stored; machine A: linux x64, kernel 6.1, 4 cores, 8 GiB, Example CPU",
		);
		expect(trend?.figure.description).toBe(
			"3 results from 2026-01-01 to 2026-01-03. The newest of each line: nats ~3ms.",
		);
	});

	test("shows every repeat, and averages none", () => {
		const [figure] = trendsOf(
			entries(
				resultOf("repeats", { startedAt: day(1) }),
				resultOf("repeats", { startedAt: day(2) }),
			),
		).map((t) => t.figure);
		const kafka = figure?.lines.find((line) => line.group === "kafka");
		expect(kafka?.points).toHaveLength(6);
		const p99s = resultOf("repeats")
			.runs.filter((r) => r.system === "kafka")
			.map((r) => r.metrics.response?.percentiles.find((p) => p.p === 99))
			.map((p) => p?.value);
		expect(kafka?.points.map((p) => p.value)).toEqual([...p99s, ...p99s]);
		expect(kafka?.points[1]?.text).toMatch(/^~\S+ms, repeat 2 of 3, /);
	});

	test("a point names the commit that it was measured at", () => {
		const git = (digit: string, dirty: boolean) => ({ git: { commit: digit.repeat(40), dirty } });
		const [line] = linesOf(
			healthy(1, 1e6, git("a", false)),
			healthy(2, 2e6, git("b", true)),
			healthy(3, 3e6),
		);
		expect(line?.points.map(({ text }) => text.split(", commit ")[1])).toEqual([
			"aaaaaaaaaaaa",
			"bbbbbbbbbbbb with uncommitted changes",
			undefined,
		]);
	});

	test("never joins different machines: a line for each, with its letter", () => {
		const lines = linesOf(healthy(1, 1e6), healthy(2, 2e6, { cpu: "Other CPU" }), healthy(3, 3e6));
		expect(
			lines.map((line) => [line.name, line.colour, line.dash, line.points.map((p) => p.value)]),
		).toEqual([
			["nats (machine A)", 0, 0, [1e6, 3e6]],
			["nats (machine B)", 0, 1, [2e6]],
		]);
		expect(new Set(lines.map((line) => line.key)).size).toBe(2);
	});

	test("joins nothing of machines that nobody wrote down", () => {
		const unknown = { environment: null } as const;
		const lines = linesOf(healthy(1, 1e6, unknown), healthy(2, 2e6, unknown));
		expect(lines.map((line) => line.points.length)).toEqual([1, 1]);
	});

	test("never joins other work under the same name, and says what differs", () => {
		const longer = (run: Run): Run => ({
			...withP99(5e6)(run),
			load: { ...run.load, durationNs: 60e9 },
		});
		const lines = linesOf(
			healthy(1, 1e6),
			healthy(2, 2e6),
			resultOf("healthy", { startedAt: day(3), run: longer }),
		);
		expect(lines.map((line) => [line.name, line.points.map((p) => p.value)])).toEqual([
			["nats", [5e6]],
			["nats (other work: duration 5s against 1min)", [1e6, 2e6]],
		]);
	});

	test("never joins another durability", () => {
		const stored = (run: Run): Run => ({
			...run,
			load: { ...run.load, durability: "interval 2m" },
		});
		const lines = linesOf(resultOf("healthy", { startedAt: day(1), run: stored }), healthy(2, 2e6));
		expect(lines.map((line) => line.name)).toEqual(["nats", "nats (interval 2m)"]);
	});

	test("leaves a gap with a name where a run has no figure", () => {
		const bad = (run: Run): Run => ({ ...run, verdict: "invalid" });
		const [line] = linesOf(
			healthy(1, 1e6),
			resultOf("healthy", { startedAt: day(2), run: bad }),
			healthy(3, 3e6),
		);
		expect(line?.points.map((p) => [p.value, p.verdict])).toEqual([
			[1e6, "pass"],
			[null, "invalid"],
			[3e6, "pass"],
		]);
		expect(line?.points[1]?.text).toMatch(/^invalid/);
	});

	test("needs two results of one scenario and case with a figure; shortened ones are none", () => {
		const bad = (run: Run): Run => ({ ...run, verdict: "invalid" });
		expect(trendsOf(entries(healthy(1, 1e6)))).toEqual([]);
		expect(trendsOf(entries(healthy(1, 1e6), healthy(2, 1e6, { scenario: "other" })))).toEqual([]);
		expect(trendsOf(entries(healthy(1, 1e6), healthy(2, 1e6, { quick: true })))).toEqual([]);
		expect(
			trendsOf(entries(healthy(1, 1e6), resultOf("healthy", { startedAt: day(2), run: bad }))),
		).toEqual([]);
	});

	test("of a closed loop is its throughput, of a search the highest rate", () => {
		const closed =
			(perSecond: number) =>
			(run: Run): Run => ({
				...run,
				main: "service",
				load: { ...run.load, schedule: { ...run.load.schedule, kind: "closed" } },
				throughput: { ...run.throughput, received: perSecond },
			});
		const [throughput] = trendsOf(
			entries(
				resultOf("healthy", { startedAt: day(1), run: closed(50_000) }),
				resultOf("healthy", { startedAt: day(2), run: closed(60_000) }),
			),
		);
		expect(throughput?.figure).toMatchObject({
			title: "healthy, 256B 1000/s: throughput",
			unit: "messages/s",
		});
		expect(throughput?.figure.lines[0]?.points.map((p) => [p.value, p.text.split(",")[0]])).toEqual(
			[
				[50_000, "50 000/s"],
				[60_000, "60 000/s"],
			],
		);
		const searched = (n: number): Result => {
			const found = searchedResult();
			const runs = found.runs.map((r) => ({ ...r, startedAt: day(n) }));
			return { ...found, environment: resultOf("healthy").environment, runs };
		};
		const [search, ...others] = trendsOf(entries(searched(1), searched(2)));
		expect(others).toEqual([]);
		expect(search?.figure.title).toBe("healthy, 256B 1000/s: highest rate");
		expect(search?.figure.lines[0]?.points.map((p) => p.value)).toEqual([4000, 4000]);
	});

	test("a system keeps its colour on every figure, and as results are added", () => {
		const before = trendsOf(
			entries(
				resultOf("repeats", { startedAt: day(1) }),
				resultOf("repeats", { startedAt: day(2) }),
			),
		);
		const renamed = (run: Run): Run => ({ ...run, system: "a-new-one" });
		const after = trendsOf(
			entries(
				resultOf("repeats", { startedAt: day(1) }),
				resultOf("repeats", { startedAt: day(2) }),
				resultOf("healthy", { startedAt: day(3), run: renamed }),
				resultOf("healthy", { startedAt: day(4), run: renamed }),
			),
		);
		const colours = (trends: typeof before) =>
			Object.fromEntries(
				trends.flatMap(({ figure }) => figure.lines.map((line) => [line.group, line.colour])),
			);
		expect(colours(before)).toEqual({ nats: 0, kafka: 1 });
		expect(colours(after)).toEqual({ nats: 0, kafka: 1, "a-new-one": 2 });
	});
});

describe("machines", () => {
	test("are one kind by CPU, cores, memory, system and kernel series; the oldest is A", () => {
		const found = machinesOf(entries(healthy(2, 1e6, { cpu: "Other CPU" }), healthy(1, 1e6)));
		expect(found.get("r2")?.letter).toBe("A");
		expect(found.get("r1")).toEqual({
			letter: "B",
			text: "linux x64, kernel 6.1, 4 cores, 8 GiB, Other CPU",
		});
	});
});

describe("the figures of a result in its row", () => {
	const texts = (result: Result) => systemTexts(entries(result)[0]?.result as never);

	test("are one value, or the lowest and highest of cases and repeats", () => {
		expect(texts(healthy(1, 1_234_000))).toEqual([
			{ system: "nats", text: "response p99 ~1.23ms" },
		]);
		const [nats, kafka] = texts(resultOf("repeats"));
		expect(nats?.text).toMatch(/^response p99 ~\S+us to ~\S+us \(3 runs\)$/);
		expect(kafka?.text).toMatch(/^response p99 ~\S+ms to ~\S+ms \(3 runs\)$/);
	});

	test("say why there is none", () => {
		expect(texts(resultOf("lag"))[0]?.text).toBe("response p99 invalid");
		expect(texts(resultOf("interrupted"))[0]?.text).toBe("response p99 interrupted");
		const few = (run: Run): Run => ({
			...run,
			metrics: {
				...run.metrics,
				response: run.metrics.response && {
					...run.metrics.response,
					percentiles: run.metrics.response.percentiles.map((p) => ({
						...p,
						value: null,
						support: "none" as const,
					})),
				},
			},
		});
		expect(texts(resultOf("healthy", { run: few }))[0]?.text).toBe("response p99 n/a");
	});

	test("are those of result.json: value and support", () => {
		for (const name of ["healthy", "stall", "repeats"])
			for (const run of resultOf(name).runs) {
				const p99 = run.metrics.response?.percentiles.find((p) => p.p === 99);
				expect(headlineOf(run)).toMatchObject({
					name: "response p99",
					unit: "ns",
					value: p99?.value,
				});
			}
	});
});
