import { describe, expect, test } from "vitest";
import { built, type Fate, planOf, steady } from "../../evidence/built.fake.ts";
import { collect } from "../../evidence/collect.ts";
import { firstRun } from "../../evidence/fixture.fake.ts";
import type { Plan } from "../../model/plan.ts";
import { type Floor, factsOf, UNKNOWN } from "../facts.ts";
import { floor, floorOf } from "./generator.ts";

const MS = 1e6;

const measured = (p99: number, perSecond: number | null = null): Floor => ({
	folder: "floors/01",
	problem: null,
	count: 5000,
	p50: p99,
	p99,
	max: p99,
	perSecond,
});

const checked = (plan: Plan, fates: Fate[], below: Floor) =>
	floor.judge(factsOf(collect(firstRun(built(plan, fates))), { ...UNKNOWN, floor: below }), []);

/** 1 ms each; every `lostEvery`-th never arrives. */
const answered = (n: number, lostEvery: number): Fate[] =>
	Array.from({ length: n }, (_, i) => ({ receivedNs: [i % lostEvery === 0 ? null : i * MS + MS] }));

describe("the floor", () => {
	test("is compared with p99, and with nothing when p99 lies among messages that never came", () => {
		const schedule = steady(1000, 1, 2);
		const plan = planOf({ schedule });
		expect(checked(plan, answered(3000, 1000), measured(0.5 * MS)).status).toBe("warn");
		expect(checked(plan, answered(3000, 50), measured(0.5 * MS))).toMatchObject({
			status: "ok",
			text: "p99 lies among messages that never completed",
		});
	});

	test("of too few samples is compared with the maximum of all, not with that of survivors", () => {
		const schedule = { ...steady(1000, 0, 1), rate: { messages: 100, perNs: 1e9 }, messages: 100 };
		const plan = planOf({ schedule });
		const due = (lost: boolean): Fate[] =>
			Array.from({ length: 100 }, (_, i) => ({
				receivedNs: [lost && i === 50 ? null : i * 10 * MS + MS],
			}));
		expect(checked(plan, due(false), measured(0.5 * MS)).status).toBe("warn");
		expect(checked(plan, due(true), measured(0.5 * MS)).status).toBe("unknown");
	});
});

describe("the floor of a closed loop is a ceiling", () => {
	const plan = planOf({
		pattern: "work-queue",
		consumers: 1,
		inFlight: 10,
		schedule: {
			kind: "closed",
			rate: null,
			warmupNs: 0,
			durationNs: 60e9,
			warmupMessages: 0,
			messages: 1000,
		},
	});
	const fates = Array.from({ length: 1000 }, (_, i) => ({
		sentNs: i * MS,
		receivedNs: [i * MS + 300_000],
	}));

	test.each([
		[10_000, "ok"],
		[1500, "warn"],
		[null, "unknown"],
	])("1000/s where noop carries %s/s is %s", (most, status) => {
		expect(checked(plan, fates, measured(1, most)).status).toBe(status);
	});

	test("is what noop received per second of its own time", () => {
		const found = floorOf(factsOf(collect(firstRun(built(plan, fates))), UNKNOWN));
		expect(found.perSecond).toBeCloseTo(1000 / 0.999, 6);
		expect(found.count).toBe(1000);
	});
});
