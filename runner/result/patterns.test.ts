import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { built, type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { seeded } from "../histogram/random.fake.ts";
import type { Plan, Sla } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { offsetNs } from "../plan/offset.ts";
import { limit, p99, shown, tally } from "./made.fake.ts";

const MS = 1e6;
const S = 1e9;

/** The percentile of a sorted array: rank ceil(n p), those that never came at its end. */
function percentileOf(values: readonly number[], n: number, p: number) {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.ceil((n * p) / 100 - 1e-9) - 1];
}

function expectPercentiles(
	metric: Run["metrics"]["response"],
	values: readonly number[],
	n = values.length,
) {
	expect(metric).not.toBeNull();
	expect(metric).toMatchObject({ count: values.length, n });
	for (const p of [50, 90, 99]) {
		const found = metric?.percentiles.find((x) => x.p === p)?.value;
		const exact = percentileOf(values, n, p) as number;
		expect(found, `p${p}`).toBeGreaterThanOrEqual(exact);
		expect(found, `p${p}`).toBeLessThanOrEqual(exact * 1.001 + 1);
	}
	expect(metric?.max).toBe(Math.max(...values));
	expect(metric?.min).toBe(Math.min(...values));
}

describe("fan-out to 3 subscribers", () => {
	const schedule = steady(1000, 1, 4);
	const random = seeded(1);
	// Subscriber 2 is slow, and misses every 500th message.
	const fates = Array.from({ length: schedule.messages }, (_, i): Fate => {
		const due = i * MS;
		const delay = () => Math.round((0.2 + random()) * MS);
		return { receivedNs: [due + delay(), due + delay(), i % 500 === 0 ? null : due + 5 * delay()] };
	});
	const window = fates
		.slice(1000)
		.map((f, i) => (f.receivedNs ?? []).filter((t) => t !== null).map((t) => t - (i + 1000) * MS));
	const plan = (sla: Sla[] = []) =>
		planOf({
			pattern: "fan-out",
			subscriptions: 3,
			consumerConnections: 3,
			schedule,
			sla,
			limits: [limit("response", 20), limit("last", 20)],
		});

	test("has a sample of response for each copy, and the missing ones in the denominator", () => {
		const { run } = shown(plan(), fates);
		expectPercentiles(run.metrics.response, window.flat(), 12_000);
		expect(run.metrics.response?.censored).toBe(8);
		expect(run.metrics.service?.n).toBe(12_000);
		expect(run.metrics.lag?.n).toBe(4000);
	});

	test("has one sample of last for each message, of the slowest subscriber", () => {
		const { run, text } = shown(plan(), fates);
		const last = window.filter((w) => w.length === 3).map((w) => Math.max(...w));
		expectPercentiles(run.metrics.last, last, 4000);
		expect(text).toMatch(/\n {2}last {4}/);
	});

	test("counts copies, and says so", () => {
		const { run, text, html, markdown } = shown(plan([tally("lost", "==", 0)]), fates);
		expect(run).toMatchObject({ sent: 4000, received: 11_992, lost: 8 });
		expect(run.validity.find((c) => c.check === "identities")?.status).toBe("ok");
		for (const out of [text, html, markdown]) {
			expect(out).toMatch(/copies lost/);
			expect(out).toMatch(/3 subscribers/);
		}
		expect(text).toContain("10 copies lost in warm-up and window");
	});

	test("judges p99 on copies: 12 000 of them, 120 may be over the limit", () => {
		const { result } = shown(plan([p99("response", 20)]), fates);
		expect(result.gates[0]).toMatchObject({ verdict: "pass", n: 12_000, over: 8, censored: 8 });
		expect(result.gates[0]?.allowed).toBeCloseTo(120, 6);
	});

	test("fails last where one slow subscriber in three spoils every message", () => {
		const judged = planOf({ ...plan([p99("last", 2)]), limits: [limit("last", 2)] });
		const { result } = shown(judged, fates);
		expect(result.gates[0]).toMatchObject({ verdict: "fail", n: 4000 });
	});

	test("whose counts are not those of 3 copies is a bug", () => {
		const wrong = planOf({ ...plan(), subscriptions: 4 });
		const folder = built(plan(), fates);
		writeFileSync(`${folder}/runs/01-nats/plan.json`, JSON.stringify(wrong));
		const result = buildResult(folder);
		expect(result.errorCause).toBe("internal");
		expect(result.runs[0]?.why).toContain("4 x (sent - failed - unknown)");
	});
});

