import { describe, expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { readResult } from "../result/result-files.ts";
import { saturatedBy } from "../result/saturated.ts";
import { fixtureResult, publishedFolder, publishedOnce } from "../result/stored.fake.ts";
import { formatCount, formatDuration } from "../units.ts";
import { answer, provenance, stallText } from "./answer.ts";
import type { Block, MatrixCell } from "./blocks.ts";

type Of<K extends Block["kind"]> = Extract<Block, { kind: K }>;

function matrixOf(result: Result): Of<"matrix"> {
	const [block] = answer(result);
	if (block?.kind !== "matrix") throw new Error("no matrix");
	return block;
}

function cellOf(result: Result, system: string, name: string): MatrixCell {
	const { cases, rows } = matrixOf(result);
	const row = rows.find((r) => r.system === system);
	const cell = row?.cells[cases.indexOf(name)];
	if (!cell) throw new Error(`no cell of ${system}, ${name}`);
	return cell;
}

function strip(result: Result): Of<"provenance"> {
	const [block] = provenance(result);
	if (block?.kind !== "provenance") throw new Error("no provenance");
	return block;
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
	const runOf = ({ to }: MatrixCell) => result.runs[Number(to.replace("run-", "")) - 1] as Run;
	const all = matrixOf(result).rows.flatMap(({ system, cells }) =>
		cells.flatMap((cell) => (cell === null ? [] : [{ system, cell }])),
	);

	test("has a cell for each run, with the figures of result.json", () => {
		expect(all).toHaveLength(result.runs.length);
		for (const { system, cell } of all) {
			const run = runOf(cell);
			expect(run.system).toBe(system);
			const [p50, p99] = [percentile(run, 50), percentile(run, 99)];
			expect(bare(cell.p50)).toBe(formatDuration(p50.value ?? 0));
			expect(bare(cell.p99)).toBe(formatDuration(p99.value ?? 0));
			const interval = ({ low, high }: typeof p50) =>
				`[${formatDuration(low ?? 0)}, ${high === null ? "\u221e" : formatDuration(high)}]`;
			expect(cell.p99Interval).toBe(interval(p99));
			expect(cell.p50Interval).toBe(interval(p50));
			expect(cell.curve).toEqual(run.metrics[run.main]?.curve.map(({ p, value }) => [p, value]));
		}
	});

	test("says how many times the lowest p99 of its case each is, and where intervals overlap", () => {
		const seen = new Set<string>();
		for (const { cell } of all) {
			const run = runOf(cell);
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
			expect(cell.repeats).toBe(3);
			expect(bare(cell.p99)).toBe(formatDuration(p99s[1] ?? 0));
		}
	});

	test.each<[Verdict, readonly Verdict[]]>([
		["fail", ["pass", "fail", "inconclusive"]],
		["invalid", ["fail", "invalid", "pass"]],
		["error", ["invalid", "error"]],
		["pass", ["pass", "pass"]],
	])("has the worst verdict of its gates: %s of %j", (worst, verdicts) => {
		const result = fixtureResult("repeats");
		const gate = result.gates[0];
		if (gate === undefined) throw new Error("no gate");
		const gates = verdicts.map((verdict) => ({ ...gate, verdict, system: "kafka", case: name }));
		expect(cellOf({ ...result, gates }, "kafka", name).verdict).toBe(worst);
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
		const { cases, unranked, rows } = matrixOf(result);
		const at = cases.indexOf("throughput");
		expect(unranked[at]).toContain("closed loop");
		for (const { system, cells } of rows) {
			const runs = result.runs.filter((run) => run.system === system && run.case === "throughput");
			const known = runs.flatMap(({ throughput }) => throughput.received ?? []);
			expect(known.length).toBe(3);
			const [low, high] = [Math.min(...known), Math.max(...known)];
			const perSecond = (value: number) => `${formatCount(value)}/s`;
			expect(cells[at]?.ratio).toBeNull();
			expect(cells[at]?.carried?.range).toBe(`${perSecond(low)} to ${perSecond(high)}`);
			expect(known.map(perSecond)).toContain(cells[at]?.carried?.text);
			expect(cells[cases.indexOf("latency")]?.carried).toBeNull();
		}
	});

	test("of one run of a closed loop alone is among its figures", () => {
		const result = readResult(publishedFolder("dissecting-message-queues"));
		const run = result.runs.find((one) => one.case === "throughput");
		if (run?.throughput.received == null) throw new Error("another report");
		const [block] = answer({ ...result, runs: [run] });
		if (block?.kind !== "counts") throw new Error("no figures");
		expect(block.items[0]).toMatchObject({
			name: "carried",
			text: `${formatCount(run.throughput.received)}/s`,
		});
	});

	test("of a case that a system did not meet is empty", () => {
		const result = publishedOnce("message-queue-latency");
		const [one] = result.runs;
		const runs = result.runs.filter((run) => run !== one);
		const { cases, rows } = matrixOf({ ...result, runs });
		const row = rows.find(({ system }) => system === one?.system);
		expect(row?.cells[cases.indexOf(one?.case ?? "")]).toBeNull();
	});
});

