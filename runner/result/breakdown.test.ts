import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { editLines, firstRun } from "../evidence/fixture.fake.ts";
import { seeded } from "../histogram/random.fake.ts";
import type { Plan } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { breakdownText, partsText } from "./breakdown.ts";
import { made, once } from "./made.fake.ts";
import { fixtureResult } from "./stored.fake.ts";

const MS = 1e6;
const WARMUP = 1000;

/** In ns. */
interface Parts {
	readonly queued: number;
	readonly lag: number;
	readonly service: number;
}
const took = ({ queued, lag, service }: Parts) => queued + lag + service;

/** 1000/s for 10 s, after 1 s in which each message takes 7 s; null: it never completes. */
function runOf(
	parts: readonly (Parts | null)[],
	changes: Partial<Parameters<typeof planOf>[0]> = {},
): { folder: string; run: Run } {
	const plan = planOf({ schedule: steady(1000, 1, 10), ...changes });
	const warmup = { queued: 1 * MS, lag: 2 * MS, service: 7000 * MS };
	const fates = Array.from({ length: plan.schedule.messages }, (_, i): Fate => {
		const due = i * MS;
		const part = i < WARMUP ? warmup : (parts[i - WARMUP] ?? null);
		if (part === null) return { sentNs: due, receivedNs: [null] };
		const at = due + took(part);
		const sentNs = due + part.queued + part.lag;
		return {
			sentNs,
			queuedNs: part.queued,
			receivedNs: [at],
			...(plan.acks ? { ackedNs: at } : {}),
		};
	});
	return made(plan, fates);
}

const partsAt = (run: Run, p: number) => run.breakdown?.find((one) => one.p === p);

/** Against the plain list of messages: the parts are the means of all that took between `from` and `to`, and the percentile is among them. */
function expectMeans(run: Run, parts: readonly (Parts | null)[]) {
	const all = parts.filter((m) => m !== null);
	const sorted = parts.map((m) => (m === null ? Infinity : took(m))).sort((a, b) => a - b);
	const shown = run.metrics.response?.percentiles.filter(({ support }) => support !== "none");
	expect(run.breakdown?.map(({ p }) => p)).toEqual([...(shown?.map(({ p }) => p) ?? []), 100]);
	for (const { p, messages, from, to, ...means } of run.breakdown ?? []) {
		const rank = Math.ceil((sorted.length * p) / 100 - 1e-9);
		const value = sorted[rank - 1] as number;
		if (value === Infinity) {
			expect([messages, from, to]).toEqual([0, null, null]);
			expect(Object.values(means)).toEqual([null, null, null, null]);
			continue;
		}
		const [low, high] = [from as number, to as number];
		expect(low, `p${p}`).toBeLessThanOrEqual(value);
		expect(high, `p${p}`).toBeGreaterThanOrEqual(value);
		const around = all.filter((m) => took(m) >= low && took(m) <= high);
		expect(messages, `p${p}`).toBe(around.length);
		const mean = (of: (m: Parts) => number) =>
			around.reduce((sum, m) => sum + of(m), 0) / around.length;
		expect(means.response, `p${p}`).toBeCloseTo(mean(took), 3);
		for (const part of ["queued", "lag", "service"] as const)
			expect(means[part], `p${p} ${part}`).toBeCloseTo(
				mean((m) => m[part]),
				3,
			);
		// They are near it, and as many as possible.
		expect(high / low, `p${p}`).toBeLessThan(1.25 ** 2);
		if (messages < 10 && p < 100) {
			const left = all.map(took).filter((ns) => ns < low || ns > high);
			const near = left.filter((ns) => ns > value / 1.17 && ns < value * 1.17);
			expect(near, `p${p}`).toEqual([]);
		}
	}
}

/** The broker holds the send calls of the 500 messages from 4 s on until 4.5 s. */
const stalled = Array.from({ length: 10_000 }, (_, i): Parts => {
	const queued = i >= 4000 && i < 4500 ? (4500 - i) * MS : 0;
	const lag = 20_000 + (i % 7) * 1000;
	return { queued, lag, service: 200_000 + (i % 100) * 1000 };
});

const stalledRun = once(() => runOf(stalled).run);

describe("what the messages around a percentile waited for", () => {
	test("is what the list of all messages says", () => {
		expectMeans(stalledRun(), stalled);
	});

	test.each([1, 2, 3])("is so of any messages (%i)", (seed) => {
		const random = seeded(seed);
		const ns = (most: number) => Math.floor(most ** random());
		const some = Array.from({ length: 10_000 }, (): Parts => {
			const queued = random() < 0.3 ? ns(1e9) : 0;
			return { queued, lag: ns(1e6), service: ns(1e8) };
		});
		expectMeans(runOf(some).run, some);
	});

	test("is put together from all clients", () => {
		const clients = {
			producers: 4,
			connections: 4,
			topics: ["a", "b", "c", "d"],
			client: { index: 0, count: 4 },
		};
		const { run } = runOf(stalled, clients);
		expectMeans(run, stalled);
		expect(run.breakdown).toEqual(stalledRun().breakdown);
	});

	test("is not known where a percentile lies among messages that never completed", () => {
		const some = stalled.map((m, i) => (i % 500 === 3 ? null : m));
		const { run } = runOf(some);
		expectMeans(run, some);
		expect(partsAt(run, 99)?.response).toBeGreaterThan(0);
		for (const p of [99.9, 100])
			expect(partsAt(run, p)).toMatchObject({ response: null, messages: 0 });
	});

	test("has more than one bucket where that holds fewer than 10, and nothing that is far away", () => {
		// 9 900 of 1 ms; then p99.9 is the 90th of 100 from 100 ms on, each 2 % above the one before.
		const some = Array.from({ length: 10_000 }, (_, i): Parts => {
			const service = i < 9900 ? MS : Math.round(100 * MS * 1.02 ** (i - 9900));
			return { queued: 0, lag: 0, service };
		});
		const { run } = runOf(some);
		expectMeans(run, some);
		expect(partsAt(run, 99.9)?.messages).toBeGreaterThanOrEqual(10);
		expect(partsAt(run, 99.9)?.messages).toBeLessThan(16);
		// Alone, 10 times as far from the others as they are wide.
		const alone = some.map((m, i) =>
			i === 9989 ? { ...m, service: 3e9 } : i > 9989 ? { ...m, service: 2e10 } : m,
		);
		expect(partsAt(runOf(alone).run, 99.9)).toMatchObject({
			messages: 1,
			response: 3e9,
			service: 3e9,
		});
	});
});