describe("publish", () => {
	const schedule = steady(1000, 1, 4);
	const random = seeded(2);
	const fates = Array.from({ length: schedule.messages }, (_, i): Fate => {
		const failed = i % 1000 === 7;
		return failed ? { failed } : { ackedNs: i * MS + Math.round((1 + random()) * MS) };
	});
	const plan = (sla: Sla[]) =>
		planOf({
			pattern: "publish",
			acks: true,
			schedule,
			sla,
			limits: [limit("response", 20), limit("ack", 20)],
		});
	const acks = fates
		.map((f, i) => (f.ackedNs ?? 0) - i * MS)
		.filter((ns, i) => i >= 1000 && ns > 0);

	test("ends at the acknowledgement, and nothing is received: not 0, nowhere", () => {
		const { run, text, html, markdown } = shown(plan([]), fates);
		expectPercentiles(run.metrics.response, acks, 4000);
		expectPercentiles(run.metrics.ack, acks, 4000);
		expect(run).toMatchObject({ acked: 3996, received: null, lost: null });
		expect(run.throughput).toMatchObject({ sent: 999, received: null });
		for (const out of [text, markdown]) expect(/received|\blost\b/.exec(out)).toBeNull();
		expect(/<dt>(copies )?(received|lost)/.exec(html)).toBeNull();
	});

	test("has messages that failed over every limit, and those that no line counts left open", () => {
		expect(shown(plan([p99("response", 20)]), fates).result.gates[0]).toMatchObject({
			verdict: "pass",
			n: 4000,
			over: 4,
			censored: 4,
		});
		const { result } = shown(plan([tally("unknown", "==", 0)]), fates);
		expect(result.verdict).toBe("inconclusive");
		expect(result.runs[0]?.why).toContain("5 failed of 5 000 messages");
	});

	test("cannot be judged by what is received", () => {
		const { result } = shown(plan([tally("throughput", ">=", 900)]), fates);
		expect(result.gates[0]).toMatchObject({
			verdict: "error",
			why: "received was not measured",
		});
		const sent = shown(plan([tally("throughput.sent", ">=", 999)]), fates);
		expect(sent.result.gates[0]).toMatchObject({ verdict: "pass", measured: "999/s" });
	});
});

describe("request-reply and work-queue", () => {
	const schedule = steady(1000, 1, 4);
	const fates = Array.from({ length: schedule.messages }, (_, i) => ({
		receivedNs: [i * MS + 300_000],
	}));

	test("replies are what is received", () => {
		const { run, text } = shown(
			planOf({ pattern: "request-reply", consumers: 2, consumerConnections: 1, schedule }),
			fates,
		);
		expect(run.received).toBe(4000);
		expect(text).toContain("received counts replies");
		expect(text).toContain("2 responders");
	});

	test("consumers and their work are named; order among several is n/a", () => {
		const { run, text, html } = shown(
			planOf({
				pattern: "work-queue",
				consumers: 4,
				consumerConnections: 2,
				work: { meanNs: 5 * MS, distribution: "exponential" },
				schedule,
				sla: [tally("reordered", "==", 0)],
			}),
			fates,
		);
		expect(run.reordered).toBeNull();
		expect(run.verdict).toBe("error");
		for (const out of [text, html])
			expect(out.replaceAll(/\s+/g, " ")).toContain(
				"4 consumers with 5ms of work per message (exponential)",
			);
		expect(text).toContain("reordered was not measured");
	});
});

test.each([
	[
		"reconnects",
		{ reconnects: 3 },
		{},
		["ok", "warn"],
		{ reconnects: 3 },
		"clients reconnected 3 times",
	],
	[
		"throttled",
		{ throttledNs: 3e9 },
		{},
		[undefined, "warn"],
		{ throttledNs: 3e9 },
		"throttled by the broker for 3s",
	],
	[
		"requests",
		{ requests: 12_345 },
		// 0.40 USD a million.
		{ requestUsd: 0.4e-6 },
		[undefined, undefined],
		{ requests: { count: 12_345, usd: expect.closeTo(0.004938, 9) } },
		"12 345 requests of the whole run, which the service would bill with about 0.00494 USD",
	],
] as const)(
	"%s are told where there are some, and never a 0 where nobody counts",
	(name, more, own, status, values, words) => {
		const schedule = steady(1000, 1, 4);
		const fates = Array.from({ length: schedule.messages }, (_, i) => ({
			receivedNs: [i * MS + 300_000],
		}));
		const plan = { ...planOf({ schedule }), ...own };
		const calm = shown(plan, fates);
		const { run, text, check } = shown(plan, fates, more);
		expect([calm.check(name), check(name)]).toEqual(status);
		expect(calm.run.reconnects).toBe(0);
		for (const left of ["throttledNs", "requests"]) expect(calm.run).not.toHaveProperty(left);
		expect(run).toMatchObject(values);
		expect(text.replaceAll(/\s+/g, " ")).toContain(words);
	},
);

