import { type Leave, quoted } from "../brokers/omb-driver.ts";

/** What becomes of a workload file: the parts of a scenario. */
export interface ImportedWorkload {
	readonly name: string;
	readonly workload: Readonly<Record<string, unknown>>;
	/** Of a sweep template, whose values are lists. */
	readonly matrix: Readonly<Record<string, readonly unknown[]>> | null;
}

/**
 * Reads the workload of OpenMessaging Benchmark (its class Workload). Its producerRate is of all producers together, its
 * counts are per topic, its sizes bytes, its durations minutes; defaults are its own.
 */
export function readWorkload(
	file: Readonly<Record<string, unknown>>,
	leave: Leave,
): ImportedWorkload {
	const lists: Record<string, readonly unknown[]> = {};
	const known = new Set<string>();
	/** A number, or the first of a list, whose values become a matrix. */
	const number = (key: string, otherwise: number): number => {
		known.add(key);
		const value = file[key];
		if (Array.isArray(value) && value.length > 0) {
			lists[key] = value;
			return Number(value[0]);
		}
		return value === undefined || value === null ? otherwise : Number(value);
	};
	const text = (key: string): string | undefined => {
		known.add(key);
		return typeof file[key] === "string" ? (file[key] as string) : undefined;
	};

	const name = safeName(text("name") ?? "imported");
	const topics = number("topics", 1);
	const partitions = number("partitionsPerTopic", 1);
	const size = number("messageSize", 1024);
	const subscriptions = number("subscriptionsPerTopic", 1);
	const producers = number("producersPerTopic", 1) * topics;
	const consumers = number("consumerPerSubscription", 1);
	const rate = number("producerRate", 0);
	const backlogGb = number("consumerBacklogSizeGB", 0);
	const minutes = number("testDurationMinutes", 5);
	const warmup = number("warmupDurationMinutes", 1);

	const workload: Record<string, unknown> = {
		...patternOf({ topics, subscriptions, consumers, backlogGb }, leave),
		...rateOf(rate),
		message: bytes(size, leave),
		duration: `${minutes}min`,
		warmup: warmup === 0 ? "0s" : `${warmup}min`,
		...(producers === 1 ? {} : { producers }),
		...(topics === 1 ? {} : { topics }),
		...(partitions === 1 && consumers === 1 ? {} : { partitions }),
		...keysOf(text("keyDistributor"), leave),
		...payloadOf(file, known, leave),
	};
	if (backlogGb > 0)
		leave(
			quoted("backlogDrainRatio", number("backlogDrainRatio", 1)),
			"a backlog counts as drained at 1000 messages",
		);
	else known.add("backlogDrainRatio");
	leaveOthers(file, known, leave);
	return { name, workload, matrix: matrixOf(lists, leave) };
}

// --- internal ---

function safeName(name: string): string {
	const safe = name
		.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
		.replaceAll(/\.{2,}/g, ".")
		.slice(0, 80)
		.replaceAll(/^[^A-Za-z0-9]+|[-.]+$/g, "");
	return safe === "" ? "imported" : safe;
}

function patternOf(
	all: {
		topics: number;
		subscriptions: number;
		consumers: number;
		backlogGb: number;
	},
	leave: Leave,
): Record<string, unknown> {
	const { topics, subscriptions, consumers, backlogGb } = all;
	if (backlogGb > 0) {
		if (subscriptions > 1)
			leave(
				quoted("subscriptionsPerTopic", subscriptions),
				"a backlog is built for one group of consumers",
			);
		// Its GB are 1024^3 bytes.
		return {
			pattern: "backlog",
			backlog: `${backlogGb}GiB`,
			consumers: consumers * topics,
		};
	}
	if (subscriptions > 1) {
		if (consumers > 1)
			leave(
				quoted("consumerPerSubscription", consumers),
				"each subscriber of a fan-out is one consumer",
			);
		return { pattern: "fan-out", subscriptions };
	}
	return { pattern: "work-queue", consumers: consumers * topics };
}

/** 0 stands for a search of the highest rate, which begins at 10 000/s there. */
function rateOf(rate: number): Record<string, unknown> {
	return rate === 0
		? { rate: "10000/s", find: "max-rate" }
		: { rate: `${rate}/s` };
}

const SMALLEST = 40;

function bytes(size: number, leave: Leave): string {
	if (size >= SMALLEST) return `${size}B`;
	leave(
		quoted("messageSize", size),
		`messages have at least ${SMALLEST} bytes, the envelope with number and stamps`,
	);
	return `${SMALLEST}B`;
}

const KEYS: Readonly<Record<string, string>> = {
	NO_KEY: "none",
	KEY_ROUND_ROBIN: "round-robin",
	RANDOM_NANO: "random",
};

function keysOf(
	distributor: string | undefined,
	leave: Leave,
): Record<string, unknown> {
	const keys = KEYS[distributor ?? "NO_KEY"];
	if (keys === undefined)
		leave(
			quoted("keyDistributor", distributor),
			"there is no such distribution here; messages have no keys",
		);
	return keys === undefined || keys === "none" ? {} : { keys };
}

function payloadOf(
	file: Readonly<Record<string, unknown>>,
	known: Set<string>,
	leave: Leave,
): Record<string, unknown> {
	for (const key of [
		"useRandomizedPayloads",
		"randomBytesRatio",
		"randomizedPayloadPoolSize",
		"payloadFile",
	])
		known.add(key);
	if (file.randomizedPayloadPoolSize !== undefined)
		leave(
			quoted("randomizedPayloadPoolSize", file.randomizedPayloadPoolSize),
			"payloads walk through a pool of 8 MiB",
		);
	if (file.useRandomizedPayloads === true) {
		const ratio = Number(file.randomBytesRatio ?? 1);
		return ratio === 1 ? {} : { payload: { random: ratio } };
	}
	if (file.payloadFile === undefined) return {};
	leave(
		quoted("payloadFile", file.payloadFile),
		"payloads are random; write payload: { file: <path> } to send the file's bytes",
	);
	return {};
}

const MATRIX: Readonly<Record<string, [string, (value: unknown) => string]>> = {
	producerRate: ["rate", (value) => `${value}/s`],
	messageSize: ["message", (value) => `${value}B`],
};
const COUNTS: Readonly<Record<string, string>> = {
	topics: "topics",
	partitionsPerTopic: "partitions",
	subscriptionsPerTopic: "subscriptions",
};

function matrixOf(
	lists: Readonly<Record<string, readonly unknown[]>>,
	leave: Leave,
): Record<string, readonly unknown[]> | null {
	const matrix: Record<string, readonly unknown[]> = {};
	for (const [key, values] of Object.entries(lists)) {
		const rate = MATRIX[key];
		const count = COUNTS[key];
		if (rate) matrix[rate[0]] = values.map(rate[1]);
		else if (count) matrix[count] = values;
		else leave(quoted(key, values), "only its first value is taken");
	}
	return Object.keys(matrix).length === 0 ? null : matrix;
}

const REASONS: Readonly<Record<string, string>> = {
	nameFormat: "cases name themselves by what they override",
	sampleRateMillis: "mqbench samples ten times a second",
	existingTopicList: "mqbench makes topics of its own",
	existingProduceTopicList: "mqbench makes topics of its own",
	existingConsumeTopicList: "mqbench makes topics of its own",
};

function leaveOthers(
	file: Readonly<Record<string, unknown>>,
	known: ReadonlySet<string>,
	leave: Leave,
): void {
	for (const [key, value] of Object.entries(file))
		if (!known.has(key) && value !== null)
			leave(quoted(key, value), REASONS[key] ?? "has no equivalent here");
}
