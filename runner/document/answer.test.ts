import { describe, expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import { check, search } from "../render/hostile.fake.ts";
import { readResult } from "../result/result-files.ts";
import { saturatedBy } from "../result/select.ts";
import { fixtureResult, publishedFolder, publishedOnce } from "../result/stored.fake.ts";
import { formatCount, formatDuration } from "../units.ts";
import { answerSentence, matrix } from "./answer.ts";
import { type Inline, piecesOf, plain, type Table } from "./blocks.ts";
import { runOf } from "./standing.fake.ts";

function tableOf(result: Result): Table {
	const table = matrix(result).find(({ kind }) => kind === "table");
	if (table?.kind !== "table") throw new Error("no table");
	return table;
}

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
	};
}

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
			const { value, low, high } = percentile(run, 99);
			expect(bare(cell.value)).toBe(formatDuration(value ?? 0));
			const end = high === null ? "\u221e" : formatDuration(high);
			const [p99] = cell.small;
			expect(p99).toMatch(/^p99/);
			expect(p99).toContain(`[${formatDuration(low ?? 0)}, ${end}]`);
		}
	});

	test("says how many times the lowest p99 of its case each is, and where intervals overlap", () => {
		const seen = new Set<string>();
		for (const { cell } of all) {
			const { run } = cell;
			// A machine at its limit does not measure only the system.
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
		expect(seen).toContain("t");
		expect(seen).toContain("x");
	});
});

describe("a cell", () => {
	test("of a closed loop has what its system carried, and no order", () => {
		const result = readResult(publishedFolder("dissecting-message-queues"));
		const all = cellsOf(result).filter(({ heads }) => heads.includes("throughput"));
		expect(all.length).toBeGreaterThan(0);
		for (const { cell } of all) {
			expect(cell?.value).toBe(`${formatCount(cell?.run.throughput.received ?? 0)}/s`);
			expect(cell?.ratio).toBeNull();
		}
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

test("a cell has as an alert what was lost", () => {
	const shown = (name: string) => {
		const result = fixtureResult(name);
		const [run] = result.runs as [Run];
		return cellOf(result, run.system, run.case);
	};
	expect(shown("stall").alert).toBeNull();
	expect(shown("lost").alert).toBe("12 lost");
});

type Interval = Parameters<typeof runOf>[1];

const result = fixtureResult("repeats");
const run = (system: string, p99: number, interval?: Interval, more: Partial<Run> = {}) =>
	runOf(p99, interval, { system, case: "256B 3000/s", ...more });
const of = (...runs: Run[]): Result => ({ ...result, gates: [], runs, verdict: "pass" });
const [nats, redis] = [run("nats", 200, [190, 210]), run("redis", 205, [195, 220])];
const kafka = run("kafka", 1900, [1800, 2000]);
const load = (level: "os" | "memory") => ({ load: { ...nats.load, durabilityLevel: level } });
const full = run("full", 100, [90, 110], { validity: [check("cores")] });
const other = (one: Run): Run => ({ ...one, case: "1MiB 100/s" });
const closed = (system: string, received: number) =>
	run(system, 200, [190, 210], {
		load: { ...nats.load, schedule: { ...nats.load.schedule, kind: "closed" } },
		throughput: { ...nats.throughput, received },
	});

test.each<[string | null, Result]>([
	[
		"nats and redis cannot be told apart at p99 (~200us and ~205us); kafka takes 9.5x",
		of(kafka, redis, nats),
	],
	["nats is lowest at p99 (~200us); kafka takes 9.5x", of(nats, kafka)],
	[
		"nats is lowest at p99 (~200us); redis takes 1.5x with no interval",
		of(nats, run("redis", 300)),
	],
	[
		"nats is lowest at p99 (~200us); kafka takes 9.5x. full is not ranked: machine or generator was at its limit",
		of(full, nats, kafka),
	],
	[
		"nats is lowest at p99 (~200us); kafka takes 9.5x. Their durability differs: nats memory, kafka os",
		of({ ...nats, ...load("memory") }, { ...kafka, ...load("os") }),
	],
	[
		"256B 3000/s: nats is lowest at p99 (~200us); kafka takes 9.5x. The same holds in all 2 cases",
		of(nats, kafka, other(nats), other(kafka)),
	],
	[
		"256B 3000/s: nats is lowest at p99 (~200us); kafka takes 9.5x. The same holds in 1 of 2 cases",
		of(nats, kafka, other({ ...kafka, system: "nats" }), other({ ...nats, system: "kafka" })),
	],
	[
		"256B 3000/s: nats and redis cannot be told apart at p99 (~200us and ~205us); kafka takes 9.5x. The same holds in 1 of 2 cases",
		of(nats, redis, kafka, other(nats), other({ ...kafka, system: "redis" })),
	],
	[
		"kafka carries 9 000/s, nats 4 000/s; a closed loop shows no queueing",
		of(closed("nats", 4e3), closed("kafka", 9e3)),
	],
	["nats has a p99 of ~200us [190us, 210us] at 500/s", of(nats)],
	[
		"redis carries 40 000/s, nats 20 000/s with p99 < 10ms",
		{
			...of(nats),
			searches: [
				search({ sla: ["p99 < 10ms"] }),
				search({ system: "redis", lo: 40_000, sla: ["p99 < 10ms"] }),
			],
		},
	],
	// Of repeats the lowest; systems that had to meet other lines are not of one list.
	[
		"redis carries 40 000/s, nats 18 000/s with p99 < 10ms; kafka carries 30 000/s with p99 < 50ms",
		{
			...of(nats),
			searches: [
				search({ sla: ["p99 < 10ms"] }),
				search({ sla: ["p99 < 10ms"], repeat: 2, lo: 18_000 }),
				search({ system: "kafka", lo: 30_000, sla: ["p99 < 50ms"] }),
				search({ system: "redis", lo: 40_000, sla: ["p99 < 10ms"] }),
			],
		},
	],
	// None is confirmed; of a short or an interrupted result nothing follows.
	[null, { ...of(nats), searches: [search({ confirmed: false })] }],
	[null, { ...of(nats, kafka), quick: true }],
	[null, { ...of(nats, kafka), verdict: "interrupted" }],
	[null, of(full, nats)],
])("%s", (said, given) => {
	expect(answerSentence(given)).toBe(said);
});
