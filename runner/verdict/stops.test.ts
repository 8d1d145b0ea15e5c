import { describe, expect, test } from "vitest";
import type { Collected } from "../evidence/collect.ts";
import type { Plan } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";
import { cpuMs } from "../tests/cpu.fake.ts";
import { without } from "./intervals.ts";
import { type Any, judged } from "./judged.fake.ts";
import { testOver } from "./statistics.ts";
import { stopsIn } from "./stops.ts";

const MS = 1e6;
type Stop = readonly [fromMs: number, untilMs: number];
/** "1225-1255 1300-1400" */
const inMs = (text: string): Stop[] =>
	text === "" ? [] : text.split(" ").map((one) => one.split("-").map(Number) as unknown as Stop);
const inNs = (stops: string | readonly Stop[]) =>
	(typeof stops === "string" ? inMs(stops) : stops).map(
		([from, until]) => [from * MS, until * MS] as const,
	);

/** Stops of a run with 1 s of warm-up and a window of 10 s at 1000/s, ms since T0, and a limit of 10 ms. */
const found = (
	stops: string | readonly Stop[],
	limitMs = 10,
	/** Messages in flight, ten times a second. */
	waits: readonly number[] = [],
) => {
	const schedule = {
		kind: "constant",
		warmupNs: 1000 * MS,
		durationNs: 10_000 * MS,
		messages: 11_000,
		rate: { messages: 1000, perNs: 1e9 },
	};
	const plan = { schedule, client: { count: 1 } } as unknown as Plan;
	const ticks = Array.from({ length: 11 }, (_, k) => ({
		at: k + 1,
		backlog: waits.slice(k * 10, k * 10 + 10),
	}));
	const collected = { plan, stops: inNs(stops), ticks, counters: {} };
	return stopsIn(collected as unknown as Collected, limitMs * MS);
};
const every = (gapMs: number, ms: number): Stop[] =>
	Array.from({ length: 11_000 / gapMs }, (_, i) => [i * gapMs + 8, i * gapMs + 8 + ms] as const);

describe("what was due near a stop of the generator", () => {
	test.each([
		["the limit before and its length after", "1225-1255", { 2: 0.7 }],
		["in all intervals of that time", "1305-1505", { 2: 0.05, 3: 1, 4: 1, 5: 1, 6: 1, 7: 0.05 }],
		["twice near is not more than all", "1210-1250 1250-1300", { 2: 1, 3: 0.5 }],
		["from the warm-up on", "940-980", { 0: 0.2 }],
		["up to the window's end", "10970-11200", { 99: 0.4 }],
		["a stop as long as the limit breaks none", "1250-1260", {}],
		["before and after the window", "100-200 11010.1-12000", {}],
	])("%s", (_, stops, expected) => {
		const near = [...found(stops).intervals];
		const rounded = near.map(([i, part]) => [i, Math.round(part * 1e9) / 1e9]);
		expect(Object.fromEntries(rounded)).toEqual(expected);
	});

	test("is at most three times as long as the stops, whatever they are", () => {
		for (const ms of [1, 7, 10, 11, 20, 50])
			for (const gap of [20, 50, 100, 333]) {
				const stops = every(gap, ms);
				const near = sum([...found(stops).intervals.values()]) / 100;
				expect(near).toBeLessThanOrEqual((3 * ms) / gap + 1e-9);
				if (ms <= 10) expect(near).toBe(0);
			}
	});

	test.each<[string, (s: number) => number, number]>([
		["until as few are in flight as before", (s) => Math.max(2, 1000 - 250 * (s - 4)), 8],
		["its length after it where nothing is seen to wait", () => 2, 5],
		["to the end of a window that ends before that", (s) => 1000 - 50 * (s - 4), 11],
		[
			"until more wait than it can have left: a stall of the system",
			(s) => (s < 6 ? 1000 - 250 * (s - 4) : 1500),
			6,
		],
	])("is what a stop of 1 s has left waiting, %s", (_, waiting, overS) => {
		const waits = Array.from({ length: 110 }, (_, i) =>
			i < 30 ? 2 : waiting(Math.max(4, (i + 1) / 10)),
		);
		const near = [...found("3000-4000", 10, waits).intervals];
		expect(near.at(-1)?.[0]).toBe(Math.ceil((overS - 1) * 10) - 1);
		expect(near[0]?.[0]).toBe(19);
	});

	test("is its length after a short stop of a system that never works it off", () => {
		const waits = Array.from({ length: 110 }, (_, i) => (i < 30 ? 2 : 150));
		const near = [...found("3000-3200", 10, waits).intervals];
		expect(near.at(-1)?.[0]).toBe(23);
	});

	test("leaves a FAIL of a slow broker on a machine that stops all the time for a moment", () => {
		// 7 ms in each 100 ms are near 19 ms of load with a limit of 5 ms.
		const near = found(every(100, 7), 5).intervals;
		const slow = (over: number) => {
			const one = { n: 100, over, overWithoutLag: over, censored: 0 };
			return testOver(without(Array(100).fill(one), near), 99);
		};
		expect(slow(100)).toMatchObject({ verdict: "fail", n: 8100, over: 8100 });
		expect(slow(25)).toMatchObject({ verdict: "fail", n: 8100, over: 600 });
		expect(slow(19)).toMatchObject({ verdict: "pass", n: 8100, over: 0 });
	});
});

