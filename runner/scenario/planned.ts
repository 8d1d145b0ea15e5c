/**
 * Words that the language will have and this version doesn't: they are no typos, and the person who writes one
 * has to learn what works instead. A word leaves this list when `schema.ts` takes it.
 */

/** The part of a scenario that a key stands in. */
export type Place = "scenario" | "workload" | "system" | "sla";

/** What to say about a key that isn't in the schema, or undefined when it's simply unknown. */
export function plannedKey(place: Place, key: string): string | undefined {
	const instead = own(plannedKeys[place], key);
	return instead && `${key} is planned, but not in this version; ${instead}`;
}

/** What to say about a value of `field` that isn't in the schema, or undefined when it's simply unknown. */
export function plannedValue(
	field: string,
	value: string,
	known: readonly string[],
): string | undefined {
	const name = value.toLowerCase();
	if (!own(plannedValues, field)?.includes(name)) return undefined;
	const why = own(needs, `${field} ${name}`) ?? "";
	return `${field} ${name === "ec2" ? "aws (ec2)" : name} is planned, but not in this version${why}; ${known.join(" and ")} ${known.length > 1 ? "are" : "is"}`;
}

/** The field that does what a word of another tool means, or undefined. */
export function otherToolsWord(place: Place, key: string): string | undefined {
	return own(otherWords[place], key);
}

// --- internal ---

const oneRate = "rate is constant: write one case per rate";

const plannedKeys: Readonly<Record<Place, Readonly<Record<string, string>>>> = {
	scenario: {
		matrix: "write the combinations as cases",
		baseline: "write fixed limits in sla, e.g. p99 < 20ms",
	},
	workload: {
		arrivals: "messages are due at equal distances",
		stages: oneRate,
		steps: oneRate,
		find: "write one case per rate and see which ones pass",
		messages: "give rate and duration: an open loop",
		consumers: "each producer's connection receives its own messages",
		clients: "one machine sends; connections and producers are",
		partitions: "topics is",
		subscriptions: "topics is",
	},
	system: {
		version: "mqbench starts the version it was built with",
		image: "mqbench starts the broker it was built with",
		binary: "start your own broker and measure it with target existing",
		config: "start your own broker and measure it with target existing",
		durability: "the broker's own level is measured and printed",
		jetstream: "NATS core is measured: nothing is stored",
		acks: "brokers with acknowledgements are not measured yet",
		cluster: "measure your own cluster with target existing",
	},
	sla: {},
};

const plannedValues: Readonly<Record<string, readonly string[]>> = {
	pattern: ["request-reply", "fan-out", "work-queue", "publish", "backlog"],
	target: ["docker", "aws", "ec2"],
	order: ["per-key"],
	broker: [
		"kafka",
		"redis",
		"redis-streams",
		"rabbitmq",
		"jetstream",
		"nats-jetstream",
		"redpanda",
		"nsq",
		"pulsar",
		"activemq",
		"sqs",
	],
};

/** What a planned value waits for. */
const needs: Readonly<Record<string, string>> = {
	"order per-key": ": it needs messages with keys",
};

const otherWords: Readonly<Record<Place, Readonly<Record<string, string>>>> = {
	scenario: {
		broker: "system",
		brokers: "systems",
		thresholds: "sla",
		slo: "sla",
		repeats: "repeat",
		load: "workload",
	},
	workload: {
		size: "message",
		messageSize: "message",
		messageBytes: "message",
		throughput: "rate",
		producerRate: "rate",
		vus: "connections",
		time: "duration",
		subjects: "topics",
		channels: "topics",
		queues: "topics",
		concurrency: "inFlight",
		guarantee: "delivery",
		ordering: "order",
		crc: "checksum",
	},
	system: { kind: "broker", type: "broker", address: "url", host: "url" },
	sla: { sla: "expect", threshold: "expect", cases: "case", systems: "system" },
};

/** A word that a person wrote may be "constructor": never look it up along the prototype. */
function own<T>(record: Readonly<Record<string, T>>, key: string) {
	return Object.hasOwn(record, key) ? record[key] : undefined;
}
