import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { seeded } from "../histogram/random.fake.ts";
import { median } from "../stats/trend.ts";
import { isSteady, opensAt } from "./warm-up.ts";

const LIMITS = { fromNs: 14e9, toNs: 90e9 };

function opening(p50s: readonly (number | null)[]): number | null {
	for (let at = 1; at <= p50s.length; at++) {
		const startNs = opensAt(p50s.slice(0, at), LIMITS);
		if (startNs !== null) return startNs / 1e9;
	}
	return null;
}

function unlevel(p50s: readonly (number | null)[]): boolean[] {
	return p50s.slice(11).map((_, i) => !isSteady(p50s.slice(0, i + 12)));
}

describe("when a window opens", () => {
	test("12 level seconds and the time to tell: the first second that a plan allows", () => {
		expect(opening(Array(20).fill(1e6))).toBe(14);
		expect(opensAt(Array(11).fill(1e6), LIMITS)).toBeNull();
	});

	test("a JVM that gets faster all the time, from 129 ms over 15 ms in second 8 to 4 ms in second 24, is waited for", () => {
		const at = (second: number) =>
			second < 8
				? 129e6 * (15 / 129) ** ((second - 1) / 7)
				: second < 24
					? 15e6 * (4 / 15) ** ((second - 8) / 16)
					: 4e6;
		const p50s = Array.from({ length: 50 }, (_, i) => at(i + 1));
		const opened = opening(p50s) ?? 0;
		expect(opened).toBeGreaterThan(24);
		expect(opened).toBeLessThan(40);
	});

	test("a queue that grows, and answers that stay away, never open it", () => {
		const grows = Array.from({ length: 70 }, (_, i) => 1e6 * 1.05 ** i);
		expect(opening(grows)).toBeNull();
		const silent = Array.from({ length: 70 }, (_, i) => (i % 12 ? 1e6 : null));
		expect(opening(silent)).toBeNull();
	});

	test("not at the latest time nor after it: then it opens by the plan", () => {
		const rising = Array.from({ length: 76 }, (_, i) => 1e6 * 1.05 ** i);
		const late = [...rising, ...Array(11).fill(rising.at(-1)), 1e7];
		for (const length of [88, 89, 100])
			expect(opensAt([...late, ...Array(70).fill(1e7)].slice(0, length), LIMITS)).toBeNull();
	});
});

describe("level seconds", () => {
	/** The share of 4000 windows with this scatter that count as level. */
	const taken = (scatter: number) => {
		const random = seeded(7);
		const noise = () =>
			Math.exp(scatter * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
		const windows = Array.from({ length: 4000 }, () =>
			Array.from({ length: 12 }, () => 1e6 * noise()),
		);
		return windows.filter(isSteady).length / windows.length;
	};

	// The figures of reports/METHOD.md.
	test("that scatter by a tenth are taken to be level in 3 of 4 windows", () => {
		expect(taken(0.1)).toBeCloseTo(0.76, 2);
	});

	test("that scatter by a third hide a fall by 30 %, and are not", () => {
		expect(taken(0.33)).toBeLessThan(0.15);
	});
});

interface Recorded {
	readonly system: string;
	readonly repeat: number;
	readonly p50Us: (number | null)[];
}

const recorded = JSON.parse(
	readFileSync(new URL("warm-up.recorded.json", import.meta.url), "utf8"),
) as { runs: Recorded[]; idle: { runs: Recorded[] } };

// The figures of reports/METHOD.md.
describe("recorded on two idle cores", () => {
	const { runs } = recorded.idle;
	const openings = (of: (system: string) => boolean) =>
		runs
			.filter(({ system }) => of(system))
			.map(({ p50Us }) => opening(p50Us))
			.map((at) => at ?? Number.POSITIVE_INFINITY)
			.sort((a, b) => a - b);

	test("brokers without a JVM open their window after 14 to 21 s", () => {
		const at = openings((system) => system !== "kafka");
		expect(at).toHaveLength(27);
		expect([at[0], at[13], at.at(-1)]).toEqual([14, 14, 21]);
	});

	test("Kafka, which gets faster for 35 to 50 s, is waited for, but twice where it paused in that", () => {
		const late = runs.flatMap(({ system, p50Us }) => {
			if (system !== "kafka") return [];
			const at = opening(p50Us) ?? p50Us.length;
			const end = median(p50Us.slice(-8).flatMap((p50) => p50 ?? [])) ?? 0;
			const then = median(p50Us.slice(at, at + 5).flatMap((p50) => p50 ?? [])) ?? end;
			return [{ at, slower: then / end }];
		});
		expect(late).toHaveLength(9);
		expect(Math.min(...late.map(({ at }) => at))).toBe(31);
		expect(late.filter(({ slower }) => slower > 1.5)).toHaveLength(2);
	});
});

describe("recorded on two cores that other work shared", () => {
	const { runs } = recorded;

	test("nothing can be shown: brokers without a JVM are not level in 91 of 95 windows", () => {
		const found = runs
			.filter(({ system }) => system === "nats" || system === "redis")
			.flatMap(({ p50Us }) => unlevel(p50Us.slice(15)));
		expect([found.filter(Boolean).length, found.length]).toEqual([91, 95]);
	});
});