describe("connections that come and go", () => {
	const schedule = steady(100, 1, 4);
	// Every 50th is refused; a login takes 2 ms, the first message another one.
	const fates = Array.from({ length: schedule.messages }, (_, i): Fate => {
		const due = i * 10 * MS;
		return i % 50 === 0 ? { failed: true } : { ackedNs: due + 2 * MS, receivedNs: [due + 3 * MS] };
	});
	const plan = (clients = 1) =>
		planOf({
			pattern: "connect",
			schedule,
			hold: 100,
			inFlight: 10,
			acks: true,
			connections: clients,
			producers: clients,
			client: { index: 0, count: clients },
			sla: [tally("failed", "<", 9)],
		});
	const own = { opened: 490, held: 100, closed: 385, gone: 5 };

	test("have times of their own, and a sentence with their counts", () => {
		const { run, text } = shown(plan(), fates, { connections: own });
		expect(run).toMatchObject({ acked: 392, failed: 8, lost: 0, connections: own });
		expect(run.metrics.ack).toMatchObject({ count: 392, min: 2 * MS, max: 2 * MS });
		expect(run.metrics.response).toMatchObject({ count: 392, min: 3 * MS });
		expect(run.validity.find((c) => c.check === "identities")?.status).toBe("ok");
		const words = text.replaceAll(/\s+/g, " ");
		expect(words).toContain("ack is until it is logged in, response until its message is back");
		expect(words).toContain(
			"of 490 connections, warm-up included, 385 were closed, 5 lost while open, 100 open at the end",
		);
	});

	test("of several clients are added up", () => {
		const half = { opened: 245, held: 50, closed: 193, gone: 2 };
		const { run } = shown(plan(2), fates, { connections: half });
		expect(run.connections).toEqual({ opened: 490, held: 100, closed: 386, gone: 4 });
		expect(run.validity.find((c) => c.check === "identities")?.status).toBe("ok");
	});

	test.each([
		[{ ...own, opened: 491, closed: 386 }, "acked and connections opened: 490 and 491"],
		[{ ...own, gone: 4 }, "connections opened = held + closed + gone: 490 and 489"],
		[{ ...own, held: 101, gone: 4 }, "101 connections held, of 100"],
	])("have to add up: %o", (connections, words) => {
		const { run } = shown(plan(), fates, { connections });
		expect(run).toMatchObject({ verdict: "error", why: expect.stringContaining(words) });
	});

	test("are absent if some attempts hung, and in other patterns", () => {
		expect(shown(plan(), fates).run).not.toHaveProperty("connections");
	});
});

describe("a poisson schedule", () => {
	const schedule = { ...steady(1000, 1, 10), kind: "poisson" as const, seed: 7 };
	const first = planOf({ schedule });
	// What the seed gives for the window.
	const due = offsetsBefore(first, 11 * S);
	const plan = (sla: Sla[] = []) =>
		planOf({
			schedule: {
				...schedule,
				warmupMessages: due.filter((ns) => ns < S).length,
				messages: due.length,
			},
			sla,
			limits: [limit("response", 5)],
		});
	const fates = due.map((ns, i) => ({ receivedNs: [ns + (i % 200 === 0 ? 8 : 1) * MS] }));

	test("intends in each 100 ms what its seed says, and not the mean", () => {
		const { run, result } = shown(plan([p99("response", 5)]), fates);
		expect(run.validity.find((c) => c.check === "identities")?.status).toBe("ok");
		expect(result.gates[0]).toMatchObject({
			verdict: "pass",
			censored: 0,
			n: due.filter((ns) => ns >= S).length,
		});
		expect(new Set(perTenth(due)).size).toBeGreaterThan(10);
	});
});

function offsetsBefore(plan: Plan, ns: number): number[] {
	const due: number[] = [];
	for (let i = 0; offsetNs(plan.schedule, i) < ns; i++) due.push(offsetNs(plan.schedule, i));
	return due;
}

function perTenth(due: readonly number[]): number[] {
	const counts = Array.from({ length: 110 }, () => 0);
	for (const ns of due) {
		const i = Math.floor(ns / 1e8);
		counts[i] = (counts[i] ?? 0) + 1;
	}
	return counts;
}
