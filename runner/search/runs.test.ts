import { describe, expect, test } from "vitest";
import type { Plan } from "../model/plan.ts";
import { Plan as PlanSchema } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { longest } from "../plan/warnings.ts";
import { loadScenario } from "../scenario/load.ts";
import { ratePerSecond } from "../units.ts";
import { firstIndex, foreseen, foreseenText, outcomeOf, searchRuns, stepOf } from "./runs.ts";
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

describe("the duration of a scenario is the length of its steps", () => {
	const lengths = (workload: string, sla = "p99 < 5ms") => {
		const { plans } = play(
			start(
				`system: nats\nworkload: { message: 256B, find: max-rate, ${workload} }\nsla: [${sla}]\n`,
			),
			1e6,
		);
		const of = (role: string) =>
			plans.find((plan) => plan.search?.role === role)?.schedule.durationNs;
		return ["probe", "confirm", "curve"].map((role) => (of(role) ?? 0) / 1e9);
	};
	test.each([
		["short: the confirmation takes four steps", "rate: 1000/s, duration: 3s", [3, 12, 3]],
		["15s unless written", "rate: 1000/s", [15, 60, 15]],
		["20s: the confirmation takes a minute", "rate: 1000/s, duration: 20s", [20, 60, 20]],
		["long: no run is shorter", "rate: 1000/s, duration: 5min", [300, 300, 300]],
	])("%s", (_, workload, expected) => {
		expect(lengths(workload)).toEqual(expected);
	});

	test.each([
		// p99 has ten messages above it in 10 s at 100/s, in 24 s 240 at 10/s: 442 are the fewest that can pass.
		["100/s", "p99 < 5ms", 10],
		["10/s", "p99 < 5ms", 45],
		["1000/s", "p99.9 < 5ms", 10],
		["1000/s", "p99.99 < 5ms", 45],
		["100/s", "max < 5ms", 3],
	])("but at %s long enough for %s", (rate, sla, seconds) => {
		const text = `system: nats\nworkload: { message: 256B, rate: ${rate}, duration: 3s, find: max-rate }\nsla: [${sla}]\n`;
		expect(play(start(text), 1e6).plans[0]?.schedule.durationNs).toBe(seconds * 1e9);
	});
});

describe("what plan says of a search", () => {
	const of = (workload: string, sla = "p99 < 5ms") =>
		start(
			`system: nats\nworkload: { message: 256B, find: max-rate, ${workload} }\nsla: [${sla}]\n`,
		);
	const sent = ({ plans }: { readonly plans: readonly Plan[] }) => ({
		runs: plans.length,
		ns: plans.reduce((ns, { schedule }) => ns + schedule.warmupNs + schedule.durationNs, 0),
	});
	const shortest = ["rate: 300/s, duration: 3s, warmup: 2s", "p99.99 < 5ms"] as const;

	test.each([shortest, ["rate: 10000/s", "p99 < 5ms"]])(
		"of %s: no more runs and time, whatever the system carries",
		(...workload) => {
			const plan = of(workload[0] ?? "", workload[1]);
			const { runs, ns } = foreseen(plan);
			const most = { runs: 0, ns: 0 };
			for (let limit = 25e6; limit > 1; limit /= 1.07) {
				const found = sent(play(plan, limit));
				most.runs = Math.max(most.runs, found.runs);
				most.ns = Math.max(most.ns, found.ns);
			}
			// Some limits lie between those that are tried here.
			expect([0, 1]).toContain(runs - most.runs);
			expect(ns).toBeGreaterThanOrEqual(most.ns);
			expect(ns).toBeLessThan(1.1 * most.ns);
		},
	);

	test.each([shortest, ["rate: 1000/s"], ["rate: 9000000/s"], ["rate: 15/s, duration: 5min"]])(
		"of %s: at most four times as much if each rate takes as many runs as it can",
		(...workload) => {
			const plan = of(workload[0] ?? "", workload[1]);
			const { runs, ns } = foreseen(plan);
			for (let limit = 25e6; limit > 1; limit /= 1.5) {
				const made: Plan[] = [];
				const found = sent(
					playWith(plan, (run) => {
						const same = made.filter(({ search }) => search?.role === run.search?.role);
						const before = same.filter(
							({ schedule }) => JSON.stringify(schedule.rate) === JSON.stringify(run.schedule.rate),
						).length;
						made.push(run);
						if (run.search?.role === "confirm")
							return same.length > 6 ? "pass" : before === 0 ? "invalid" : "fail";
						return (["invalid", "fail", "pass"] as const)[before] ?? upTo(limit)(run);
					}),
				);
				expect(found.runs).toBeGreaterThan(8);
				expect(found.runs).toBeLessThanOrEqual(4 * runs);
				expect(found.ns).toBeLessThanOrEqual(4 * ns);
			}
		},
	);

	test("is how long the steps are, and from which rate down the SLA makes them longer", () => {
		expect(foreseenText(of("rate: 5000/s, duration: 3s, warmup: 1s"))).toBe(
			"a search, find: max-rate, in steps of 3s (below 334/s longer, up to 20s, because p99 needs the messages), each after 1s warm-up. A run of 12s confirms an answer at this rate. At most 27 runs and 4min 39s of sending, up to four times as much if runs at one rate disagree; starting brokers and waiting for the last messages come on top",
		);
		expect(foreseenText(of("rate: 500000/s, warmup: 0s", "p50 < 5ms"))).toContain(
			"in steps of 15s, each without warm-up. A run of 1min confirms an answer at this rate. At most ",
		);
	});

	test.each(["3s", "15s", "1min", "5min"])(
		"of steps of %s is less than rented machines last",
		(duration) => {
			const plan = of(`rate: 1000/s, duration: ${duration}`);
			const lasts = longest([plan], { floors: false, confirm: false });
			expect(lasts).toBeGreaterThan(foreseen(plan).ns);
		},
	);
});
