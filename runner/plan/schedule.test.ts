import { describe, expect, test } from "vitest";
import { Plan } from "../model/plan.ts";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";
import { planOf } from "./plans.fake.ts";

function plan(workload: string, head = "system: noop"): Plan {
	const found = planOf(workload, head);
	expect(Plan.parse(found)).toEqual(found);
	return found;
}

const perSecond = (messages: number) => ({ messages, perNs: 1e9 });

describe("the schedule of a plan", () => {
	test("of stages warms up at the first rate, then follows the lines", () => {
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

	test("of steps has a phase for each, in seconds of the window", () => {
		const { schedule, phases } = plan(
			"warmup: 0, steps: [{ rate: 100/s, duration: 10s }, { rate: 50/s, duration: 5s }]",
		);
		expect(schedule).toMatchObject({
			kind: "stages",
			rate: perSecond(100),
			warmupMessages: 0,
			messages: 1250,
		});
		expect(schedule.pieces).toHaveLength(2);
		expect(phases).toEqual([
			{ name: "step 1: 100/s", fromNs: 0, toNs: 10e9 },
			{ name: "step 2: 50/s", fromNs: 10e9, toNs: 15e9 },
		]);
	});

	test("of a step or a stage at 0/s has nothing due in it", () => {
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

	test("of poisson arrivals has the seed, and about as many messages as the rate says", () => {
		const { schedule } = plan("rate: 1000/s, arrivals: poisson, seed: 3, duration: 10s, warmup: 0");
		expect(schedule).toMatchObject({ kind: "poisson", seed: 3 });
		expect(Math.abs(schedule.messages - 10_000)).toBeLessThan(500);
		const again = plan("rate: 1000/s, arrivals: poisson, seed: 3, duration: 10s, warmup: 0");
		expect(again.schedule).toEqual(schedule);
	});

	test("of a closed load has messages, and no times", () => {
		expect(plan("messages: 1000, duration: 1min")).toMatchObject({
			schedule: {
				kind: "closed",
				rate: null,
				warmupNs: 0,
				durationNs: 60e9,
				warmupMessages: 100,
				messages: 1100,
			},
			inFlight: 1000,
			heartbeat: { durationNs: 62e9 },
		});
	});

	test("of a backlog pauses its consumers after T0 and the warm-up", () => {
		const found = plan(
			"pattern: backlog, rate: 100/s, duration: 40s, backlog: 1000",
			"system: { broker: nats, mode: jetstream }",
		);
		expect(found.backlog).toEqual({ pauseNs: 13e9, resumeNs: 23e9, messages: 1000 });
		expect(found.phases).toEqual([
			{ name: "before", fromNs: 0, toNs: 8e9 },
			{ name: "build", fromNs: 8e9, toNs: 18e9 },
			{ name: "drain", fromNs: 18e9, toNs: 40e9 },
		]);
	});
});

describe("a plan spells out", () => {
	const load = "rate: 100/s, duration: 10s";

	test("request-reply: a topic for the replies to each topic", () => {
		expect(plan(`${load}, pattern: request-reply, connections: 2, consumers: 3`)).toMatchObject({
			topics: ["mqbench.r.1.0", "mqbench.r.1.1"],
			replyTopics: ["mqbench.r.1.0.reply", "mqbench.r.1.1.reply"],
			consumers: 3,
			consumerConnections: 3,
		});
	});

	test("keys with a seed of the scenario, work, payload", () => {
		expect(
			plan(
				`${load}, pattern: work-queue, keys: zipf, partitions: 3, work: 2ms, payload: { random: 0.3 }`,
			),
		).toMatchObject({
			keys: { distribution: "zipf", count: 1000, seed: expect.any(Number) },
			partitions: 3,
			work: { meanNs: 2e6, distribution: "constant" },
			message: { payload: "random", randomRatio: 0.3, file: null },
		});
	});

	test("CPUs: a system's own before the scenario's", () => {
		const surroundings = { folder: "/", platform: "linux", fileBytes: () => null };
		const pins = expand(
			loadScenario(
				"s.yaml",
				`pin: { generator: "0", brokers: "1" }\nsystems: { a: nats, b: { broker: nats, pin: "2-3" } }\nworkload: { ${load}, message: 1KiB }\n`,
				{},
				{},
				surroundings,
			),
			{ runId: "r" },
		).map(({ pin }) => pin);
		expect(pins).toEqual([
			{ generator: "0", brokers: "1" },
			{ generator: "0", brokers: "2-3" },
		]);
	});

	test("the level that a system asks for, and what is set for it", () => {
		expect(
			plan(load, "system: { broker: nats, mode: jetstream, durability: fsync }"),
		).toMatchObject({
			durabilityLevel: "fsync",
			durability: "storage: file, sync_interval: always (fsync)",
			acks: true,
			delivery: "at-least-once",
		});
	});

	test("publish: no gate about receipts, whatever the system promises", () => {
		expect(
			plan(`${load}, pattern: publish`, "system: { broker: nats, mode: jetstream }").sla,
		).toEqual([]);
	});

	test("a search: the case as it is written is where it starts", () => {
		const found = planOf("rate: 100/s, find: max-rate", "system: nats\nsla: [p99 < 5ms]");
		expect(found.search).toEqual({ role: "start", of: "256B 100/s" });
	});
});
