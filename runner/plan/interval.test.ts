import { expect, test } from "vitest";
import { planOf, steady } from "../evidence/built.fake.ts";
import { intervalSeconds } from "./derive.ts";

const hours = (n: number) => n * 3600;

test("no window is recorded in more than 14 400 intervals, and one of up to 4 h by the second", () => {
	const of = (seconds: number) => intervalSeconds(planOf({ schedule: steady(100, 5, seconds) }));
	expect([10, hours(4), hours(4) + 1].map(of)).toEqual([undefined, undefined, 10]);
	expect([hours(40), hours(40) + 1, hours(168)].map(of)).toEqual([10, 60, 60]);
});

test("what steps, faults, a backlog or a closed load need is recorded finer", () => {
	const plan = planOf({ schedule: steady(100, 5, hours(168)) });
	const phase = (fromNs: number, toNs: number) => ({ name: "", fromNs, toNs });
	const of = (more: object) => intervalSeconds({ ...plan, ...more });
	expect(of({ phases: [phase(0, 120e9), phase(120e9, 300e9)] })).toBe(60);
	expect(of({ phases: [phase(0, 90e9), phase(90e9, 300e9)] })).toBe(10);
	expect(of({ phases: [phase(0, 45e9)] })).toBeUndefined();
	expect(of({ schedule: { ...plan.schedule, kind: "closed" } })).toBeUndefined();
	expect(of({ backlog: { pauseNs: 0, resumeNs: 1e9, messages: 1 } })).toBeUndefined();
});
