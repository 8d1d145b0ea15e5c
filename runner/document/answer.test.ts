import { describe, expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import { readResult } from "../result/result-files.ts";
import { saturatedBy } from "../result/saturated.ts";
import { fixtureResult, publishedFolder, publishedOnce } from "../result/stored.fake.ts";
import { formatCount, formatDuration } from "../units.ts";
import { answer, stallText } from "./answer.ts";
import { type Inline, piecesOf, plain, type Table } from "./blocks.ts";

function tableOf(result: Result): Table {
	const table = answer(result).find(({ kind }) => kind === "table");
	if (table?.kind !== "table") throw new Error("no table");
	return table;
}

/** A cell of systems by case, taken apart. */
function partsOf(cell: Inline, result: Result) {
	const pieces = piecesOf(cell).map((piece) =>
		typeof piece === "string" || "unit" in piece
			? ({ as: "ratio", text: plain(piece) } as const)
			: piece,
	);
	type Part = (typeof pieces)[number];
	const of = <K extends Part["as"]>(as: K) =>
		pieces.filter((p): p is Extract<Part, { as: K }> => p.as === as);
	const [to] = of("link");
	return {
		run: result.runs[Number(to?.to.replace("#run-", "")) - 1] as Run,
		value: to?.text ?? "",
		ratio: of("ratio")[0]?.text ?? null,
		small: pieces.flatMap((p) => (p.as === "aside" ? [p.text] : [])),
		alert: pieces.flatMap((p) => (p.as === "alert" ? [p.text] : []))[0] ?? null,
		verdict: of("badge")[0]?.look,
		line: of("line")[0],
	};
}

/** All cells, by their heads. */
function cellsOf(result: Result) {
	const { columns, rows } = tableOf(result);
	return rows.flatMap(({ cells: [head = "", ...cells] }) =>
		cells.map((cell, i) => ({
			heads: [plain(head), plain(columns[i + 1]?.name ?? "")],
			cell: cell === "not run" ? null : partsOf(cell, result),
		})),
	);
}

function cellOf(result: Result, ...heads: readonly string[]) {
	const found = cellsOf(result).find((one) => heads.every((head) => one.heads.includes(head)));
	if (!found?.cell) throw new Error(`no cell of ${heads}`);
	return found.cell;
}

function percentile(run: Run, p: number) {
	const found = run.metrics[run.main]?.percentiles.find((x) => x.p === p);
	if (found === undefined) throw new Error(`no p${p}`);
	return found;
}

/** The value in a text such as "~1.2ms": only its digits and its unit. */
const bare = (text: string) => text.replace("~", "");

describe.each(["message-queue-latency", "commit-log-latency"])("the matrix of %s", (name) => {
	const result = publishedOnce(name);
	const all = cellsOf(result).flatMap(({ heads, cell }) =>
		cell === null ? [] : [{ heads, cell }],
	);

	test("has a cell for each run, with the figures of result.json", () => {
		expect(all.map(({ cell }) => result.runs.indexOf(cell.run)).toSorted((a, b) => a - b)).toEqual(
			result.runs.map((_, i) => i),
		);
		for (const { heads, cell } of all) {
			const { run } = cell;
			expect(heads).toContain(run.system);
			expect(heads).toContain(run.case);
			const [p50, p99] = [percentile(run, 50), percentile(run, 99)];
			expect(bare(cell.value)).toBe(formatDuration(p99.value ?? 0));
			const interval = ({ low, high }: typeof p50) =>
				`[${formatDuration(low ?? 0)}, ${high === null ? "\u221e" : formatDuration(high)}]`;
			const small = cell.small.map(bare);
			expect(small.some((one) => one.startsWith("p99") && one.endsWith(interval(p99)))).toBe(true);
			expect(small).toContain(`p50 ${formatDuration(p50.value ?? 0)} ${interval(p50)}`);
		}
	});

	test("draws curves that can be compared: each value is one of its run, up to p99.99", () => {
		const ranges = new Set(all.map(({ cell }) => cell.line?.range));
		expect(ranges.size).toBe(1);
		for (const { cell } of all) {
			const curve = cell.run.metrics[cell.run.main]?.curve ?? [];
			const known = cell.line?.values.filter((value) => value !== null) ?? [];
			const values = new Set(curve.map(({ value }) => value));
			expect(known.filter((value) => !values.has(value))).toEqual([]);
			expect(known).toEqual(known.toSorted((a, b) => a - b));
			if ((curve.at(-1)?.p ?? 0) >= 99.99)
				expect(known.at(-1)).toBe(curve.find(({ p }) => p >= 99.99)?.value);
		}
	});

	test("says how many times the lowest p99 of its case each is, and where intervals overlap", () => {
		const seen = new Set<string>();
		for (const { cell } of all) {
			const { run } = cell;
			// What a machine at its end measured is not the system's alone.
			const ranked = result.runs.filter(
				(other) =>
					other.case === run.case &&
					["pass", "fail", "inconclusive"].includes(other.verdict) &&
					saturatedBy(other).length === 0,
			);
			const [lowest] = ranked
				.map((other) => percentile(other, 99))
				.toSorted((a, b) => (a.value ?? 0) - (b.value ?? 0));
			const own = percentile(run, 99);
			if (!ranked.includes(run) || ranked.length < 2) expect(cell.ratio).toBeNull();
			else if (own.value === lowest?.value) expect(cell.ratio).toBe("lowest");
			else {
				const ratio = (own.value ?? 0) / (lowest?.value ?? 0);
				const [text = "", said] = (cell.ratio ?? "").split(", ");
				expect(text).toMatch(/^[\d.]+x$/);
				// Of three digits, of more than ten times two.
				const wrong = Math.abs(Number.parseFloat(text) / ratio - 1);
				expect(wrong).toBeLessThanOrEqual(ratio >= 10 ? 0.05 : 0.005);
				const top = lowest?.high ?? Number.POSITIVE_INFINITY;
				expect(said === "overlaps").toBe(top >= (own.low ?? 0));
			}
			seen.add(cell.ratio === null ? "none" : (cell.ratio.at(-1) ?? ""));
		}
		// Lowest, a ratio, at least.
		expect(seen).toContain("t");
		expect(seen).toContain("x");
	});
});

describe("a cell", () => {
	const [first] = fixtureResult("repeats").runs.map((run) => run.case);
	const name = first ?? "";

	test("of several repeats is the one with the median p99", () => {
		const result = fixtureResult("repeats");
		for (const system of ["nats", "kafka"]) {
			const cell = cellOf(result, system, name);
			const runs = result.runs.filter((run) => run.system === system);
			const p99s = runs.map((run) => percentile(run, 99).value ?? 0).toSorted((a, b) => a - b);
			expect(bare(cell.value)).toBe(formatDuration(p99s[1] ?? 0));
		}
	});

	test("of an INVALID run is no one's best, and has no ratio", () => {
		const result = fixtureResult("repeats");
		const ratios = (invalid: string) => {
			const runs = result.runs.map(
				(run): Run => (run.system === invalid ? { ...run, verdict: "invalid" } : run),
			);
			return ["nats", "kafka"].map((system) => cellOf({ ...result, runs }, system, name).ratio);
		};
		const [nats, kafka] = ratios("");
		expect([nats, kafka]).toContain("lowest");
		// Of one alone there is nothing to compare.
		expect(ratios("nats")).toEqual([null, null]);
		expect(ratios("kafka")).toEqual([null, null]);
	});

	test("of a closed loop has what each system carried, with its range, and no order", () => {
		const result = readResult(publishedFolder("dissecting-message-queues"));
		const { columns, rows } = tableOf(result);
		const heads = [...columns.map(({ name }) => name), ...rows.map(({ cells }) => cells[0] ?? "")];
		expect(JSON.stringify(heads)).toContain("closed loop");
		for (const { heads, cell } of cellsOf(result)) {
			const throughput = heads.includes("throughput");
			const runs = result.runs.filter((run) => run.case === cell?.run.case);
			const own = runs.filter((run) => run.system === cell?.run.system);
			const known = own.flatMap(({ throughput: { received } }) => received ?? []);
			const perSecond = (value: number) => `${formatCount(value)}/s`;
			const range = [Math.min(...known), Math.max(...known)].map(perSecond).join(" to ");
			expect(known.length).toBe(3);
			expect(cell?.small.includes(range)).toBe(throughput);
			expect(known.map(perSecond).includes(cell?.value ?? "")).toBe(throughput);
			if (throughput) expect(cell?.ratio).toBeNull();
		}
	});

	test("tells of how many repeats it is only where those differ", () => {
		const result = readResult(publishedFolder("dissecting-message-queues"));
		const told = (all: Result) => new Set(cellsOf(all).flatMap(({ cell }) => cell?.small ?? []));
		expect(told(result)).not.toContain("of 3 repeats");
		const fewer = told({ ...result, runs: result.runs.slice(1) });
		for (const text of ["of 2 repeats", "of 3 repeats"]) expect(fewer).toContain(text);
	});

	test("of a case that a system did not meet is empty", () => {
		const result = publishedOnce("message-queue-latency");
		const [one, ...runs] = result.runs;
		const empty = cellsOf({ ...result, runs }).filter(({ cell }) => cell === null);
		expect(empty.map(({ heads }) => heads.toSorted())).toEqual([
			[one?.system, one?.case].toSorted(),
		]);
	});
});

describe("of one run", () => {
	test("its cell has the maximum besides, and as an alert what was lost", () => {
		const shown = (name: string) => {
			const result = fixtureResult(name);
			const [run] = result.runs as [Run];
			return cellOf(result, run.system, run.case);
		};
		const { run, small, alert } = shown("stall");
		expect(small).toContain(`max ${formatDuration(run.metrics.response?.max ?? 0)}`);
		expect(alert).toBeNull();
		expect(shown("lost")).toMatchObject({ alert: "12 lost" });
		expect(shown("lost").small).toContain("max > 30s");
	});
});

describe("a stall", () => {
	test("is told with its place, its slowest message, and what is usual", () => {
		const run = fixtureResult("stall").runs[0] as Run;
		const seconds = run.series.seconds.filter(({ second }) => second >= 0);
		const p99s = seconds.map(({ p99 }) => p99 ?? 0).toSorted((a, b) => a - b);
		const usual = p99s[Math.floor((p99s.length - 1) / 2)] ?? 0;
		const slowest = Math.max(...seconds.map(({ max }) => max ?? 0));
		const at = seconds.find(({ max }) => max === slowest)?.second ?? -1;
		const text = stallText(run) ?? "";
		expect(text).toContain(`up to ${formatDuration(slowest)}`);
		expect(text).toContain(`usually is ${formatDuration(usual)}`);
		const [, from, to] = /from (\d+) to (\d+) s/.exec(text) ?? [];
		expect(Number(from)).toBeLessThanOrEqual(at);
		expect(Number(to)).toBeGreaterThan(at);
	});

	test("seconds in which messages never completed are the worst stall", () => {
		const run = fixtureResult("lost").runs[0] as Run;
		const missing = run.series.seconds.reduce((n, s) => n + (s.missing ?? 0), 0);
		const text = stallText(run);
		expect(missing).toBe(12);
		expect(text).toMatch(/: \d+ messages? of it never completed/);
	});

	test("without a stall, or without seconds enough to know what is usual, nothing is told", () => {
		const run = fixtureResult("healthy").runs[0] as Run;
		expect(stallText(run)).toBeNull();
		const stall = fixtureResult("stall").runs[0] as Run;
		const seconds = stall.series.seconds.slice(0, 4);
		expect(stallText({ ...stall, series: { ...stall.series, seconds } })).toBeNull();
	});

	const [run] = fixtureResult("healthy").runs;
	if (run === undefined) throw new Error("no run");
	const second = (n: number, p99: number | null, max: number, missing = 0) => ({
		...(run.series.seconds[0] as Run["series"]["seconds"][number]),
		second: n,
		p99,
		max,
		missing,
		count: 1000,
	});
	const told = (...seconds: ReturnType<typeof second>[]) =>
		stallText({ ...run, series: { ...run.series, seconds } });

	test("the one is told that lost most, not the first that lost any", () => {
		const text = told(
			second(0, 1e5, 1e5),
			second(1, 1e5, 2e5, 1),
			second(2, 1e5, 1e5),
			second(3, 1e5, 1e5),
			second(4, null, 2e5, 9000),
			second(5, 1e5, 1e5),
		);
		expect(text).toContain("2 stalls, the worst from 4 to 5 s");
		expect(text).toContain("9 000 messages of it never completed");
	});

	test("of those that lost none the slowest is told", () => {
		const calm = [0, 1, 2, 3, 6, 7, 8].map((n) => second(n, 1e5, 1e5));
		expect(told(...calm, second(4, 2e6, 3e6), second(9, 5e6, 7e6))).toContain(
			"the worst from 9 to 10 s of the window: up to 7ms; p99 of a second usually is 100us",
		);
	});
});