describe("of one run", () => {
	test("its first screen has p50, p99 and max of its main metric, and what was lost", () => {
		const result = fixtureResult("stall");
		const [run] = result.runs;
		const [counts] = answer(result);
		if (run === undefined || counts?.kind !== "counts") throw new Error("none");
		const of = (p: number) => formatDuration(percentile(run, p).value ?? 0);
		expect(counts.items.map(({ name, text }) => [name, bare(text)])).toEqual([
			["response p50", of(50)],
			["response p99", of(99)],
			["response max", formatDuration(run.metrics.response?.max ?? 0)],
			["lost", "0"],
		]);
	});

	test("lost messages are an alert, and a maximum is none when some never completed", () => {
		const [counts] = answer(fixtureResult("lost"));
		if (counts?.kind !== "counts") throw new Error("none");
		const [, , max, lost] = counts.items;
		expect(max?.text).toBe("> 30s");
		expect(lost).toMatchObject({ text: "12", alert: true });
	});

	test("a stall is told with its place, its slowest message, and what is usual", () => {
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
});

describe("where figures come from", () => {
	test("is told for each run, in its order, with when it began and which checks speak", () => {
		const result = fixtureResult("repeats");
		const { items } = strip(result);
		expect(items).toHaveLength(result.runs.length);
		for (const [i, run] of result.runs.entries()) {
			expect(items[i]?.to).toBe(`run-${i + 1}`);
			expect(items[i]?.text).toContain(`repeat ${run.repeat}`);
			expect(items[i]?.text).toContain(`begun ${run.startedAt?.slice(0, 16).replace("T", " ")}`);
			const spoken = run.validity.filter(({ status }) => ["warn", "invalid"].includes(status));
			const unknown = run.validity.filter(({ status }) => status === "unknown");
			if (unknown.length > 0)
				expect(items[i]?.text).toContain(
					`not checked: ${unknown.map(({ check }) => check).join(", ")}`,
				);
			for (const { check } of spoken.slice(0, 4)) expect(items[i]?.text).toContain(`${check}: `);
			if (spoken.length === 0) expect(items[i]?.text).toContain("no check speaks");
			expect(items[i]?.look === "ok").toBe(spoken.length === 0);
		}
	});

	test("a run whose queue grew is no warning among others, and not steady", () => {
		const result = readResult(publishedFolder("message-queue-latency"));
		const { items } = strip(result);
		const failed = items.filter(({ look }) => look === "fail");
		expect(failed.map(({ to }) => to)).toEqual(
			result.runs.flatMap(({ verdict }, i) => (verdict === "fail" ? [`run-${i + 1}`] : [])),
		);
		expect(failed.length).toBeGreaterThan(0);
		for (const { text } of failed) {
			expect(text).toContain("a queue grew");
			expect(text).not.toMatch(/; (not )?steady(;|$)/);
		}
	});

	test("counts those that checks speak against", () => {
		const result = fixtureResult("repeats");
		const [first, ...rest] = result.runs.map((run) => ({
			...run,
			validity: run.validity.map((check) => ({ ...check, status: "ok" as const })),
		}));
		if (first === undefined) throw new Error("no run");
		const clean = { ...result, runs: [first, ...rest] };
		expect(strip(clean).text).toMatch(/no check speaks against any$/);
		const doubted: Run = { ...first, verdict: "invalid" };
		const one = strip({ ...result, runs: [doubted, ...rest] });
		expect(one.text).toMatch(/checks speak against 1 of them$/);
		expect(one.items[0]?.look).toBe("invalid");
	});
});

test("a cell is FAIL where a queue grew, though every SLA line is met", () => {
	const result = fixtureResult("repeats");
	const [gate] = result.gates;
	const [run] = result.runs;
	if (gate === undefined || run === undefined) throw new Error("no run");
	const gates = [{ ...gate, verdict: "pass" as const, system: run.system, case: run.case }];
	const runs = result.runs.map((one, i) =>
		i === 0 ? { ...one, verdict: "fail" as const, why: "a queue grew" } : one,
	);
	const shown = (all: Result) => cellOf(all, run.system, run.case).verdict;
	expect(shown({ ...result, gates, runs })).toBe("fail");
	expect(shown({ ...result, gates })).toBe("pass");
});

describe("of several stalls", () => {
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

describe("the strip of runs", () => {
	const healthy = () => {
		const result = fixtureResult("healthy");
		const [run] = result.runs;
		if (!run || !result.environment) throw new Error("no run");
		const { cores } = result.environment;
		return { result, run, cores };
	};

	test("says how idle the machine was in the window, by its samples", () => {
		const { result, run, cores } = healthy();
		const used = [0.5, 0.25, 0.75].map((share) => share * cores);
		run.series.resources = [0.9, 2, 3, 4, 99].map((at, i) => ({
			at,
			generator: null,
			broker: null as (typeof run.series.resources)[number]["broker"],
			network: null,
			machine: { busyCores: used[i - 1] ?? cores, stealCores: null },
		}));
		expect(run.window).toMatchObject({ startNs: 1e9, endNs: 6e9 });
		expect(strip(result).text).toContain("machine 50 % idle");
		expect(strip(result).items[0]?.text).toContain("machine 50 % idle");
		// What ran between two ticks the kernel has only counted for its process.
		for (const one of run.series.resources)
			one.broker = {
				cores: 0.6 * cores,
				rssBytes: null,
				readBytesPerSecond: null,
				writeBytesPerSecond: null,
			};
		expect(strip(result).text).toContain("machine 35 % idle");
		// Of brokers elsewhere it is no time of this machine.
		run.sameHost = false;
		expect(strip(result).text).toContain("machine 50 % idle");
		run.series.resources = [];
		expect(strip(result).text).not.toContain("idle");
	});

	test("says of each run whether latency was steady, where a check has looked", () => {
		const { result, run } = healthy();
		const check = (status: "ok" | "warn" | "unknown") => {
			run.validity = run.validity.filter((c) => c.check !== "steady");
			run.validity.push({
				check: "steady",
				status,
				detail: "d",
				figure: null,
				limit: null,
				remedy: null,
			} as Run["validity"][number]);
			return strip(result).items[0]?.text.split("; ");
		};
		expect(check("ok")).toContain("steady");
		expect(check("warn")).toContain("not steady");
		expect(check("unknown")).not.toContain("steady");
	});
});
