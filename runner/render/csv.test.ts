import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { built, type Fate, planOf, steady } from "../evidence/built.fake.ts";
import type { Run } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { parseCsv, rowsOfCsv } from "./csv.fake.ts";
import { renderCsv } from "./csv.ts";

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
