import { expect, test } from "vitest";
import { planOf as built, steady } from "../evidence/built.fake.ts";
import { Plan } from "../model/plan.ts";
import { intervalSeconds, segmentsOf } from "./derive.ts";
import { planOf } from "./plans.fake.ts";

function plan(workload: string, head = "system: noop"): Plan {
	const found = planOf(workload, head);
	expect(Plan.parse(found)).toEqual(found);
	return found;
}

const perSecond = (messages: number) => ({ messages, perNs: 1e9 });

test("stages warm up at the first rate, then follow the lines", () => {
	const { schedule, phases } = plan(
		"rate: 100/s, warmup: 2s, stages: [{ duration: 10s, target: 300/s }, { duration: 5s, target: 300/s }]",
	);
	expect(schedule).toMatchObject({
		kind: "stages",
		rate: perSecond(300),
		pieces: [
			{ durationNs: 2e9, from: perSecond(100), to: perSecond(100) },
			{ durationNs: 10e9, from: perSecond(100), to: perSecond(300) },
			{ durationNs: 5e9, from: perSecond(300), to: perSecond(300) },
		],
		durationNs: 15e9,
		warmupMessages: 200,
		messages: 200 + 2000 + 1500,
	});
	expect(phases).toEqual([]);
});

test("a step or a stage at 0/s has nothing due in it", () => {
	const steps = plan(
		"warmup: 0, steps: [{ rate: 100/s, duration: 10s }, { rate: 0/s, duration: 5s }, { rate: 100/s, duration: 1s }]",
	);
	expect(steps.schedule.messages).toBe(1100);
	expect(steps.phases[1]).toEqual({ name: "step 2: 0/s", fromNs: 10e9, toNs: 15e9 });
	const down = plan(
		"rate: 0/s, warmup: 2s, stages: [{ duration: 4s, target: 100/s }, { duration: 4s, target: 0/s }]",
	);
	expect(down.schedule).toMatchObject({ warmupMessages: 0, messages: 400 });
});

test("poisson arrivals are about as many as the rate says, and the same every time", () => {
	const made = () =>
		plan("rate: 1000/s, arrivals: poisson, seed: 3, duration: 10s, warmup: 0").schedule;
	expect(Math.abs(made().messages - 10_000)).toBeLessThan(500);
	expect(made()).toEqual(made());
});

const hours = (n: number) => n * 3600;

test("no window is recorded in more than 14 400 intervals, and one of up to 4 h by the second", () => {
	const of = (seconds: number) => intervalSeconds(built({ schedule: steady(100, 5, seconds) }));
	expect([10, hours(4), hours(4) + 1].map(of)).toEqual([undefined, undefined, 10]);
	expect([hours(40), hours(40) + 1, hours(168)].map(of)).toEqual([10, 60, 60]);
});

test("what steps, faults, a backlog or a closed load need is recorded finer", () => {
	const long = built({ schedule: steady(100, 5, hours(168)) });
	const phase = (fromNs: number, toNs: number) => ({ name: "", fromNs, toNs });
	const of = (more: object) => intervalSeconds({ ...long, ...more });
	expect(of({ phases: [phase(0, 120e9), phase(120e9, 300e9)] })).toBe(60);
	expect(of({ phases: [phase(0, 90e9), phase(90e9, 300e9)] })).toBe(10);
	expect(of({ phases: [phase(0, 45e9)] })).toBeUndefined();
	expect(of({ schedule: { ...long.schedule, kind: "closed" } })).toBeUndefined();
	expect(of({ backlog: { pauseNs: 0, resumeNs: 1e9, messages: 1 } })).toBeUndefined();
});

test("a run of an hour or more that is cut goes on, with a checkpoint a minute, and later every five", () => {
	const of = (seconds: number, more: object = {}) =>
		segmentsOf({ ...built({ schedule: steady(100, 5, seconds) }), ...more });
	expect([3599, 3600, hours(4), hours(72)].map((seconds) => of(seconds)?.checkpointNs)).toEqual([
		undefined,
		60e9,
		60e9,
		300e9,
	]);
	expect(of(3600)).toEqual({ checkpointNs: 60e9, resumeNs: 0 });
	const two = { client: { count: 2, index: 0 } };
	expect(of(3600, two)).toBeDefined();
	expect(of(3600, { ...two, pattern: "work-queue" })).toBeUndefined();
	expect(of(3600, { loads: 2 })).toBeUndefined();
	expect(of(3600, { backlog: { pauseNs: 0, resumeNs: 1e9, messages: 1 } })).toBeUndefined();
	expect(of(3600, { search: { role: "probe", of: "x" } })).toBeUndefined();
});
