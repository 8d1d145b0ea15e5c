import { describe, expect, test } from "vitest";
import { Result, type Run } from "../model/result.ts";
import { built, type Fate, planOf, steady } from "../run/built.fake.ts";
import type { Figure } from "./charts/figure.ts";
import { parseCsv, rowsOfCsv } from "./csv.fake.ts";
import { renderCsv } from "./csv.ts";
import { csvOf } from "./page/table.ts";
import { buildResult } from "./result.ts";
import { fixtureResult } from "./stored.fake.ts";

const NAMES = ["healthy", "stall", "lag", "lost", "repeats", "interrupted", "no-data"];

/** A number as it stands in a cell: empty is not measured, and no 0. */
const number = (text: string | undefined) =>
	text === undefined || text === "" ? null : Number(text);

describe.each(NAMES)("result.csv of %s", (name) => {
	const result = fixtureResult(name);
	const rows = rowsOfCsv(renderCsv(result));
	const each = (check: (row: Record<string, string>, run: Run) => void) =>
		result.runs.forEach((run, i) => {
			check(rows[i] ?? {}, run);
		});

	test("has one row per run, in their order, and says which it is", () => {
		expect(rows).toHaveLength(result.runs.length);
		each((row, run) => {
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
				pattern: "round-trip",
				load: "constant",
				main_metric: run.main,
			});
			const { messages = 0, perNs = 1 } = run.load.rate ?? {};
			expect(number(row.rate_per_second)).toBeCloseTo((messages / perNs) * 1e9);
			expect(number(row.message_bytes)).toBe(run.load.messageBytes);
			expect(number(row.duration_ns)).toBe(run.load.durationNs);
		});
	});

	test("has every counter and rate as in result.json", () => {
		each((row, run) => {
			const cells: Record<string, number | null> = {
				intended: run.intended,
				not_offered: run.notOffered,
				sent: run.sent,
				acked: run.acked,
				failed: run.failed,
				unknown: run.unknown,
				received: run.received,
				lost: run.lost,
				duplicated: run.duplicated,
				reordered: run.reordered,
				late: run.late,
				timed_out: run.timedOut,
				redelivered: run.redelivered,
				corrupted: run.corrupted,
				client_dropped: run.clientDropped,
				foreign: run.foreign,
				reconnects: run.reconnects,
				sent_per_second: run.throughput.sent,
				received_per_second: run.throughput.received,
				achieved_per_second: run.throughput.achieved,
			};
			for (const [column, value] of Object.entries(cells))
				expect([column, number(row[column])]).toEqual([column, value]);
		});
	});

	test("has every percentile, maximum and support of every metric as in result.json", () => {
		each((row, run) => {
			for (const [metric, m] of Object.entries(run.metrics)) {
				expect(number(row[`${metric}_count`])).toBe(m?.count ?? null);
				expect(number(row[`${metric}_censored`])).toBe(m?.censored ?? null);
				expect(number(row[`${metric}_min_ns`])).toBe(m?.min ?? null);
				expect(number(row[`${metric}_mean_ns`])).toBe(m?.mean ?? null);
				expect(number(row[`${metric}_max_ns`])).toBe(m?.max ?? null);
				for (const p of [50, 90, 99, 99.9, 99.99]) {
					const found = m?.percentiles.find((q) => q.p === p);
					expect(number(row[`${metric}_p${p}_ns`])).toBe(found?.value ?? null);
					expect(row[`${metric}_p${p}_support`]).toBe(
						found === undefined ? "" : found.beyondTimeout ? "beyond-timeout" : found.support,
					);
				}
			}
		});
	});
});

