import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import type { Result, Run } from "../model/result.ts";
import { searchedResult } from "../page/pages.fake.ts";
import { systemTexts } from "../result/headline.ts";
import { addResult, type Changes, resultOf, withP99 } from "../result/indexed.fake.ts";
import { readRuns } from "../result/indexed.ts";
import { trendsOf } from "./trends.ts";

/** Entries of results in folders r1, r2, ... as they are read from files. */
function entries(...results: readonly Result[]) {
	const root = testFolder();
	results.forEach((result, i) => {
		addResult(root, `r${i + 1}`, result);
	});
	return readRuns(root);
}

const day = (n: number) => `2026-01-${String(n).padStart(2, "0")}T12:00:00Z`;
const healthy = (n: number, p99: number, changes: Changes = {}) =>
	resultOf("healthy", { startedAt: day(n), run: withP99(p99), ...changes });

const linesOf = (...results: readonly Result[]) =>
	trendsOf(entries(...results)).flatMap(({ figure }) => figure.panels[0]?.series ?? []);

const valuesOf = ({ name, data }: ReturnType<typeof linesOf>[number]) => [
	name,
	data.map(({ y }) => y),
];

describe("a trend", () => {
	test("has each run's p99 at the time it began, and opens its report", () => {
		const [trend, ...others] = trendsOf(entries(healthy(3, 3e6), healthy(1, 1e6), healthy(2, 2e6)));
		expect(others).toEqual([]);
		expect(trend).toMatchObject({
			scenario: "healthy",
			figure: {
				id: "trend-1",
				title: "healthy, 256B 1000/s: response p99",
				panels: [{ unit: "ns", series: [{ name: "nats", dash: 0 }] }],
			},
		});
		expect(
			trend?.figure.panels[0]?.series[0]?.data.map(({ x, y, href, look }) => [
				new Date(x).toISOString(),
				y,
				href,
				look,
			]),
		).toEqual([
			["2026-01-01T12:00:00.000Z", 1e6, "r2/report.html", "pass"],
			["2026-01-02T12:00:00.000Z", 2e6, "r3/report.html", "pass"],
			["2026-01-03T12:00:00.000Z", 3e6, "r1/report.html", "pass"],
		]);
		expect(trend?.figure.facts).toContain(
			"nats: none, nothing is stored; machine A: linux x64, kernel 6.1, 4 cores, 8 GiB, Example CPU",
		);
	});

	test("shows every repeat, and averages none", () => {
		const repeats = (n: number) => resultOf("repeats", { startedAt: day(n) });
		const kafka = linesOf(repeats(1), repeats(2)).find(({ group }) => group === "kafka");
		const p99s = resultOf("repeats")
			.runs.filter((r) => r.system === "kafka")
			.map((r) => r.metrics.response?.percentiles.find((p) => p.p === 99)?.value);
		expect(kafka?.data.map(({ y }) => y)).toEqual([...p99s, ...p99s]);
		expect(kafka?.data[1]?.text).toMatch(/^~\S+ms, repeat 2 of 3, /);
	});

	test("a point names the commit that it was measured at", () => {
		const git = (digit: string, dirty: boolean) => ({ git: { commit: digit.repeat(40), dirty } });
		const [line] = linesOf(
			healthy(1, 1e6, git("a", false)),
			healthy(2, 2e6, git("b", true)),
			healthy(3, 3e6),
		);
		expect(line?.data.map(({ text }) => text?.split(", commit ")[1])).toEqual([
			"aaaaaaaaaaaa",
			"bbbbbbbbbbbb with uncommitted changes",
			undefined,
		]);
	});

	test("never joins different machines: a line for each, with its letter", () => {
		const lines = linesOf(healthy(1, 1e6), healthy(2, 2e6, { cpu: "Other CPU" }), healthy(3, 3e6));
		expect(lines.map(valuesOf)).toEqual([
			["nats (machine A)", [1e6, 3e6]],
			["nats (machine B)", [2e6]],
		]);
		expect(lines.map(({ color, dash }) => [color, dash])).toEqual([
			[0, 0],
			[0, 1],
		]);
	});

	test("joins nothing of machines that nobody wrote down", () => {
		const unknown = { environment: null } as const;
		const lines = linesOf(healthy(1, 1e6, unknown), healthy(2, 2e6, unknown));
		expect(lines.map(({ data }) => data.length)).toEqual([1, 1]);
	});

	test("never joins other work under the same name, and says what differs; nor another durability", () => {
		const changed = (load: Partial<Run["load"]>) =>
			resultOf("healthy", {
				startedAt: day(3),
				run: (run) => ({ ...withP99(5e6)(run), load: { ...run.load, ...load } }),
			});
		const before = [healthy(1, 1e6), healthy(2, 2e6)];
		expect(linesOf(...before, changed({ durationNs: 60e9 })).map(valuesOf)).toEqual([
			["nats", [5e6]],
			["nats (other work: duration 5s against 1min)", [1e6, 2e6]],
		]);
		expect(linesOf(...before, changed({ durability: "interval 2m" })).map(valuesOf)).toEqual([
			["nats", [5e6]],
			["nats (none, nothing is stored)", [1e6, 2e6]],
		]);
	});

	test("leaves a gap with a name where a run has no figure", () => {
		const bad = (run: Run): Run => ({ ...run, verdict: "invalid" });
		const [line] = linesOf(
			healthy(1, 1e6),
			resultOf("healthy", { startedAt: day(2), run: bad }),
			healthy(3, 3e6),
		);
		expect(line?.data.map(({ y, look }) => [y, look])).toEqual([
			[1e6, "pass"],
			[null, "invalid"],
			[3e6, "pass"],
		]);
		expect(line?.data[1]?.text).toMatch(/^invalid/);
	});

	test("needs two results of one scenario and case with a figure; shortened ones are none", () => {
		const bad = (run: Run): Run => ({ ...run, verdict: "invalid" });
		for (const others of [
			[],
			[healthy(2, 1e6, { scenario: "other" })],
			[healthy(2, 1e6, { quick: true })],
			[resultOf("healthy", { startedAt: day(2), run: bad })],
		])
			expect(trendsOf(entries(healthy(1, 1e6), ...others))).toEqual([]);
	});

	test("of a closed loop is its throughput, of a search the highest rate", () => {
		const closed = (n: number, received: number) =>
			resultOf("healthy", {
				startedAt: day(n),
				run: (run) => ({
					...run,
					main: "service",
					load: { ...run.load, schedule: { ...run.load.schedule, kind: "closed" } },
					throughput: { ...run.throughput, received },
				}),
			});
		const searched = (n: number): Result => {
			const found = searchedResult();
			const runs = found.runs.map((r) => ({ ...r, startedAt: day(n) }));
			return { ...found, environment: resultOf("healthy").environment, runs };
		};
		for (const [results, title, values] of [
			[[closed(1, 5e4), closed(2, 6e4)], "throughput", [5e4, 6e4]],
			[[searched(1), searched(2)], "highest rate", [4000, 4000]],
		] as const) {
			const trends = trendsOf(entries(...results));
			expect(trends.map(({ figure }) => figure.title)).toEqual([`healthy, 256B 1000/s: ${title}`]);
			const [panel] = trends[0]?.figure.panels ?? [];
			expect(panel?.unit).toBe("messages/s");
			expect(panel?.series.map(valuesOf)).toEqual([["nats", values]]);
		}
	});

	test("a system keeps its colour on every figure, and as results are added", () => {
		const renamed = (run: Run): Run => ({ ...run, system: "a-new-one" });
		const before = [1, 2].map((n) => resultOf("repeats", { startedAt: day(n) }));
		const added = [3, 4].map((n) => resultOf("healthy", { startedAt: day(n), run: renamed }));
		const colors = (...results: readonly Result[]) =>
			Object.fromEntries(linesOf(...results).map(({ group, color }) => [group, color]));
		expect(colors(...before)).toEqual({ nats: 0, kafka: 1 });
		expect(colors(...before, ...added)).toEqual({ nats: 0, kafka: 1, "a-new-one": 2 });
	});
});

describe("the figures of a result in its row", () => {
	const texts = (result: Result) => systemTexts(entries(result)[0]?.result as never);

	test("are one value, or the lowest and highest of cases and repeats", () => {
		expect(texts(healthy(1, 1_234_000))).toEqual([
			{ system: "nats", text: "response p99 ~1.23ms" },
		]);
		const [nats, kafka] = texts(resultOf("repeats"));
		expect(nats?.text).toMatch(/^response p99 ~\S+us to ~\S+us$/);
		expect(kafka?.text).toMatch(/^response p99 ~\S+ms to ~\S+ms$/);
	});

	test("say why there is none", () => {
		for (const verdict of ["lag", "interrupted"])
			expect(texts(resultOf(verdict))[0]?.text).toBe(
				`response p99 ${verdict === "lag" ? "invalid" : verdict}`,
			);
	});
});
