import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { seeded } from "../histogram/random.fake.ts";
import { isSteady, opensAt } from "./warm-up.ts";

const LIMITS = { fromNs: 14e9, toNs: 60e9 };

/** The second in which the window opens, told second by second; null: at the latest. */
function opening(p50s: readonly (number | null)[]): number | null {
	for (let at = 1; at <= p50s.length; at++) {
		const startNs = opensAt(p50s.slice(0, at), LIMITS);
		if (startNs !== null) return startNs / 1e9;
	}
	return null;
}

/** Windows of 12 s that have a trend. */
function trending(p50s: readonly (number | null)[]): boolean[] {
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
		const rising = Array.from({ length: 46 }, (_, i) => 1e6 * 1.05 ** i);
		const late = [...rising, ...Array(11).fill(rising.at(-1)), 1e7];
		for (const length of [58, 59, 70])
			expect(
				opensAt([...late, ...Array(70).fill(1e7)].slice(0, length), LIMITS),
			).toBeNull();
	});
});

test("level seconds that scatter by a third have a trend in at most 5 % of all windows", () => {
	const random = seeded(7);
	const noise = () =>
		Math.exp(
			0.33 *
				Math.sqrt(-2 * Math.log(1 - random())) *
				Math.cos(2 * Math.PI * random()),
		);
	const windows = Array.from({ length: 4000 }, () =>
		Array.from({ length: 12 }, () => 1e6 * noise()),
	);
	const found =
		windows.filter((p50s) => !isSteady(p50s)).length / windows.length;
	expect(found).toBeLessThan(0.05);
	expect(found).toBeGreaterThan(0.01);
});

describe("recorded runs on two shared cores", () => {
	const { runs } = JSON.parse(
		readFileSync(new URL("warm-up.recorded.json", import.meta.url), "utf8"),
	) as {
		runs: {
			system: string;
			repeat: number;
			p50Us: (number | null)[];
		}[];
	};

	test("false alarms: from second 15 on, brokers without a JVM have a trend in fewer than 1 of 5 windows", () => {
		const found = runs
			.filter(({ system }) => system === "nats" || system === "redis")
			.flatMap(({ p50Us }) => trending(p50Us.slice(15)));
		const alarms = found.filter(Boolean).length;
		// The figures of reports/README.md.
		expect([alarms, found.length]).toEqual([18, 95]);
		expect(alarms / found.length).toBeLessThan(0.2);
	});

	test("where they open their window", () => {
		expect(
			runs.map(({ system, repeat, p50Us }) => [
				`${system} ${repeat}`,
				opening(p50Us),
			]),
		).toEqual([
			["kafka 1", 24],
			["nats 1", 14],
			["redis 1", 14],
			// Saturated: no message came back in time.
			["rabbitmq 1", null],
			["redis 2", 14],
			["nats 2", 14],
			["kafka 2", 20],
			["kafka 3", 14],
			["nats 3", 14],
		]);
	});
});
