import { describe, expect, test } from "vitest";
import { resolveCases } from "./cases.ts";
import { parseParts } from "./parts.ts";
import type { Problem } from "./problem.ts";
import type { Case } from "./scenario.ts";

const open = { rate: "3000/s", message: "256B", duration: "10s" };

function all(workload: object, more: object = {}): Case[] {
	const problems: Problem[] = [];
	const { cases } = resolveCases(
		parseParts({ workload: { message: "256B", ...workload }, ...more }),
		problems,
		"/scenarios",
	);
	expect(problems).toEqual([]);
	return cases.map((one) => {
		if (!one) throw new Error("a case with a mistake");
		return one;
	});
}

function one(workload: object): Case {
	const [found] = all(workload);
	if (!found) throw new Error("no case");
	return found;
}

function complaints(workload: object, more: object = {}): string[] {
	const problems: Problem[] = [];
	resolveCases(parseParts({ workload, ...more }), problems);
	return problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

describe("the load of a case", () => {
	test("is constant, or poisson with a seed", () => {
		expect(one(open).schedule).toMatchObject({ kind: "constant", seed: 0 });
		expect(one({ ...open, arrivals: "poisson" }).schedule).toMatchObject({
			kind: "poisson",
			seed: 1,
		});
		expect(one({ ...open, arrivals: "poisson", seed: 7 }).schedule).toMatchObject({ seed: 7 });
	});

	test("of stages and steps lasts as long as its parts", () => {
		const stages = one({
			rate: "1000/s",
			stages: [
				{ duration: "30s", target: "10000/s" },
				{ duration: "500ms", target: "1/s" },
			],
		});
		expect(stages.schedule.kind).toBe("stages");
		expect(stages.schedule.durationNs).toBe(30.5e9);
		const steps = one({
			steps: [
				{ rate: "1000/s", duration: "10s" },
				{ rate: "2000/s", duration: "20s" },
			],
		});
		expect(steps.phases).toHaveLength(2);
		expect(steps.schedule.durationNs).toBe(30e9);
	});

	test("of messages is closed: in-flight of 1000, a tenth to warm up, 10 minutes at most", () => {
		expect(one({ messages: 12_345 })).toMatchObject({
			schedule: {
				kind: "closed",
				messages: 12_345 + 1235,
				warmupMessages: 1235,
				warmupNs: 0,
				durationNs: 600e9,
			},
			inFlight: 1000,
		});
	});

	test.each<[unknown, number]>([
		["500 messages", 500],
		["1 message", 1],
		["0s", 0],
		[0, 0],
	])("of messages warms up with %j", (warmup, messages) => {
		expect(one({ messages: 1000, warmup }).schedule).toMatchObject({ warmupMessages: messages });
	});

	test("with a rate may go without warm-up", () => {
		expect(one({ ...open, warmup: 0 }).schedule.warmupNs).toBe(0);
	});

	test("of a search measures for 15s where nothing else is said", () => {
		expect(one({ rate: "1000/s", find: "max-rate" })).toMatchObject({
			find: "max-rate",
			schedule: { durationNs: 15e9 },
		});
		expect(one({ ...open, find: "max-rate" }).schedule.durationNs).toBe(10e9);
	});
});

describe("a case over the workload", () => {
	test("replaces the whole load when it brings another kind", () => {
		const cases = all(
			{ ...open, warmup: "2s" },
			{
				cases: [
					{ messages: 100_000 },
					{ steps: [{ rate: "1000/s", duration: "10s" }] },
					{ stages: [{ duration: "30s", target: "9000/s" }] },
					{ rate: "5000/s" },
				],
			},
		);
		expect(cases.map(({ schedule }) => schedule.kind)).toEqual([
			"closed",
			"stages",
			"stages",
			"constant",
		]);
		expect(cases.map(({ name }) => name)).toEqual([
			"100000 messages",
			"1000/s in 1 step",
			"3000/s to 9000/s in 1 stage",
			"5000/s",
		]);
		expect(cases.map(({ schedule }) => schedule.warmupNs)).toEqual([0, 2e9, 2e9, 2e9]);
	});

	test("may turn a closed load into an open one", () => {
		const [case1] = all(
			{ messages: 1000, warmup: "10 messages", duration: "1min" },
			{ cases: [{ rate: "100/s" }] },
		);
		expect(case1).toMatchObject({
			schedule: { kind: "constant", warmupNs: 5e9, durationNs: 60e9 },
		});
	});
});

describe("a matrix", () => {
	test("is all combinations, the first field outermost, named like cases", () => {
		const cases = all(
			{ duration: "10s" },
			{ matrix: { message: ["256B", "1KiB"], rate: ["1000/s", "10000/s"] } },
		);
		expect(cases.map(({ name }) => name)).toEqual([
			"256B 1000/s",
			"256B 10000/s",
			"1KiB 1000/s",
			"1KiB 10000/s",
		]);
	});

	test("takes any field, also those that are maps and lists", () => {
		const cases = all(open, {
			matrix: {
				payload: ["zeros", { random: 0.3 }, { file: "a/orders.json" }],
				keys: ["none", { distribution: "zipf", count: 10 }],
			},
		});
		expect(cases.map(({ name }) => name)).toEqual([
			"zeros no keys",
			"zeros 10 zipf keys",
			"30% random no keys",
			"30% random 10 zipf keys",
			"orders.json no keys",
			"orders.json 10 zipf keys",
		]);
		expect(cases.at(-1)?.message.file).toBe("/scenarios/a/orders.json");
	});

	test("of more than 1000 combinations is refused, and not computed", () => {
		const seeds = Array.from({ length: 100 }, (_, i) => i);
		expect(
			complaints(open, { matrix: { seed: seeds, bystanders: seeds, connections: seeds } })[0],
		).toBe(
			"matrix: the matrix has 1000000 combinations, and at most 1000 are allowed; remove some values",
		);
	});
});

describe("the topology of a pattern", () => {
	test.each<[string, object, Partial<Case>]>([
		[
			"round-trip: each connection its own topic, and no consumers",
			{ connections: 3 },
			{ topics: 3, consumers: 0, consumerConnections: 0, subscriptions: 1 },
		],
		[
			"request-reply: one responder on a connection of its own",
			{ pattern: "request-reply", connections: 3 },
			{ topics: 3, consumers: 1, consumerConnections: 1 },
		],
		[
			"work-queue: one queue, one connection for each consumer",
			{ pattern: "work-queue", connections: 3, consumers: 4 },
			{ topics: 1, consumers: 4, consumerConnections: 4, producers: 3 },
		],
		[
			"fan-out: one topic, one connection for each subscriber",
			{ pattern: "fan-out", subscriptions: 5 },
			{ topics: 1, consumers: 0, subscriptions: 5, consumerConnections: 5 },
		],
		[
			"fan-out: subscribers may share connections",
			{ pattern: "fan-out", subscriptions: 5, consumerConnections: 2 },
			{ subscriptions: 5, consumerConnections: 2 },
		],
		[
			"publish: nobody receives",
			{ pattern: "publish" },
			{ topics: 1, consumers: 0, consumerConnections: 0 },
		],
	])("%s", (_, workload, topology) => {
		expect(one({ ...open, ...workload })).toMatchObject(topology);
	});

	test("fields that mean nothing there may stand there with the value that means nothing", () => {
		expect(one({ ...open, wildcard: false, bystanders: 0, order: "none" }).pattern).toBe(
			"round-trip",
		);
		expect(one({ ...open, pattern: "publish", delivery: "at-most-once" }).delivery).toBe(
			"at-most-once",
		);
	});
});

test("a backlog is messages, or as many as its size holds", () => {
	const workload = { ...open, pattern: "backlog", duration: "1min" };
	expect(one({ ...workload, backlog: 1000 }).backlog?.messages).toBe(1000);
	expect(one({ ...workload, backlog: "1000B" }).backlog?.messages).toBe(4);
});

test("what consumers do, and keys, in short and at length", () => {
	expect(one({ ...open, pattern: "work-queue", work: "2ms", keys: "random" })).toMatchObject({
		work: { meanNs: 2e6, distribution: "constant" },
		keys: { distribution: "random", count: 1000 },
	});
	expect(
		one({
			...open,
			pattern: "work-queue",
			work: { mean: "2ms", distribution: "exponential" },
			keys: { distribution: "zipf", count: 7 },
		}),
	).toMatchObject({
		work: { meanNs: 2e6, distribution: "exponential" },
		keys: { distribution: "zipf", count: 7 },
	});
});

test.each<[object, string]>([
	[{ message: "1KiB", rate: "20000/s", connections: 25 }, "1KiB 20000/s 25 connections"],
	[{ messages: 1000, inFlight: 1 }, "1000 messages 1 in flight"],
	[{ rate: "10/s", arrivals: "poisson" }, "10/s poisson"],
	[{ pattern: "fan-out", subscriptions: 1, wildcard: true }, "fan-out 1 subscription wildcard"],
	[
		{ pattern: "work-queue", work: { mean: "5ms", distribution: "exponential" } },
		"work-queue work 5ms exponential",
	],
	[{ pattern: "backlog", backlog: 3000 }, "backlog 3000 waiting"],
	[{ checksum: true, warmup: "1s" }, "checksum warmup 1s"],
	[{ payload: { file: "what?*.json" } }, "what--.json"],
])("the case %j is called %s", (override, name) => {
	const [found] = all({ ...open, duration: "20s" }, { cases: [override] });
	expect(found?.name).toBe(name);
});
