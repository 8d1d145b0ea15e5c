import { describe, expect, test } from "vitest";
import { seeded } from "../../histogram/random.fake.ts";
import type { Plan } from "../../model/plan.ts";
import { AFTER_CHECKS, excused } from "../excuses.ts";
import type { Facts } from "../facts.ts";
import { type Any, check, judged, lines } from "../judged.fake.ts";
import type { Judgement } from "../judgement.ts";
import { drifting, simulated as run } from "../simulated.fake.ts";
import { backlog, consumers, drift, queue, steady } from "./trend.ts";

const statusOf = (facts: Facts) => backlog.judge(facts, []).status;
const textOf = (inFlight: (t: number) => number) => backlog.judge(run(inFlight), []).text;
/** 10 in flight at most, and 100 of 1000 a second do not get away: sends block. */
const blocked = (): Facts => {
	const facts = run(() => 10, { sent: () => 900 });
	const seconds = facts.collected.seconds.map((s) => {
		const { queued } = s.metrics;
		return queued ? { ...s, metrics: { ...s.metrics, queued: { ...queued, sum: 1e12 } } } : s;
	});
	return { ...facts, collected: { ...facts.collected, seconds } };
};
/** Nothing leaves for a second, then it drains at three times the rate. */
const stalled = (at: number) => (t: number) =>
	Math.max(2, t < at ? 2 : t < at + 1 ? 1000 * (t - at) : 1000 - 2000 * (t - at - 1));