test("what the messages around a percentile waited for is there, and empty where nobody knows", () => {
	const plan = planOf({ schedule: steady(1000, 1, 1) });
	const fates = Array.from({ length: 2000 }, (_, i): Fate => {
		const queuedNs = i === 1500 ? 5000 : 0;
		const sentNs = i * 1e6 + queuedNs + 20;
		return { queuedNs, sentNs, receivedNs: [sentNs + 300] };
	});
	const [row] = rowsOfCsv(renderCsv(buildResult(built(plan, fates))));
	expect(row).toMatchObject({
		breakdown_p50_messages: "999",
		breakdown_p50_queued_ns: "0",
		breakdown_p50_lag_ns: "20",
		breakdown_p50_service_ns: "300",
		breakdown_max_messages: "1",
		breakdown_max_queued_ns: "5000",
		"breakdown_p99.9_messages": "",
	});
	const [before] = rowsOfCsv(renderCsv(fixtureResult("stall")));
	expect(before).toMatchObject({ breakdown_p50_queued_ns: "" });
});

test("an empty percentile says whether samples were too few, or never completed", () => {
	const [lost] = rowsOfCsv(renderCsv(fixtureResult("lost")));
	expect(lost).toMatchObject({
		response_censored: "12",
		"response_p99.9_ns": "",
		"response_p99.9_support": "beyond-timeout",
		"response_p99.99_ns": "",
		"response_p99.99_support": "none",
		ack_p99_ns: "",
		ack_p99_support: "",
	});
});

test("a percentile that an SLA names has columns of its own, in their place", () => {
	const plan = planOf({
		sla: [
			{
				kind: "percentile",
				text: "p95 < 1s",
				metric: "response",
				percentile: 95,
				op: "<",
				limitNs: 1e9,
				abort: false,
			},
		],
		limits: [{ metric: "response", limitNs: 1e9 }],
	});
	const fates = Array.from({ length: plan.schedule.messages }, (_, i) => ({
		receivedNs: [i * 1e6 + 100_000],
	}));
	const [names = []] = parseCsv(renderCsv(buildResult(built(plan, fates))));
	const at = names.indexOf("response_p95_ns");
	expect(names[at - 2]).toBe("response_p90_ns");
	expect(names[at + 2]).toBe("response_p99_ns");
	expect(new Set(names).size).toBe(names.length);
});

describe("texts from outside", () => {
	const healthy = fixtureResult("healthy");
	const rowOf = (scenario: string) => rowsOfCsv(renderCsv({ ...healthy, scenario }))[0]?.scenario;

	test.each([
		'quotes " and "" more',
		"commas, and\nnew\r\nlines",
		"<script>alert(1)</script> | \u{1f680}",
		"x".repeat(300),
		" leading and trailing ",
	])("%j comes back as it was", (text) => {
		expect(rowOf(text)).toBe(text);
	});

	test.each([
		"=1+1",
		"+1",
		"-1",
		"@SUM(A1)",
		"\t=1",
		"\r=1",
		"\n=1",
		"\uff1d1+1",
		'=HYPERLINK("http://x","y")',
	])("%j is no formula to a spreadsheet", (text) => {
		expect(rowOf(text)).toBe(`'${text}`);
	});

	test("numbers have no such mark, and are not rounded", () => {
		const [run] = healthy.runs as [Run];
		const throughput = { ...run.throughput, received: 1000 / 3 };
		const result = { ...healthy, runs: [{ ...run, throughput }] };
		expect(rowsOfCsv(renderCsv(result))[0]?.received_per_second).toBe(String(1000 / 3));
	});
});

test("100 runs are 100 rows below the same names, and each row takes a few kB", () => {
	const result = fixtureResult("stall");
	const runs = Array.from({ length: 100 }, () => result.runs).flat();
	const text = renderCsv(Result.parse({ ...result, runs }));
	expect(rowsOfCsv(text)).toHaveLength(100);
	expect(text.length).toBeLessThan(100 * 2000 + 5000);
});

test("numbers of a chart that are copied as CSV begin no formula either", () => {
	const rows = [{ name: '=HYPERLINK("x")', text: "1.02", word: "same" }];
	expect(csvOf({ kind: "ratios", rows } as unknown as Figure)).toBe(
		`figure,ratio,verdict\n"'=HYPERLINK(""x"")",1.02,same\n`,
	);
});
