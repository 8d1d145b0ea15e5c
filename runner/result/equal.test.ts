import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { plain } from "../document/blocks.ts";
import { documentOf } from "../document/document.ts";
import { fixture } from "../evidence/fixture.fake.ts";
import type { MetricSummary, Result, Run } from "../model/result.ts";
import { rowsOfCsv } from "../render/csv.fake.ts";
import { renderTerminal } from "../render/rendered.fake.ts";
import { writeReports } from "../render/write.ts";
import { formatCount, formatDuration, formatDurationExact } from "../units.ts";
import { countsOf, linesOf, type Medium, rowsOf, wordsIn } from "./equal.fake.ts";
import { readResult } from "./result-files.ts";
import { publishedFolder } from "./stored.fake.ts";
import { runTitle } from "./words.ts";

/**
 * Recorded runs: the document says the numbers of result.json, and each report says, row by row, what the document has for it. What a
 * document must hold at least is asserted too: one that says nothing would agree with everything.
 */

const FOLDERS = [
	...[
		"healthy",
		"stall",
		"lag",
		"lost",
		"repeats",
		"interrupted",
		"no-data",
		"failover",
		"clients",
	].map(fixture),
	publishedFolder("nats-stall"),
	publishedFolder("message-queue-latency"),
];

const DEEP = ["p50", "p99", "p99.9", "max"];
const COUNTS: readonly [name: string, of: keyof Run][] = [
	["intended", "intended"],
	["sent", "sent"],
	["acked", "acked"],
	["received", "received"],
	["lost", "lost"],
	["failed", "failed"],
	["unknown", "unknown"],
	["duplicated", "duplicated"],
	["reordered", "reordered"],
	["redelivered", "redelivered"],
	["corrupted", "corrupted"],
	["not offered", "notOffered"],
	["late", "late"],
];

const CSV_COUNTS: typeof COUNTS = [
	["timed_out", "timedOut"],
	["client_dropped", "clientDropped"],
	["foreign", "foreign"],
	["reconnects", "reconnects"],
];

/** What a person must read, from the numbers in result.json. */
function textsOf(run: Run): Map<string, string> {
	const texts = new Map<string, string>();
	const beyond =
		run.state === "complete" ? `> ${formatDurationExact(run.load.timeoutNs)}` : "stopped";
	const max = (m: MetricSummary) =>
		m.censored > 0 ? beyond : m.max === null ? "n/a" : formatDuration(m.max);
	for (const [metric, m] of Object.entries(run.metrics)) {
		if (m === null) continue;
		for (const p of m.percentiles)
			texts.set(
				`${metric} p${p.p}`,
				p.support === "none" && (m.n * (100 - p.p)) / 100 >= m.censored
					? "n/a"
					: p.value === null
						? beyond
						: `${p.support === "weak" ? "~" : ""}${formatDuration(p.value)}`,
			);
		texts.set(`${metric} max`, max(m));
	}
	const count = (n: number | null) => (n === null ? "n/a" : formatCount(n));
	for (const [name, of] of COUNTS) texts.set(name, count(run[of] as number | null));
	texts.set("received/s", count(run.throughput.received));
	texts.set("achieved rate", count(run.throughput.achieved));
	texts.set("sent rate", count(run.throughput.sent));
	texts.set("acked rate", count(run.throughput.sent));
	texts.set("verdict", run.verdict.toUpperCase());
	return texts;
}

/** What a person must read of faults and clients. */
function faultTexts({ failover, window }: Run): string[][] {
	const time = (ns: number) => `${Number(((ns - window.startNs) / 1e9).toFixed(3))}s`;
	const after = (ns: number | null) =>
		ns === null
			? "not before the next fault or the end"
			: ns === 0
				? "at once"
				: `after ${formatDuration(ns)}`;
	return failover.map((f) => [
		time(f.calledNs ?? f.beganNs),
		formatDuration((f.endedNs ?? 0) - f.beganNs),
		`${formatDuration(f.unavailableNs ?? 0)} from ${time(f.unavailableFromNs ?? 0)} on`,
		after(f.recoveredNs),
		after(f.drainedNs),
	]);
}