describe("a queue", () => {
	test.each<[what: string, status: string, facts: () => Facts]>([
		...[0.5, 4, 9, 14, 18].map((at): [string, string, () => Facts] => [
			`with a stall of 1 s after ${at} s, worked off by the end, did not grow`,
			"ok",
			() => run(stalled(at)),
		]),
		[
			"whose last samples stand in a stall",
			"ok",
			() => run((t) => (t > 19.5 ? 1000 * (t - 19.5) : 2)),
		],
		[
			"that only seems to grow: loss is judged elsewhere",
			"ok",
			() => run((t) => 2 + 10 * t, { lost: 210 }),
		],
		["that grows by more than was lost", "fail", () => run((t) => 2 + 10 * t, { lost: 20 })],
		["with the messages of a slow start", "ok", () => run((t) => (t < 2 ? 200 - 90 * t : 20))],
		["that grows by 0.3 % of the rate", "ok", () => run((t) => 5 + 3 * t, { limitNs: null })],
		// 20 messages pass in 20 ms; two thirds of the way it grows by 40.
		["by that, and longer than passes within the limit", "fail", () => run((t) => 5 + 3 * t)],
		["that grows in steps", "fail", () => run((t) => (t < 10 ? 3 : 400))],
		["that grows at the sender, where sends block", "fail", blocked],
		["of two seconds", "unknown", () => run(() => 1, { seconds: 2 })],
	])("%s: %s", (_, status, facts) => {
		expect(statusOf(facts())).toBe(status);
	});

	test("of 0 to 3 messages in flight is level, however they fall: a thousand runs", () => {
		const random = seeded(1);
		for (let i = 0; i < 1000; i++)
			expect(statusOf(run(() => Math.floor(random() * 4), { seconds: 10 }))).toBe("ok");
	});

	test("that wanders around 200, correlated from sample to sample, is level", () => {
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

	test.each([6, 50, 500])("that grows by %i a second is a FAIL, through noise", (perSecond) => {
		const random = seeded(3);
		const found = backlog.judge(
			run((t) => 5 + perSecond * t + 10 * (random() - 0.5)),
			[],
		);
		expect(found).toMatchObject({ status: "fail" });
		expect(found.text).toMatch(/^the queue grew by .*: percentiles depend on the duration$/);
	});

	test("says how long it was in between, when it was worked off by the end", () => {
		const level = "the queue did not grow (2 waiting in the first third, 2 in the last";
		const frozen = (t: number) => Math.max(2, t < 9 || t > 10 ? 2 : 500 * (t - 9));
		expect(textOf(frozen)).toBe(`${level}, at most 500 in between)`);
		expect(textOf(() => 2)).toBe(`${level})`);
	});

	test("counts what was due and could not leave", () => {
		expect(queue(run(() => 10, { sent: () => 900 })).at(-1)?.y).toBe(10);
		expect(queue(blocked()).at(-1)?.y).toBe(10 + 2100);
	});

	test("of stored runs is level; of one that was stopped it is not known", () => {
		for (const name of ["healthy", "stall", "lost", "lag", "repeats"])
			expect(check("backlog", {}, name).status).toBe("ok");
		expect(check("backlog", {}, "interrupted").status).toBe("unknown");
	});

	test("that grew fails the run, and leaves gates that pass open: they hold for this duration only", () => {
		let waiting = 0;
		const growing = lines((all) => {
			for (const t of all.filter((l) => l.type === "tick"))
				t.backlog = t.backlog.map(() => (waiting += 5));
		});
		const { verdict, why, judgements } = judged("healthy", growing);
		expect(verdict).toBe("fail");
		expect(why).toContain("the queue grew by ");
		expect(judgements.map((j) => j.verdict)).toEqual(["inconclusive", "pass"]);
	});

	test("that a stop of the generator has left is no rate that the system does not carry", () => {
		// The rest of the window is too short to judge the rate by.
		const left = (...stops: [number, number][]) =>
			check("backlog", {
				lines: (all: Any[]) => {
					const ticks = all.filter((l) => l.type === "tick");
					for (const tick of ticks.slice(-3)) tick.backlog = tick.backlog.map(() => 1500);
					return [...all, { type: "stops", stops }];
				},
			}).status;
		expect(left()).toBe("fail");
		expect(left([2.9e9, 4.4e9])).toBe("unknown");
	});
});

describe("consumers", () => {
	/** A run at 1000/s with four of them; `grows` messages more wait after each second. */
	const consumed = (plan: Partial<Plan>, grows = 0): Facts => {
		const facts = run((t) => 2 + grows * t);
		const of = { pattern: "work-queue" as const, consumers: 4 };
		const { collected } = facts;
		return { ...facts, collected: { ...collected, plan: { ...collected.plan, ...of, ...plan } } };
	};
	const work = (us: number) => ({ work: { meanNs: 1000 * us, distribution: "constant" as const } });
	const one = { groupsByPartition: true };
	const step = { name: "step 1: 1000/s", fromNs: 0, toNs: 20e9 };

	test.each<[string, Facts, verdict: string, found: string]>([
		["with room", consumed(work(3000)), "fail", "ok - - 75 %"],
		["nearly always busy", consumed(work(3600)), "fail", "warn work-near write consumers: 5 90 %"],
		// In a window too short to show it.
		[
			"with too much work",
			consumed(work(5000)),
			"pass",
			"warn work-beyond write consumers: 6 130 %",
		],
		// Whatever did not pass says nothing about the broker, and neither does a queue that grew.
		["and a FAIL", consumed(work(5000)), "fail", "invalid work-beyond write consumers: 6 130 %"],
		[
			"and a queue",
			consumed(work(5000), 200),
			"pass",
			"invalid work-beyond write consumers: 6 130 %",
		],
		[
			"in steps",
			consumed({ ...work(5000), phases: [step] }),
			"fail",
			"invalid work-beyond write consumers: 6 130 %",
		],
		["of whom three are idle", consumed(one), "fail", "warn consumers-idle write partitions: 4 -"],
		[
			"of whom one does it all",
			consumed({ ...one, ...work(2000) }),
			"fail",
			"invalid work-beyond write partitions: 4 200 %",
		],
		[
			"with a partition each",
			consumed({ ...one, partitions: 4, ...work(2000) }),
			"fail",
			"ok - - 50 %",
		],
	])("%s", (_, facts, verdict, expected) => {
		const found = consumers.judge(facts, [{ verdict } as Judgement]);
		const { status, code = "-", remedy = "-", figure } = found;
		expect(`${status} ${code} ${remedy} ${figure ?? "-"}`).toBe(expected);
	});

	test("are not asked where they have no work, and each message goes to whoever is free", () => {
		expect(consumers.applies?.(consumed({}).collected)).toBe(false);
		expect(consumers.applies?.(consumed(work(1)).collected)).toBe(true);
	});
});

describe("a drift of p50", () => {
	const rising = Array.from({ length: 10 }, (_, i) => 100 + 4 * i);
	const steep = Array.from({ length: 10 }, (_, i) => 100 + 12 * i);

	test.each([
		["level", new Array(10).fill(100), "ok"],
		["up by a third", rising, "ok"],
		["up by three quarters", steep, "warn"],
		["down by three quarters", steep.toReversed(), "warn"],
		["up by 9 %, significant but small", rising.map((x) => 300 + x / 1.3), "ok"],
		["up and down", [100, 160, 90, 150, 100, 170, 90, 140, 110, 150], "ok"],
		["one slow second", [100, 100, 100, 100, 900, 100, 100, 100, 100, 100], "ok"],
		["of 5 s", rising.slice(0, 5), "unknown"],
	])("%s is %s", (_, medians, status) => {
		expect(steady.judge(drifting(medians), []).status).toBe(status);
	});

	test.each([
		[
			"in parts of the median",
			rising,
			/^p50 rose by 34 % over the window; the median second's p50 is 118us$/,
		],
		[
			"of more than the median in time",
			[9000, 8000, 7000, 300, 300, 300, 300, 300, 200, 200],
			/^p50 fell by \d.*s over the window; the median second's p50 is 300us$/,
		],
		[
			"never more than the highest second, after a long pause either",
			Array.from({ length: 100 }, (_, s) => (s < 70 ? (70 - s) * 1e6 : 300)),
			/^p50 fell by 1min 10s /,
		],
	])("is told %s", (_, medians, text) => {
		expect(steady.judge(drifting(medians), []).text).toMatch(text);
	});

	test("of noise alone is found in at most one run of 20", () => {
		const random = seeded(9);
		let found = 0;
		for (let i = 0; i < 1000; i++) {
			const noisy = Array.from({ length: 10 }, () => 100 + 30 * (random() - 0.5));
			if (drift(drifting(noisy))?.significant) found++;
		}
		expect(found).toBeLessThan(50);
	});

	test("that is small against the tightest limit does not matter", () => {
		expect(drift(drifting(rising))?.change).toBeCloseTo(40 / 118, 2);
		expect(drift(drifting(rising, 20e6))?.significant).toBe(false);
		expect(drift(drifting(rising, 3e6))?.significant).toBe(true);
	});

	test("leaves a gate open that passes by a factor below 2, when p50 rises", () => {
		const [passed] = judged("healthy").judgements as [Judgement];
		const gate = (medians: readonly number[], margin: number, verdict = passed.verdict) => {
			const facts = drifting(medians);
			const judgement = { ...passed, margin, verdict };
			return excused({ ...facts.collected.plan, facts, judgement } as never, AFTER_CHECKS);
		};
		expect(gate(rising, 1.9)).toMatchObject({
			verdict: "inconclusive",
			why: "at most 50 of 5 000 may take longer than 20ms; none did; but p50 rose over the window, and the limit is less than 2 times what was measured",
		});
		expect(steady.judge(drifting(rising), [{ ...passed, margin: 1.9 }]).status).toBe("warn");
		expect(gate(rising, 2.1).verdict).toBe("pass");
		expect(gate(rising.toReversed(), 1.9).verdict).toBe("pass");
		expect(gate(rising, 1.5, "fail").verdict).toBe("fail");
	});
});