describe("nothing is broken down", () => {
	const none = (changes: Partial<Plan>) =>
		expect(runOf(stalled, changes).run.breakdown).toBeUndefined();

	test("of a closed loop, and of a backlog, which have no response times", () => {
		const { schedule } = planOf({ schedule: steady(1000, 1, 10) });
		none({ schedule: { ...schedule, kind: "closed", rate: null } as never });
		none({ pattern: "backlog", backlog: { pauseNs: 3e9, resumeNs: 5e9, messages: 100 } });
	});

	test("where one of several clients did not count it, or an earlier mqbench has measured", () => {
		const two = {
			producers: 2,
			connections: 2,
			topics: ["a", "b"],
			client: { index: 0, count: 2 },
		};
		const { folder, run } = runOf(stalled, two);
		expect(run.breakdown).toHaveLength(5);
		editLines(join(firstRun(folder), "client-1.jsonl"), (lines) =>
			lines.filter(({ type }) => type !== "breakdown"),
		);
		const [again] = buildResult(folder).runs as [Run];
		expect(again.breakdown).toBeUndefined();
		expect(breakdownText(again)).toBeNull();
		expect(fixtureResult("stall").runs[0]?.breakdown).toBeUndefined();
	});
});

test("a file whose breakdown has another number of responses contradicts itself", () => {
	const { folder } = runOf(stalled);
	editLines(join(firstRun(folder), "client-0.jsonl"), (lines) => {
		for (const line of lines) if (line.type === "breakdown") line.buckets[0].messages++;
		return lines;
	});
	const [run] = buildResult(folder).runs as [Run];
	expect(run.validity.find((c) => c.check === "identities")).toMatchObject({
		status: "error",
		detail: expect.stringContaining("10001 and 10000"),
	});
});

describe("the line", () => {
	const base = fixtureResult("stall").runs[0] as Run;
	/** A percentile of response with this value, and the parts of the messages around it. */
	const line = (
		value: number | null,
		{ queued, lag, service }: Parts,
		{ p = 99, weak = false, ...more } = {},
	) => {
		const { response: summary } = base.metrics;
		if (summary === null) throw new Error("another fixture");
		const support = weak ? ("weak" as const) : ("ok" as const);
		const percentile = {
			p,
			value,
			low: value,
			high: value,
			support,
			needs: 1,
			nEff: null,
			beyondTimeout: value === null,
		};
		const parts = {
			p,
			queued,
			lag,
			service,
			response: queued + lag + service,
			messages: 14,
			from: 288 * MS,
			to: 304 * MS,
			...more,
		};
		const response = { ...summary, percentiles: [percentile] };
		const metrics = { ...base.metrics, response };
		return partsText({ ...base, metrics }, parts);
	};
	const parts = { queued: 302.6 * MS, lag: 31_000, service: 210_000 };

	test("adds up, in the unit of the whole", () => {
		expect(line(303e6, parts)).toBe("p99 303ms = queued 302.6ms + lag 31us + service 0.2ms");
		expect(line(303e6, parts, { weak: true })).toBe(
			"p99 ~303ms = queued 302.6ms + lag 31us + service 0.2ms",
		);
		expect(line(412_000, { queued: 0, lag: 12_340, service: 399_660 })).toBe(
			"p99 412us = queued 0s + lag 12.3us + service 399.7us",
		);
		expect(line(1.52e9, { queued: 1.5004e9, lag: 400, service: 0.0196e9 })).toBe(
			"p99 1.52s = queued 1.5s + lag 400ns + service 0.02s",
		);
	});

	test("says of which messages it is where their mean is not the percentile", () => {
		expect(line(299e6, parts)).toBe(
			"p99 299ms: 14 messages around it took 303ms on average = queued 302.6ms + lag 31us + service 0.2ms",
		);
	});

	test("has a negative service where two clocks disagree", () => {
		expect(line(3000, { queued: 0, lag: 5000, service: -2000 })).toBe(
			"p99 3us = queued 0s + lag 5us + service -2us",
		);
	});

	test("says that nobody knows, of messages that did not complete", () => {
		const { run } = runOf(stalled.map((m, i) => (i % 50 === 0 ? null : m)));
		expect(breakdownText(run)).toBe(
			"p99 lies among messages that did not complete: where their time went is not known",
		);
	});

	test("is about the deepest percentile that the samples carry, where they do not carry p99", () => {
		const few = stalled.slice(0, 50);
		const schedule = { ...steady(1000, 1, 10), messages: 1050, durationNs: 5e7 };
		expect(breakdownText(runOf(few, { schedule }).run)).toMatch(/^p90 /);
		expect(breakdownText(stalledRun())).toMatch(
			/^p99 ~400ms: 1\d messages around it .* = queued 39\d.*ms \+ lag 2.*us \+ service 0\.2ms$/,
		);
	});
});
