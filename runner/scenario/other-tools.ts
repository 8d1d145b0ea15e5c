import { brokers } from "../brokers/index.ts";
import { tell } from "../text/tell.ts";
import { isSystem } from "./place.ts";
import type { Path } from "./problem.ts";

/** A sentence with the replacement for another tool's value; undefined if the value is unknown. */
export function otherToolsValue(field: string, value: string): string | undefined {
	const instead = own(otherValues[field] ?? {}, value.toLowerCase());
	return instead === undefined
		? undefined
		: tell("unknown", { what: field, word: JSON.stringify(value), meant: `; write ${instead}` });
}

/** The replacement for another tool's key at `path`: a field's name, or the rest of a sentence after "write". */
export function otherToolsWord(path: Path, key: string): string | undefined {
	const place = path.findLast((step) => typeof step === "string") ?? "scenario";
	const words = isSystem(path) ? "system" : /^(cases|matrix)$/.test(place) ? "workload" : place;
	const camel = key.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
	return own(own(otherWords, words) ?? {}, camel);
}

/** A key may be "constructor": never look it up along the prototype. */
export function own<T>(record: Readonly<Record<string, T>>, key: string) {
	return Object.hasOwn(record, key) ? record[key] : undefined;
}

type Words = Readonly<Record<string, string>>;

export function words(table: Words): Words {
	return Object.fromEntries(
		Object.entries(table).flatMap(([meant, all]) => all.split(" ").map((word) => [word, meant])),
	);
}

// --- internal ---

const otherValues: Readonly<Record<string, Words>> = {
	broker: Object.fromEntries(
		Object.values(brokers).flatMap(({ alsoCalled = {} }) => Object.entries(alsoCalled)),
	),
	pattern: words({
		"fan-out": "pub-sub pubsub broadcast",
		"work-queue": "queue",
		"request-reply": "request-response rpc",
		"round-trip": "echo ping-pong",
		publish: "produce",
		backlog: "drain",
	}),
	durability: words({ memory: "none", fsync: "disk sync always", interval: "everysec" }),
	keys: words({ none: "no_key", "round-robin": "key_round_robin", random: "random_nano" }),
	acks: words({ "1": "leader", "0": "none", all: "quorum -1" }),
};

const otherWords: Readonly<Record<string, Words>> = {
	scenario: words({
		system: "broker",
		systems: "brokers drivers",
		sla: "thresholds slo",
		workload: "load config options",
		cases: "scenarios",
	}),
	workload: words({
		message: "messageSize messageSizeDistribution size recordSize messageBytes payloadSize",
		messages: "iterations msgs count numRecords",
		rate: "producerRate executor startRate throughput",
		"duration, e.g. 15min": "testDurationMinutes",
		duration: "time",
		"warmup, e.g. 1min": "warmupDurationMinutes",
		producers: "producersPerTopic",
		consumers: "consumerPerSubscription consumersPerSubscription responders workers",
		subscriptions: "subscriptionsPerTopic subs subscribers",
		partitions: "partitionsPerTopic",
		topics: "subjects channels queues",
		connections: "vus preAllocatedVUs",
		keys: "keyDistributor",
		"payload: { file: ... }": "payloadFile",
		"payload: random": "useRandomizedPayloads",
		"payload: { random: 0.3 }": "randomBytesRatio",
		"pattern: backlog with backlog: 1GiB": "consumerBacklogSizeGB",
		[tell("option-of-system", { option: "prefetch" })]: "qos prefetch",
		[tell("option-of-system", { option: "acks" })]: "acks",
		"durability of the system": "durability",
		[tell("objective-in-sla")]: "latency",
	}),
	system: words({
		broker: "kind type",
		url: "address host servers bootstrap.servers",
		replicas: "replication replicationFactor",
		[tell("sla-of-system")]: "sla",
	}),
	stages: words({ target: "rate", duration: "time" }),
	steps: words({ rate: "target", duration: "time" }),
};
