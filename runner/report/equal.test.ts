import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type MetricSummary, Result, type Run } from "../model/result.ts";
import { fixture } from "../run/fixture.fake.ts";
import { formatCount, formatDuration, formatDurationExact } from "../units.ts";
import { rowsOfCsv } from "./csv.fake.ts";
import {
	type Reading,
	readHtml,
	readJunit,
	readMarkdown,
	readTerminal,
	rowsInHtml,
	rowsInMarkdown,
	runName,
	terminalHas,
} from "./equal.fake.ts";

import { buildResult } from "./result.ts";
import { publishedFolder } from "./stored.fake.ts";
import { renderTerminal } from "./terminal.ts";
import { writeReports } from "./write.ts";

/**
 * One recorded run, every report of it read back as its reader sees it: they all say the same numbers. What each must hold at least
 * is asserted too: a report that says nothing would agree with all the others.
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

/** What a person must read, from the numbers in result.json. */
function textsOf(run: Run): Map<string, string> {
	const texts = new Map<string, string>();
	const beyond =
		run.state === "complete"
			? `> ${formatDurationExact(run.load.timeoutNs)}`
			: "stopped";
	const max = (m: MetricSummary) =>
		m.censored > 0 ? beyond : m.max === null ? "n/a" : formatDuration(m.max);
	for (const [metric, m] of Object.entries(run.metrics)) {
		if (m === null) continue;
		for (const p of m.percentiles)
			texts.set(
				`${metric} p${p.p}`,
				p.support === "none"
					? "n/a"
					: p.value === null
						? beyond
						: `${p.support === "weak" ? "~" : ""}${formatDuration(p.value)}`,
			);
		texts.set(`${metric} max`, max(m));
	}
	const count = (n: number | null) => (n === null ? "n/a" : formatCount(n));
	for (const [name, of] of COUNTS)
		texts.set(name, count(run[of] as number | null));
	texts.set("received/s", count(run.throughput.received));
	texts.set("achieved rate", count(run.throughput.achieved));
	texts.set("sent rate", count(run.throughput.sent));
	texts.set("acked rate", count(run.throughput.sent));
	texts.set("verdict", run.verdict.toUpperCase());
	return texts;
}

/** What a person must read of faults and clients. */
function faultTexts({ failover, window }: Run): string[][] {
	const time = (ns: number) =>
		`${Number(((ns - window.startNs) / 1e9).toFixed(3))}s`;
	const after = (ns: number | null) =>
		ns === null
			? "not in this run"
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
		formatDuration(c.lagP99 ?? 0),
		`${Number((c.cores ?? 0).toPrecision(2))}`,
		`${formatDuration(-(c.firstClaimNs ?? 0))} ahead`,
		c.clock === null
			? "this machine's"
			: `\u00b1${formatDuration(c.clock.boundNs)} by probes over SSH, moved ${formatDuration(Math.abs((c.clock.afterNs ?? 0) - c.clock.beforeNs))}`,
	]);
}

