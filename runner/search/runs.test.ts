import { expect, test } from "vitest";
import type { Plan } from "../model/plan.ts";
import { Plan as PlanSchema } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { ratePerSecond } from "../units.ts";
import { firstIndex, foreseen, outcomeOf, searchRuns, stepOf } from "./runs.ts";
import type { Outcome } from "./search.ts";

const scenario = `
system: nats
workload: { message: 256B, rate: 1000/s, find: max-rate }
sla: [p99.9 < 5ms, lost == 0]
`;

function start(text = scenario): Plan {
	const [plan] = expand(loadScenario("s.yaml", text), { runId: "r" });
	if (!plan) throw new Error("no plan");
	return plan;
}

/** Plays a search. */
function playWith(plan: Plan, judge: (plan: Plan) => Outcome, firstIndex = 1) {
	const runs = searchRuns(plan, firstIndex, judge);
	const plans: Plan[] = [];
	for (;;) {
		const step = runs.next();
		if (step.done) return { plans, answer: step.value.answer };
		plans.push(step.value);
	}
}

const upTo =
	(limit: number) =>
	({ schedule }: Plan): Outcome =>
		ratePerSecond(schedule.rate as never) <= limit ? "pass" : "fail";
const play = (plan: Plan, limit: number, firstIndex = 1) => playWith(plan, upTo(limit), firstIndex);

test("every run of a search is a whole plan with a folder, topics and messages of its own", () => {
	const { plans } = play(start(), 5000, 7);
	for (const plan of plans) PlanSchema.parse(plan);
	const distinct = (of: (plan: Plan) => unknown) =>
		new Set(plans.map((plan) => JSON.stringify(of(plan)))).size;
	expect(distinct((p) => p.index)).toBe(plans.length);
	expect(distinct((p) => p.topics)).toBe(plans.length);
	expect(distinct((p) => p.runNumber)).toBe(plans.length);
	expect(distinct((p) => p.case)).toBe(plans.length);
	expect(plans[0]?.index).toBe(7);
	expect(plans[0]?.topics[0]).toMatch(/\.7\.0$/);
});

test("the first run of a search is run 1, or the next after those that are planned", () => {
	const plan = start();
	expect(firstIndex([plan])).toBe(1);
	const runs = [1, 2].map((index) => ({ ...plan, index, search: null }));
	expect(firstIndex([...runs, { ...plan, index: 3 }])).toBe(3);
});

test("the answer is found, and the last runs are the curve below it", () => {
	const { plans, answer } = play(start(), 5000);
	expect(answer.lo).toBeLessThanOrEqual(5000);
	expect(answer.hi).toBeGreaterThan(5000);
	expect(plans.slice(-5).map((p) => p.search?.role)).toEqual(Array(5).fill("curve"));
});

test("a probe is long enough for the deepest percentile of the SLA, and the confirmation a minute", () => {
	const { plans } = play(start(scenario.replace("1000/s", "100/s")), 5000);
	const of = (role: string) => plans.filter((p) => p.search?.role === role);
	// p99.9 needs 10 000 messages: 100 s at 100/s.
	expect(of("probe")[0]?.schedule.durationNs).toBe(100e9);
	expect(of("probe").at(-1)?.schedule.durationNs).toBe(15e9);
	expect(of("confirm")[0]?.schedule.durationNs).toBe(60e9);
});

test("k6's heartbeat outlasts every run's schedule by two seconds", () => {
	for (const { heartbeat, schedule } of play(start(), 5000).plans)
		expect(heartbeat.durationNs).toBe(schedule.warmupNs + schedule.durationNs + 2e9);
});

test("the step of a run is known from its plan", () => {
	const [first] = play(start(), 5000).plans;
	expect(first && stepOf(first)).toEqual({ rate: 1000, role: "probe" });
	expect(stepOf(start())).toBeNull();
});

test.each([
	["pass", "pass"],
	["fail", "fail"],
	["inconclusive", "fail"],
	["invalid", "invalid"],
	["error", "error"],
	["interrupted", "interrupted"],
] as const)("a run that is %s is %s to the search", (verdict, outcome) => {
	expect(outcomeOf(verdict)).toBe(outcome);
});

test("the warm-up that the scenario asks for is that of every run: each has a broker started anew, whose JVM is cold", () => {
	const { plans } = playWith(
		start(`
system: kafka
workload: { message: 256B, rate: 1000/s, warmup: 15s, find: max-rate }
sla: [p99 < 5ms]
`),
		() => "fail",
	);
	expect(plans[0]?.schedule.warmupNs).toBe(15e9);
});

test("a probe too short for its percentile says nothing of the system: a system that is always fast is not refused every rate", () => {
	// p99.99 is judged from 36 887 messages on: 185 s at 200/s, and a probe is 120 s at most.
	const { answer, plans } = playWith(
		start(`
system: nats
workload: { message: 256B, rate: 200/s, find: max-rate }
sla: [p99.99 < 5ms]
`),
		({ schedule }) =>
			outcomeOf(schedule.messages - schedule.warmupMessages >= 29_956 ? "pass" : "inconclusive"),
	);
	expect({ lo: answer.lo, runs: plans.length }).not.toMatchObject({ lo: null });
});

const DEEP = `
system: nats
workload: { message: 256B, rate: 300/s, warmup: 2s, find: max-rate }
sla: [p99.99 < 5ms]
`;

test("the run that confirms is long enough for the deepest percentile too", () => {
	// p99.99 is printed from 36 887 messages on: 123 s at 300/s, and a minute has 18 000.
	const { plans } = playWith(start(DEEP), ({ schedule }) =>
		schedule.messages - schedule.warmupMessages >= 36_887 &&
		ratePerSecond(schedule.rate as never) <= 300
			? "pass"
			: "fail",
	);
	expect(plans.filter((p) => p.search?.role === "confirm")).toHaveLength(1);
	expect(plans.filter((p) => p.search?.role === "curve")).toHaveLength(5);
});

test.each([0.25, 0.6, 1, 2, 5, 13, 33, 64])(
	"a search takes at most 25 runs where the system carries %d times the first rate, as plan says",
	(part) => {
		const { plans } = play(start(DEEP), 300 * part);
		expect(plans.length).toBeGreaterThan(5);
		expect(plans.length).toBeLessThanOrEqual(25);
		// 1.2 times the 36 887 messages of p99.99 at 300/s, and the warm-up.
		expect(foreseen(start(DEEP))).toMatchObject({ confirmNs: 150e9, curve: 5 });
	},
);
