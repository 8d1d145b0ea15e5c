import { describe, expect, test } from "vitest";
import { seeded } from "../../histogram/random.fake.ts";
import type { Facts } from "../facts.ts";
import { judged } from "../judged.fake.ts";
import { simulated as run } from "../simulated.fake.ts";
import { backlog, queue } from "./trend.ts";

const statusOf = (facts: Facts) => backlog.judge(facts, []).status;

describe("a queue that does not grow", () => {
	test("is 0 to 3 messages in flight, however they fall: a thousand runs are quiet", () => {
		const random = seeded(1);
		for (let i = 0; i < 1000; i++)
			expect(statusOf(run(() => Math.floor(random() * 4), { seconds: 10 }))).toBe("ok");
	});

	test("is one that wanders around 200, correlated from sample to sample", () => {
		const random = seeded(2);
		for (let i = 0; i < 200; i++) {
			let level = 0;
			const wandering = () => {
				level = 0.9 * level + 20 * (random() - 0.5);
				return 200 + level;
			};
			expect(statusOf(run(wandering))).toBe("ok");
		}
	});

	test.each([0.5, 4, 9, 14, 18])(
		"is one with a stall of 1 s, %d s into the run, that was worked off by the end",
		(at) => {
			// Nothing leaves for a second, then it drains at three times the rate.
			const stalled = (t: number) =>
				t < at ? 2 : t < at + 1 ? 1000 * (t - at) : 1000 - 2000 * (t - at - 1);
			expect(statusOf(run((t) => Math.max(2, stalled(t))))).toBe("ok");
		},
	);

	test("says how long it was in between, when it was worked off by the end", () => {
		const frozen = (t: number) => Math.max(2, t < 9 || t > 10 ? 2 : 500 * (t - 9));
		expect(backlog.judge(run(frozen), []).text).toBe(
			"the queue did not grow (2 waiting in the first third, 2 in the last, at most 500 in between)",
		);
		expect(
			backlog.judge(
				run(() => 2),
				[],
			).text,
		).toBe("the queue did not grow (2 waiting in the first third, 2 in the last)");
	});

	test("is one whose last samples stand in a short stall", () => {
		expect(statusOf(run((t) => (t > 19.5 ? 1000 * (t - 19.5) : 2)))).toBe("ok");
	});

	test("only seems to grow when messages are lost one after the other: loss is judged elsewhere", () => {
		expect(statusOf(run((t) => 2 + 10 * t, { lost: 210 }))).toBe("ok");
		expect(statusOf(run((t) => 2 + 10 * t, { lost: 20 }))).toBe("fail");
	});

	test("holds the messages of a slow start once and for all", () => {
		expect(statusOf(run((t) => (t < 2 ? 200 - 90 * t : 20)))).toBe("ok");
	});
});

describe("a queue that grows", () => {
	test.each([
		["6 a second, 0.6 % of the rate", 6],
		["50 a second", 50],
		["500 a second", 500],
	])("by %s is a FAIL, through noise", (_, perSecond) => {
		const random = seeded(3);
		const found = backlog.judge(
			run((t) => 5 + perSecond * t + 10 * (random() - 0.5)),
			[],
		);
		expect(found).toMatchObject({ status: "fail" });
		expect(found.text).toMatch(/^the queue grew by .*: percentiles depend on the duration$/);
	});

	test("by less than half a percent of the rate is none, until it is longer than passes within the limit", () => {
		expect(statusOf(run((t) => 5 + 3 * t, { limitNs: null }))).toBe("ok");
		// 20 messages pass in 20 ms; two thirds of the way it grows by 40.
		expect(statusOf(run((t) => 5 + 3 * t))).toBe("fail");
	});

	test("in steps is found by its thirds", () => {
		const found = backlog.judge(
			run((t) => (t < 10 ? 3 : 400)),
			[],
		);
		expect(found.status).toBe("fail");
	});

	test("at the sender, where sends block, is the system's too", () => {
		// 10 in flight at most, and 100 of 1000 a second do not get away.
		const facts = run(() => 10, { sent: () => 900 });
		expect(queue(facts).at(-1)?.y).toBe(10);
		const blocked: Facts = {
			...facts,
			collected: {
				...facts.collected,
				seconds: facts.collected.seconds.map((s) => {
					const { queued } = s.metrics;
					return queued ? { ...s, metrics: { ...s.metrics, queued: { ...queued, sum: 1e12 } } } : s;
				}),
			},
		};
		expect(queue(blocked).at(-1)?.y).toBe(10 + 2100);
		expect(statusOf(blocked)).toBe("fail");
	});
});

test("a stopped run, and one of two seconds, have no trend", () => {
	expect(statusOf(run(() => 1, { seconds: 2 }))).toBe("unknown");
	expect(judged("interrupted").checks.find((c) => c.check === "backlog")?.status).toBe("unknown");
});

describe("every stored run", () => {
	test.each(["healthy", "stall", "lost", "lag", "repeats"])(
		"%s has no queue that grows",
		(name) => {
			const { checks } = judged(name);
			expect(checks.find((c) => c.check === "backlog")?.status).toBe("ok");
		},
	);
});

test("the run fails, and gates that pass are left open: they hold for this duration only", () => {
	const { verdict, why, judgements } = judged("healthy", {
		lines: (all) => {
			let waiting = 0;
			for (const t of all.filter((l) => l.type === "tick"))
				t.backlog = t.backlog.map(() => (waiting += 5));
			return undefined;
		},
	});
	expect(verdict).toBe("fail");
	expect(why).toContain("the queue grew by ");
	expect(judgements[0]).toMatchObject({ verdict: "inconclusive" });
	expect(judgements[1]).toMatchObject({ sla: "lost == 0", verdict: "pass" });
});
