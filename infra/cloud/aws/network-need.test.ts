import { expect, test } from "vitest";
import { loadScenario } from "../../../runner/scenario/load.ts";
import type { MachineType } from "./machine-type.ts";
import { type Need, networkNeeds, networkWarnings } from "./network-need.ts";

/** 125 000 messages of 1000 B a second are 1 Gbit/s. */
const GIGABIT = "rate: 125000/s, message: 1000B, duration: 10s";

function needs(system: string, workload: string, clients: number) {
	const scenario = loadScenario(
		"s.yaml",
		`system: { ${system} }\nworkload: { ${workload} }\nsla: [service p99 < 1s]\n`,
	);
	const [need] = networkNeeds(scenario, clients);
	if (need === undefined) throw new Error("there is no case");
	return need;
}

const KAFKA3 = "broker: kafka, nodes: 3";

test.each<[string, string, number, Need, Need]>([
	[
		"broker: kafka",
		`pattern: publish, ${GIGABIT}`,
		1,
		// In once, out never.
		{ inGbps: 1, outGbps: 0 },
		{ inGbps: 0, outGbps: 1 },
	],
	[
		"broker: nats",
		`pattern: fan-out, subscriptions: 3, ${GIGABIT}`,
		1,
		{ inGbps: 1, outGbps: 3 },
		{ inGbps: 3, outGbps: 1 },
	],
	[
		"broker: nats",
		`pattern: request-reply, ${GIGABIT}`,
		1,
		// Requests and replies, both ways.
		{ inGbps: 2, outGbps: 2 },
		{ inGbps: 2, outGbps: 2 },
	],
	[
		"broker: kafka",
		`pattern: work-queue, connections: 4, consumers: 4, consumerConnections: 4, partitions: 4, ${GIGABIT}`,
		2,
		{ inGbps: 1, outGbps: 1 },
		// Two of four connections on each client.
		{ inGbps: 0.5, outGbps: 0.5 },
	],
	[
		`${KAFKA3}, replicas: 3`,
		`pattern: publish, ${GIGABIT}`,
		1,
		// One partition: its leader takes all of it, and sends two copies; each follower takes one.
		{ inGbps: 1, outGbps: 2 },
		{ inGbps: 0, outGbps: 1 },
	],
	[
		`${KAFKA3}, replicas: 3`,
		`pattern: publish, partitions: 6, ${GIGABIT}`,
		1,
		// Each node leads a third and holds copies of the rest; of its third it sends two copies.
		{ inGbps: 1, outGbps: 2 / 3 },
		{ inGbps: 0, outGbps: 1 },
	],
	[
		`${KAFKA3}, replicas: 2`,
		`pattern: publish, partitions: 6, ${GIGABIT}`,
		1,
		// Two copies of all in all, on three nodes.
		{ inGbps: 2 / 3, outGbps: 1 / 3 },
		{ inGbps: 0, outGbps: 1 },
	],
	[
		KAFKA3,
		`pattern: publish, partitions: 4, ${GIGABIT}`,
		1,
		// Four partitions on three nodes: one of them leads two.
		{ inGbps: 0.5, outGbps: 0 },
		{ inGbps: 0, outGbps: 1 },
	],
])("%s with %s on %s client(s)", (system, workload, clients, broker, client) => {
	const need = needs(system, workload, clients);
	expect(need.broker?.inGbps).toBeCloseTo(broker.inGbps, 12);
	expect(need.broker?.outGbps).toBeCloseTo(broker.outGbps, 12);
	expect(need.client?.inGbps).toBeCloseTo(client.inGbps, 12);
	expect(need.client?.outGbps).toBeCloseTo(client.outGbps, 12);
});

test("of stages and steps the highest rate counts", () => {
	const stages = needs(
		"broker: kafka",
		"pattern: publish, rate: 10/s, message: 1000B, stages: [{ duration: 10s, target: 250000/s }, { duration: 10s, target: 1000/s }]",
		1,
	);
	expect(stages.broker?.inGbps).toBeCloseTo(2, 12);
});

test("a closed load and a search have no rate of their own", () => {
	for (const workload of [
		"message: 1000B, messages: 1000, inFlight: 10",
		"message: 1000B, rate: 1000/s, duration: 10s, find: max-rate",
	])
		expect(needs("broker: nats", workload, 1).broker).toBeNull();
});

test("noop sends nothing", () => {
	const scenario = loadScenario("s.yaml", `system: noop\nworkload: { ${GIGABIT} }\n`);
	expect(networkNeeds(scenario, 1)).toEqual([]);
});

const TYPE: MachineType = {
	name: "i4i.xlarge",
	vcpus: 4,
	memoryMiB: 32_768,
	architectures: ["x86_64"],
	nvmeGB: 937,
	cluster: true,
	spot: true,
	burstable: false,
	network: { words: "Up to 10 Gigabit", baselineGbps: 1.875, peakGbps: 10 },
	volumes: { baselineIops: null, baselineMBps: null },
};

function warnings(gbit: number | null, type: Partial<MachineType> = {}): string[] {
	const need = gbit === null ? null : { inGbps: gbit, outGbps: gbit / 2 };
	return networkWarnings([{ system: "nats", case: "1KB 1000/s", broker: need, client: null }], {
		broker: { ...TYPE, ...type },
		client: { ...TYPE, network: { words: "25 Gigabit", baselineGbps: 25, peakGbps: 25 } },
	});
}

test("a load below the baseline gives no warning", () => {
	expect(warnings(1.875)).toEqual([]);
});

test("a load above the baseline lives on burst credit", () => {
	expect(warnings(1.9)).toEqual([
		"brokers: 1KB 1000/s on nats puts at least 1.9 Gbit/s through one i4i.xlarge (Up to 10 Gigabit), which has 1.88 Gbit/s always: the rest lives on burst credit and ends after minutes; take a larger type, or one with an n in its name",
	]);
});

test("a load above the peak is never carried", () => {
	expect(warnings(12)).toEqual([
		"brokers: 1KB 1000/s on nats puts at least 12 Gbit/s through one i4i.xlarge (Up to 10 Gigabit), which never has more than 10 Gbit/s: take a larger type, or one with an n in its name, or lower the rate",
	]);
});

test("a load that takes what there is finds the burst", () => {
	expect(warnings(null)).toEqual([
		"brokers: 1KB 1000/s takes all that the network gives, and i4i.xlarge (Up to 10 Gigabit) gives more than its 1.88 Gbit/s for minutes only: figures above that do not last",
	]);
});

test("types with CPU credit, and those that AWS says nothing of, are named", () => {
	expect(
		warnings(0.1, {
			name: "t3.large",
			burstable: true,
			network: { words: "Up to 5 Gigabit", baselineGbps: null, peakGbps: null },
		}),
	).toEqual([
		"brokers: t3.large has CPU credit: after it is used up the machine is slower; take one without credit, such as c7i or m7i",
		"brokers: AWS does not say what network t3.large (Up to 5 Gigabit) may always have; above that a figure lasts for minutes only",
	]);
});