function clientTexts({ clients }: Run): string[][] {
	return clients.map((c) => [
		c.machine ?? "n/a",
		formatCount(c.intended ?? 0),
		formatCount(c.sent ?? 0),
		`${c.lagP99Weak ? "~" : ""}${formatDuration(c.lagP99 ?? 0)}`,
		`${Number((c.cores ?? 0).toPrecision(2))}`,
		c.clock === null ? "this machine's" : `\u00b1${formatDuration(c.clock.boundNs)} by probes`,
	]);
}

const scratch = mkdtempSync(join(tmpdir(), "mqbench-equal-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe.each(FOLDERS.map((folder) => [folder.split("/").at(-1) ?? "", folder]))(
	"all reports of %s",
	(name, from) => {
		const folder = join(scratch, name);
		cpSync(from, folder, { recursive: true });
		const built = buildResult(folder);
		writeReports(folder, built);
		const file = (report: string) => readFileSync(join(folder, report), "utf8");
		const result = readResult(folder);
		const document = documentOf(result);
		const terminal = renderTerminal(result, {
			// Nothing is shortened, or printed row by row.
			columns: 400,
			colour: false,
			folder: "reports/x",
		});
		const reports: readonly [Medium, string][] = [
			["terminal", terminal],
			["markdown", file("report.md")],
			["page", file("report.html")],
		];

		test("result.json is what was computed", () => {
			expect(result).toEqual(built);
		});

		test.each(reports)("%s says all that the document has for it", (medium, text) => {
			const words = wordsIn(text, medium);
			const lines = linesOf(document, medium);
			expect(lines.length).toBeGreaterThan(result.gates.length);
			expect(lines.filter((line) => !words.includes(line))).toEqual([]);
		});

		test("every gate: verdict, measured and limit, in each of them and in junit.xml", () => {
			const xml = wordsIn(file("junit.xml"), "terminal");
			const page = linesOf(document, "page");
			for (const g of result.gates) {
				const bare = (text: string) => text.replaceAll(/\s+/g, "");
				const [where, sla] = [`${g.system}, ${g.case}`, g.sla].map(bare) as [string, string];
				// Of several repeats, what broke has the worst.
				const measured = [g.measured, ...g.measured.split(", ")].map(bare);
				const judged = ["pass", "fail"].includes(g.verdict);
				const parts = [sla, g.verdict.toUpperCase(), ...(judged ? [bare(g.limit)] : [])];
				const rows = page.filter(
					(line) =>
						parts.every((part) => line.includes(part)) &&
						(!judged || measured.some((part) => line.includes(part))),
				);
				const alone = result.gates.length === distinct(result);
				expect(rows.filter((row) => alone || row.includes(where))).not.toEqual([]);
				expect(xml).toContain(bare(`measured: ${g.measured}, limit: ${g.limit}`));
			}
		});

		test("every run: percentiles and counts are those of result.json", () => {
			result.runs.forEach((run, i) => {
				const texts = textsOf(run);
				const [[, ...metrics] = [], ...rows] = rowsOf(document, i + 1, "percentile");
				const figures = new Map(
					rows.flatMap(([p, ...cells]) => metrics.map((metric, k) => [`${metric} ${p}`, cells[k]])),
				);
				for (const [figure, text] of figures)
					if (texts.has(figure))
						expect([runTitle(run, result), figure, text]).toEqual([
							runTitle(run, result),
							figure,
							texts.get(figure),
						]);
				if (metrics.length > 0)
					for (const p of DEEP) expect(figures.has(`${run.main} ${p}`)).toBe(true);
				if (run.state === "never") return;
				const counts = countsOf(document, i + 1);
				for (const [name] of COUNTS)
					expect([name, counts.get(name)]).toEqual([name, texts.get(name)]);
			});
		});

		test("every fault and every client, where there are some", () => {
			const section = document.sections.find((one) => one.kind === "fold" && one.id === "failover");
			const [table] = section?.kind === "fold" ? section.blocks : [];
			const faults = table?.kind === "table" ? table.rows : [];
			expect(faults.map(({ cells }) => cells.slice(-5).map(plain))).toEqual(
				result.runs.flatMap(faultTexts),
			);
			result.runs.forEach((run, i) => {
				const [, ...rows] = rowsOf(document, i + 1, "client");
				expect(rows.map(([, ...row]) => row)).toEqual(clientTexts(run));
			});
		});

		test("result.csv: every number, to the last digit", () => {
			const rows = rowsOfCsv(file("result.csv"));
			expect(rows).toHaveLength(result.runs.length);
			const number = (text: string | undefined) =>
				text === undefined || text === "" ? null : Number(text);
			result.runs.forEach((run, i) => {
				const row = rows[i] ?? {};
				expect(row).toMatchObject({
					scenario: result.scenario,
					run_id: result.runId,
					started_at: run.startedAt ?? "",
					system: run.system,
					case: run.case,
					repeat: String(run.repeat),
					verdict: run.verdict,
					state: run.state,
					broker: run.load.broker,
					broker_version: run.versions?.server ?? run.brokerVersion ?? "",
					durability: run.load.durability,
					main_metric: run.main,
					pattern: run.load.pattern,
					load: run.load.schedule.kind,
				});
				const { messages = 0, perNs = 1 } = run.load.rate ?? {};
				expect(number(row.rate_per_second)).toBeCloseTo((messages / perNs) * 1e9);
				expect(number(row.message_bytes)).toBe(run.load.messageBytes);
				expect(number(row.duration_ns)).toBe(run.load.durationNs);
				expect(number(row.achieved_per_second)).toBe(run.throughput.achieved);
				for (const [name, of] of [...COUNTS, ...CSV_COUNTS])
					expect([name, number(row[name.replace(" ", "_")])]).toEqual([name, run[of]]);
				expect(number(row.received_per_second)).toBe(run.throughput.received);
				expect(number(row.sent_per_second)).toBe(run.throughput.sent);
				expect(number(row.start_skew_ns)).toBe(run.startSkewNs);
				expect(number(row.clock_bound_ns)).toBe(run.clockBoundNs);
				expect(number(row.faults)).toBe(run.failover.length);
				expect(row.topology).toBe(run.topology ?? "");
				for (const [k, f] of run.failover.entries())
					for (const [name, value] of [
						["called", f.calledNs],
						["began", f.beganNs],
						["ended", f.endedNs],
						["unavailable", f.unavailableNs],
						["unavailable_from", f.unavailableFromNs],
						["recovered", f.recoveredNs],
						["drained", f.drainedNs],
					] as const)
						expect(number(row[`fault_${k + 1}_${name}_ns`])).toBe(value);
				for (const [metric, m] of Object.entries(run.metrics)) {
					for (const of of ["min", "mean", "max"] as const)
						expect(number(row[`${metric}_${of}_ns`])).toBe(m?.[of] ?? null);
					for (const of of ["count", "censored"] as const)
						expect(number(row[`${metric}_${of}`])).toBe(m?.[of] ?? null);
					for (const p of m?.percentiles ?? []) {
						expect(number(row[`${metric}_p${p.p}_ns`])).toBe(p.value);
						const support = p.beyondTimeout ? "beyond-timeout" : p.support;
						expect(row[`${metric}_p${p.p}_support`]).toBe(support);
					}
				}
			});
		});
	},
);

test("a number that is another one in a report is not what the document says", () => {
	const result = buildResult(fixture("stall"));
	const text = renderTerminal(result, { columns: 400, colour: false, folder: "x" });
	const lines = linesOf(documentOf(result), "terminal");
	const missing = (said: string) =>
		lines.filter((line) => !wordsIn(said, "terminal").includes(line));
	expect(missing(text)).toEqual([]);
	expect(missing(text.replaceAll("400ms", "401ms")).length).toBeGreaterThan(2);
});

/** Lines of which each is asked for one system and case only. */
function distinct({ gates }: Result): number {
	return new Set(gates.map(({ sla }) => sla)).size;
}