/** In this run 490 messages were late, due in the half second from 5 s on; none of that was lag. */
const stalled = (stops: string | readonly Stop[]) =>
	judged("stall", {
		lines: (lines: Any[]) => [...lines, { type: "stops", stops: inNs(stops) }],
	});

test.each([
	["a stop that nothing makes up for in the window", "5000-7000", "invalid"],
	["one that was made up for", "2000-2300", "fail"],
	["one that is too short to explain it", "5850-6000", "fail"],
])("a rate that is not reached, with %s", (_, stops, verdict) => {
	const limit = { kind: "tally", text: "x", op: ">=", limit: 990, abort: false };
	const { judgements } = judged("healthy", {
		plan: (plan) => {
			plan.sla = ["throughput", "achieved"].map((tally) => ({ ...limit, tally }));
		},
		lines: (lines: Any[]) => {
			const totals = lines.find((l) => l.type === "totals");
			Object.assign(totals, { receivedInWindow: 4000, sentInWindow: 4000 });
			return [...lines, { type: "stops", stops: inNs(stops) }];
		},
	});
	expect(judgements.map((j) => j.verdict)).toEqual([verdict, verdict]);
	if (verdict === "invalid")
		expect(judgements[0]?.why).toBe(
			"the load generator was stopped once, for 1s, so this says nothing about the system: 800/s received; the SLA asks for at least 990/s; without that time, it would be 1 000/s",
		);
});

describe("a gate that FAILs", () => {
	test.each<[string, string | Stop[]]>([
		["without any stop", ""],
		["by a stop at another time", "8000-8490"],
		["by one that began when all of it was late", "5501-5990"],
		["by a short one in it", "5200-5250"],
		["by many that are shorter than the limit", every(20, 9)],
		["by a stop in each 100 ms that is longer", every(100, 12)],
	])("is the system's %s", (_, stops) => {
		expect(stalled(stops).judgements[0]?.verdict).toBe("fail");
	});
});

test("a thousand stops in a run of a week are looked at within a second", () => {
	const hours = 168;
	const seconds = hours * 3600;
	const schedule = {
		kind: "constant",
		warmupNs: 0,
		durationNs: seconds * 1000 * MS,
		messages: seconds * 10,
		rate: { messages: 10, perNs: 1e9 },
	};
	const plan = { schedule, client: { count: 1 } } as unknown as Plan;
	const ticks = Array.from({ length: seconds }, (_, k) => ({
		at: k + 1,
		backlog: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
	}));
	const stops = Array.from(
		{ length: 1000 },
		(_, i): Stop => [...([i * 600_000 + 1000, i * 600_000 + 1300] as const)],
	);
	const collected = { plan, stops: inNs(stops), ticks, counters: {} };
	stopsIn({ ...collected, stops: [] } as unknown as Collected, MS);
	expect(cpuMs(() => stopsIn(collected as unknown as Collected, MS))).toBeLessThan(1000);
});
