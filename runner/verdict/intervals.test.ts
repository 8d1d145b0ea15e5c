import { describe, expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import { intendedInWindow } from "../plan/samples.ts";
import { intendedPerInterval, limitIntervals } from "./intervals.ts";

const { plan } = collect(firstRun(fixture("healthy")));
const withSchedule = (messages: number, perNs: number, warmupNs: number, durationNs: number) => ({
	...plan,
	schedule: { ...plan.schedule, rate: { messages, perNs }, warmupNs, durationNs },
});

describe("messages intended per 100 ms", () => {
	test.each([
		[3000, 1e9, 5e9, 10e9],
		[7, 3e9, 1e9, 10e9],
		[90, 60e9, 0, 5e9],
		[123_457, 1e9, 333_333_333, 1_050_000_000],
		[1, 7, 123, 1_000_000],
	])(
		"of %d per %d ns, after %d ns for %d ns, are counted one by one",
		(messages, perNs, warmupNs, durationNs) => {
			const counts = new Array<number>(Math.ceil(durationNs / 1e8)).fill(0);
			for (let i = 0n; ; i++) {
				const offset = Number((i * BigInt(perNs)) / BigInt(messages)) - warmupNs;
				if (offset >= durationNs) break;
				if (offset >= 0)
					counts[Math.floor(offset / 1e8)] = (counts[Math.floor(offset / 1e8)] ?? 0) + 1;
			}
			expect(intendedPerInterval(withSchedule(messages, perNs, warmupNs, durationNs))).toEqual(
				counts,
			);
		},
	);
});

describe("the counts over a limit", () => {
	test("of the stall are 490 in five intervals of 100 ms", () => {
		const run = collect(firstRun(fixture("stall")));
		const intervals = limitIntervals(run, 0);
		expect(intervals).toHaveLength(100);
		expect(intervals.map((i) => i.over).filter((n) => n > 0)).toEqual([100, 100, 100, 100, 90]);
		expect(intervals.findIndex((i) => i.over > 0)).toBe(40);
		expect(intervals.reduce((n, i) => n + i.n, 0)).toBe(intendedInWindow(run.plan));
	});

	test("have lost messages where they were intended", () => {
		const intervals = limitIntervals(collect(firstRun(fixture("lost"))), 0);
		expect(intervals[20]).toEqual({ n: 100, over: 12, overWithoutLag: 12, censored: 12 });
		expect(intervals.filter((i) => i.censored > 0)).toHaveLength(1);
	});

	test("have every message of a second without a line as censored", () => {
		const run = collect(firstRun(fixture("healthy")));
		const seconds = run.seconds.filter((s) => s.second !== 3);
		const intervals = limitIntervals({ ...run, seconds }, 0);
		expect(intervals.slice(30, 40).every((i) => i.censored === 100 && i.over === 100)).toBe(true);
		expect(intervals[29]?.censored).toBe(0);
	});
});
