import { tell } from "../text/tell.ts";
/**
 * Words that a person brings along: of other tools, which say the same thing differently, and of this language's next
 * versions. They are no typos: what to write instead is said. A word leaves this list when `schema.ts` takes it.
 */

import { brokers } from "../brokers/index.ts";

/** The part of a scenario that a key stands in. */
export type Place =
	| "scenario"
	| "workload"
	| "case"
	| "matrix"
	| "system"
	| "sla"
	| "stages"
	| "steps"
	| "other";

/** What to say about a value of `field` that isn't in the schema, or undefined when it's simply unknown. */
export function otherToolsValue(field: string, value: string): string | undefined {
	const instead = own(otherValues[field] ?? {}, value.toLowerCase());
	return instead === undefined
		? undefined
		: tell("unknown", { what: field, word: JSON.stringify(value), meant: `; write ${instead}` });
}

/** What to write for a word of another tool: a field's name, or a whole sentence after "write"; undefined: not known. */
export function otherToolsWord(place: Place, key: string): string | undefined {
	const words = place === "case" || place === "matrix" ? "workload" : place;
	return own(otherWords[words] ?? {}, key);
}

/** A word that a person wrote may be "constructor": never look it up along the prototype. */
export function own<T>(record: Readonly<Record<string, T>>, key: string) {
	return Object.hasOwn(record, key) ? record[key] : undefined;
}

// --- internal ---

type Words = Readonly<Record<string, string>>;

/** Values of other tools, or of neighbouring fields. */
const otherValues: Readonly<Record<string, Words>> = {
	target: { ec2: "aws", amazon: "aws", cloud: "aws" },
	broker: Object.fromEntries(
		Object.values(brokers).flatMap(({ alsoCalled = {} }) => Object.entries(alsoCalled)),
	),
	pattern: {
		"pub-sub": "fan-out",
		pubsub: "fan-out",
		broadcast: "fan-out",
		queue: "work-queue",
		"request-response": "request-reply",
		rpc: "request-reply",
		echo: "round-trip",
		"ping-pong": "round-trip",
		produce: "publish",
		drain: "backlog",
	},
	durability: {
		none: "memory",
		disk: "fsync",
		sync: "fsync",
		always: "fsync",
		everysec: "interval",
	},
	keys: { no_key: "none", key_round_robin: "round-robin", random_nano: "random" },
	acks: { leader: "1", none: "0", quorum: "all", "-1": "all" },
	arrivals: { exponential: "poisson", uniform: "constant", fixed: "constant" },
};

const otherWords: Readonly<Partial<Record<Place, Words>>> = {
	scenario: {
		broker: "system",
		brokers: "systems",
		drivers: "systems",
		thresholds: "sla",
		slo: "sla",
		repeats: "repeat",
		runs: "repeat",
		iterations: "repeat",
		load: "workload",
		config: "workload",
		options: "workload",
		scenarios: "cases",
		cpus: "pin",
		ec2: "aws",
		machines: "aws",
		instances: "aws",
	},
	workload: {
		// OpenMessaging Benchmark
		messageSize: "message",
		producerRate: "rate",
		producersPerTopic: "producers",
		consumerPerSubscription: "consumers",
		consumersPerSubscription: "consumers",
		subscriptionsPerTopic: "subscriptions",
		partitionsPerTopic: "partitions",
		testDurationMinutes: "duration, e.g. 15min",
		warmupDurationMinutes: "warmup, e.g. 1min",
		keyDistributor: "keys",
		payloadFile: "payload: { file: ... }",
		useRandomizedPayloads: "payload: random",
		randomBytesRatio: "payload: { random: 0.3 }",
		consumerBacklogSizeGB: "pattern: backlog with backlog: 1GiB",
		// k6
		vus: "connections",
		preAllocatedVUs: "connections",
		executor: "rate",
		iterations: "messages",
		startRate: "rate",
		// Tools of single brokers
		size: "message",
		"record-size": "message",
		messageBytes: "message",
		msgs: "messages",
		count: "messages",
		"num-records": "messages",
		throughput: "rate",
		time: "duration",
		subjects: "topics",
		channels: "topics",
		queues: "topics",
		subs: "subscriptions",
		subscribers: "subscriptions",
		responders: "consumers",
		workers: "consumers",
		concurrency: "inFlight",
		qos: tell("option-of-system", { option: "prefetch" }),
		prefetch: tell("option-of-system", { option: "prefetch" }),
		acks: tell("option-of-system", { option: "acks" }),
		durability: "durability of the system",
		ordering: "order",
		distribution: "arrivals",
		latency: tell("objective-in-sla"),
	},
	system: {
		kind: "broker",
		type: "broker",
		address: "url",
		host: "url",
		servers: "url",
		"bootstrap.servers": "url",
		cluster: "nodes",
		replication: "replicas",
		replicationFactor: "replicas",
		settings: "config",
		cpus: "pin",
		sla: tell("sla-of-system"),
	},
	stages: { rate: "target", time: "duration" },
	steps: { target: "rate", time: "duration" },
	sla: { sla: "expect", threshold: "expect", cases: "case", systems: "system" },
};
