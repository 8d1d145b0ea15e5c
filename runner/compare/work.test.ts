import { expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { hashOf } from "./machine.ts";
import { searchFacts, workDifference, workFacts } from "./work.ts";

const run = fixtureResult("healthy").runs[0] as Run;
const load = (change: Partial<Run["load"]>): Run => ({ ...run, load: { ...run.load, ...change } });

test("names, the broker, the target, the client's settings and the seed of arrivals are no part of the work", () => {
	const other: Run = {
		...load({
			target: "existing",
			durability: "other words",
			schedule: { ...run.load.schedule, seed: 7 },
		}),
		...{ system: "other", case: "other", repeat: 7, index: 9, brokerVersion: "9.9.9" },
		driverOptions: { linger: "10ms" },
	};
	expect(hashOf(workFacts(other))).toBe(hashOf(workFacts(run)));
	expect(workDifference(workFacts(run), workFacts(other))).toBeNull();
});

const rate = { messages: 5000, perNs: 1e9 };
const FAULT = { atNs: 2e9, node: null, delayNs: null };
test.each<[string, Run]>([
	["pattern round-trip against publish", load({ pattern: "publish" })],
	[
		"load 1000/s constant against 5000/s constant",
		load({ rate, schedule: { ...run.load.schedule, rate } }),
	],
	[
		"load 1000/s constant against 1000/s poisson",
		load({ schedule: { ...run.load.schedule, kind: "poisson" } }),
	],
	["duration 5s against 7s", load({ durationNs: 7e9 })],
	["warm-up 1s against 2s", load({ warmupNs: 2e9 })],
	["drain 30s against 1s", load({ drainNs: 1e9 })],
	["timeout 30s against 1s", load({ timeoutNs: 1e9 })],
	["message 256B against 1KiB", load({ messageBytes: 1024 })],
	["message 256B against 80% 256B, 20% 4KiB, mean 256B", load({ sizes: "80% 256B, 20% 4KiB" })],
	["payload random against zeros", load({ payload: "zeros" })],
	["payload random against random, 0.5 of it", load({ randomRatio: 0.5 })],
	["checksum no against yes", load({ checksum: true })],
	["connections 1 against 4", load({ connections: 4 })],
	["producers 1 against 4", load({ producers: 4 })],
	["topics 1 against 4", load({ topics: 4 })],
	["partitions 1 against 4", load({ partitions: 4 })],
	["replicas the broker's own against 3", load({ replicas: 3 })],
	["consumers 0 against 4", load({ consumers: 4 })],
	["subscriptions 1 against 4", load({ subscriptions: 4 })],
	["connections of consumers 0 against 4", load({ consumerConnections: 4 })],
	["wildcard no against yes", load({ wildcard: true })],
	["bystanders 0 against 4", load({ bystanders: 4 })],
	[
		"work per message none against 5ms constant",
		load({ work: { meanNs: 5e6, distribution: "constant" } }),
	],
	["keys none against 100 zipf", load({ keys: { distribution: "zipf", count: 100, seed: 1 } })],
	["in flight no limit against 10", load({ inFlight: 10 })],
	["clients 1 against 2", load({ clients: 2 })],
	["delivery at-most-once against at-least-once", load({ delivery: "at-least-once" })],
	["acknowledge automatic against message", load({ acknowledge: "message" })],
	["order none against per-key", load({ order: "per-key" })],
	["durability the broker's own against fsync", load({ durabilityLevel: "fsync" })],
	[
		"CPUs generator any, brokers any against generator 0, brokers any",
		load({ pin: { generator: "0", brokers: null } }),
	],
	[
		"faults none against pause of all nodes at 2s for 500ms",
		load({ faults: [{ ...FAULT, of: "brokers", action: "pause", count: null, forNs: 5e8 }] }),
	],
	[
		"faults none against kill of 2 consumers at 2s for 1s",
		load({ faults: [{ ...FAULT, of: "consumers", action: "kill", count: 2, forNs: 1e9 }] }),
	],
])("other work, and how: %s", (words, other) => {
	expect(hashOf(workFacts(other))).not.toBe(hashOf(workFacts(run)));
	expect(workDifference(workFacts(run), workFacts(other))).toBe(words);
});

test("stored baselines stay comparable: this work has this hash for good", () => {
	expect(workFacts(run)).toEqual({
		pattern: "round-trip",
		load: "1000/s constant",
		duration: "5s",
		"warm-up": "1s",
		drain: "30s",
		timeout: "30s",
		message: "256B",
		payload: "random",
	});
	expect(hashOf(workFacts(run))).toBe("5079907936fc276c");
});

test("a closed load is told by its messages, a backlog by what piles up", () => {
	const schedule = {
		...run.load.schedule,
		kind: "closed" as const,
		rate: null,
		messages: 50_000,
		warmupMessages: 1000,
	};
	expect(workFacts(load({ schedule })).load).toBe("50 000 messages, closed loop");
	expect(workFacts(load({ schedule }))["warm-up"]).toBe("1 000 messages");
	const backlog = { pauseNs: 1e9, resumeNs: 3e9, messages: 2000 };
	expect(workFacts(load({ backlog })).load).toBe(
		"1000/s constant, backlog of 2 000 messages from 1s to 3s",
	);
});

test("stages are told by their pieces", () => {
	const schedule = {
		...run.load.schedule,
		kind: "stages" as const,
		pieces: [{ durationNs: 5e9, from: rate, to: { messages: 9, perNs: 1e9 } }],
	};
	expect(workFacts(load({ schedule })).load).toBe("5000/s to 9/s in 5s");
});

test("a search is the same work whatever rates it tried, but not with another SLA", () => {
	const other = load({ rate, schedule: { ...run.load.schedule, rate }, durationNs: 6e10 });
	expect(searchFacts(other, ["p99 < 5ms"])).toEqual(searchFacts(run, ["p99 < 5ms"]));
	expect(workDifference(searchFacts(run, ["p99 < 5ms"]), searchFacts(run, ["p99 < 9ms"]))).toBe(
		"sla p99 < 5ms against p99 < 9ms",
	);
});