const scratch = mkdtempSync(join(tmpdir(), "mqbench-equal-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe.each(
	FOLDERS.map((folder) => [folder.split("/").at(-1) ?? "", folder]),
)("all reports of %s", (name, from) => {
	const folder = join(scratch, name);
	cpSync(from, folder, { recursive: true });
	const built = buildResult(folder);
	writeReports(folder, built);
	const file = (report: string) => readFileSync(join(folder, report), "utf8");
	const result = Result.parse(JSON.parse(file("result.json")));
	const terminal = renderTerminal(result, {
		columns: 100,
		colour: false,
		folder: "reports/x",
	});
	const known = { runs: result.runs };
	const html = readHtml(file("report.html"), known);
	const markdown = readMarkdown(file("report.md"), known);
	const printed = readTerminal(terminal, known);
	const junit = readJunit(file("junit.xml"));
	const gates = new Map(
		result.gates.map((g) => [
			`${g.system}, ${g.case}: ${g.sla}`,
			{
				verdict: g.verdict.toUpperCase(),
				measured: g.measured,
				limit: g.limit,
			},
		]),
	);

	test("result.json is what was computed", () => {
		expect(result).toEqual(built);
	});

	test("every gate: verdict, measured and limit", () => {
		expect(html.gates).toEqual(gates);
		expect(markdown.gates).toEqual(
			new Map([...gates].map(([key, g]) => [key, { ...g, limit: null }])),
		);
		expect(
			new Map(
				result.gates.map((g) => [
					`${g.system}, ${g.case}: ${g.sla}`,
					junit.gates.get(`${g.system}/${g.case}: ${g.sla}`),
				]),
			),
		).toEqual(gates);
		const passed = result.gates.filter((g) => g.verdict === "pass").length;
		for (const gate of result.gates) {
			const said = { ...gate, verdict: gate.verdict.toUpperCase() };
			const of = { passed, gates: result.gates.length };
			expect([gate.sla, gate.system, terminalHas(terminal, said, of)]).toEqual([
				gate.sla,
				gate.system,
				true,
			]);
		}
	});

	test("every run: each figure that stands in a report is that of result.json", () => {
		for (const reading of [html, markdown, printed])
			for (const run of result.runs) {
				const texts = textsOf(run);
				for (const [figure, text] of reading.runs.get(runName(run)) ?? [])
					expect([runName(run), figure, text]).toEqual([
						runName(run),
						figure,
						texts.get(figure),
					]);
			}
	});

	test("and p50, p99, p99.9, max, lost and received are in each; all counts in report.html", () => {
		const has = (reading: Reading, run: Run, figures: readonly string[]) => {
			const found = reading.runs.get(runName(run)) ?? new Map();
			expect([
				runName(run),
				figures.filter((figure) => !found.has(figure)),
			]).toEqual([runName(run), []]);
		};
		for (const run of result.runs) {
			const measured = run.metrics[run.main] !== null;
			const main = measured ? DEEP.map((p) => `${run.main} ${p}`) : [];
			has(html, run, [
				...main,
				...COUNTS.map(([name]) => name),
				...(run.throughput.received === null ? [] : ["received/s"]),
			]);
			for (const reading of [markdown, printed]) {
				has(reading, run, [...main, "lost"]);
				const rates = reading.runs.get(runName(run));
				expect(rates?.has("received/s") || rates?.has("received")).toBe(true);
			}
		}
	});

	test("every fault and every client, where there are some", () => {
		const flat = (text: string) => text.replaceAll(/\s+/g, " ");
		const xml = file("junit.xml").replaceAll("&lt;", "<");
		for (const [kind, textsOf] of [
			["fault", faultTexts],
			["client", clientTexts],
		] as const)
			result.runs.forEach((run, i) => {
				const texts = textsOf(run);
				const cells = (rows: (readonly string[])[]) =>
					rows.map(([, ...row]) => row);
				expect(cells(rowsInHtml(file("report.html"), i + 1, kind))).toEqual(
					texts,
				);
				if (result.runs.length > 1 || texts.length === 0) return;
				expect(cells(rowsInMarkdown(file("report.md"), kind))).toEqual(texts);
				for (const text of texts.flat())
					for (const report of [terminal, xml])
						expect([text, flat(report).includes(text)]).toEqual([text, true]);
			});
	});

	test("how far the network is, where somebody has measured it", () => {
		const flat = (text: string) => text.replaceAll(/\s+/g, " ");
		for (const run of result.runs) {
			const [one, ...others] = run.network.map(
				({ client, node, p50Ns }) =>
					`client ${client} to node ${node} ${formatDuration(p50Ns ?? 0)}`,
			);
			if (one === undefined) continue;
			const text = `etwork: ${[one, ...others].join(", ")} (medians of 20 TCP connects)`;
			for (const report of [file("report.html"), file("report.md"), terminal])
				expect(flat(report)).toContain(text);
		}
	});

	test("result.csv: every number, to the last digit", () => {
		const rows = rowsOfCsv(file("result.csv"));
		expect(rows).toHaveLength(result.runs.length);
		const number = (text: string | undefined) =>
			text === undefined || text === "" ? null : Number(text);
		result.runs.forEach((run, i) => {
			const row = rows[i] ?? {};
			expect(row.verdict).toBe(run.verdict);
			for (const [name, of] of COUNTS)
				expect([name, number(row[name.replace(" ", "_")])]).toEqual([
					name,
					run[of],
				]);
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
				expect(number(row[`${metric}_max_ns`])).toBe(m?.max ?? null);
				for (const p of m?.percentiles ?? [])
					expect(number(row[`${metric}_p${p.p}_ns`])).toBe(p.value);
			}
		});
	});
});

test("the readers read: a number that is another one in a report is another one to them", () => {
	const folder = join(scratch, "changed");
	cpSync(fixture("stall"), folder, { recursive: true });
	const result = buildResult(folder);
	writeReports(folder, result);
	const changed = (report: string) =>
		readFileSync(join(folder, report), "utf8").replaceAll("400ms", "401ms");
	const terminal = renderTerminal(result, {
		columns: 100,
		colour: false,
		folder: "x",
	}).replaceAll("400ms", "401ms");
	const known = { runs: result.runs };
	const run = "nats, 256B 1000/s, repeat 1";
	const gate = "nats, 256B 1000/s: p99 < 10ms";
	const html = readHtml(changed("report.html"), known);
	const markdown = readMarkdown(changed("report.md"), known);
	for (const reading of [html, markdown, readTerminal(terminal, known)])
		expect(reading.runs.get(run)?.get("response p99")).toBe("~401ms");
	for (const reading of [html, markdown])
		expect(reading.gates.get(gate)?.measured).toBe("401ms");
	expect(
		readJunit(changed("junit.xml")).gates.get("nats/256B 1000/s: p99 < 10ms")
			?.measured,
	).toBe("401ms");
	const [first] = result.gates;
	const of = { passed: 2, gates: 3 };
	expect(
		first && terminalHas(terminal, { ...first, verdict: "FAIL" }, of),
	).toBe(false);
});
