import type { Traits } from "../brokers/index.ts";
import { WEEK_NS } from "../model/field.ts";
import { ENVELOPE_BYTES } from "../model/load.ts";
import type { Pattern } from "../model/pattern.ts";
import { backlogTimes } from "../scenario/backlog.ts";
import { MAX_RATE_PER_SECOND } from "../units.ts";
import { type Leave, quoted } from "./left-out.ts";

/** The topics that a workload names instead of having some made; null: none. Producers and consumers have the same ones here. */
export function existingTopics(file: Written, leave: Leave): string[] | null {
	const [all, sent, received] = ["", "Produce", "Consume"].map((who) => {
		const list = file[`existing${who}TopicList`];
		return Array.isArray(list) && list.length > 0 ? list.map(String) : null;
	});
	const topics = all ?? sent ?? received ?? null;
	for (const [key, list] of Object.entries({ Produce: sent, Consume: received }))
		if (list && String(list) !== String(topics))
			leave(
				`existing${key}TopicList`,
				"producers and consumers have the same topics here, and others are named first",
			);
	return topics;
}

/** What becomes of a workload file: the parts of a scenario. */
export interface ImportedWorkload {
	readonly name: string;
	readonly workload: Written;
	/** Of a sweep template, whose values are lists: what differs, a case for each combination; else empty. */
	readonly cases: readonly Written[];
	/** Lines by which each of them can be judged. */
	readonly sla: readonly string[];
}
type Written = Readonly<Record<string, unknown>>;

/**
 * Reads the workload of OpenMessaging Benchmark (its class Workload). Its producerRate is of all producers together, its
 * counts are per topic, its sizes bytes, its durations minutes. `traits`: of the system that it is for; `existing`: the topics that it
 * names (`existingTopics`), if that system has them.
 */
export function readWorkload(
	file: Written,
	traits: Traits,
	existing: readonly string[] | null,
	leave: Leave,
): ImportedWorkload {
	const all = combinations(file, leave).map((one) => workloadOf(one, traits, existing, leave));
	const [first = {}] = all;
	const texts = all.map((one) => JSON.stringify(one));
	const same = (field: string) =>
		all.every((one) => JSON.stringify(one[field]) === JSON.stringify(first[field]));
	const part = (one: Written, shared: boolean) =>
		Object.fromEntries(Object.entries(one).filter(([field]) => same(field) === shared));
	for (const [key, value] of Object.entries(file))
		if (!KNOWN.has(key) && value !== null) leave(quoted(key, value), "has no equivalent here");
	return {
		name: safeName(typeof file.name === "string" ? file.name : "imported"),
		workload: part(first, true),
		cases: all
			// Values that are out of bounds may come to the same.
			.filter((_, i) => texts.indexOf(texts[i] ?? "") === i)
			.map((one) => part(one, false))
			.filter((_, __, { length }) => length > 1),
		sla: [
			all.some(({ pattern }) => pattern === "publish") ? "failed == 0" : "lost == 0",
			...(all.some(({ find }) => find !== undefined) ? [OBJECTIVE] : []),
		],
	};
}

// --- internal ---

/** What a scenario takes, and the value of a file that does not say. Products of them are held to the same bounds. */
const NUMBERS: Readonly<Record<string, { otherwise: number; least: number; most: number }>> = {
	topics: { otherwise: 1, least: 1, most: 100_000 },
	partitionsPerTopic: { otherwise: 1, least: 1, most: 10_000 },
	messageSize: { otherwise: 1024, least: ENVELOPE_BYTES, most: 1024 ** 3 },
	subscriptionsPerTopic: { otherwise: 1, least: 0, most: 10_000 },
	consumerPerSubscription: { otherwise: 1, least: 0, most: 10_000 },
	producersPerTopic: { otherwise: 1, least: 1, most: 100_000 },
	producerRate: { otherwise: 0, least: 0, most: MAX_RATE_PER_SECOND },
	consumerBacklogSizeGB: { otherwise: 0, least: 0, most: 1_000_000 },
	testDurationMinutes: { otherwise: 5, least: 1, most: WEEK_NS / 60e9 },
	warmupDurationMinutes: { otherwise: 1, least: 0, most: WEEK_NS / 60e9 },
};
const KNOWN = new Set([
	...Object.keys(NUMBERS),
	"name",
	"keyDistributor",
	"payloadFile",
	"useRandomizedPayloads",
	"randomBytesRatio",
	"existingTopicList",
	"existingProduceTopicList",
	"existingConsumeTopicList",
]);
const MOST_CASES = 1000;
const MOST_CONNECTIONS = 10_000;
/** Where its search for the highest rate begins, and its limit: 1000 messages that wait, which is as long as this at that rate. */
const FIRST_RATE = 10_000;
/** A rate that no system has, as its workloads for the highest throughput name it. */
const AS_FAST_AS_POSSIBLE = 10_000_000;
const OBJECTIVE = "p99 < 100ms";

/** A sweep's lists of numbers as files with one value each. */
function combinations(file: Written, leave: Leave): Written[] {
	let all: Written[] = [file];
	for (const [key, values] of Object.entries(file)) {
		if (!Array.isArray(values) || NUMBERS[key] === undefined) continue;
		const few = values.slice(0, Math.floor(MOST_CASES / all.length));
		if (few.length < values.length)
			leave(quoted(key, values), `a scenario has at most ${MOST_CASES} cases`);
		all = all.flatMap((one) => few.map((value) => ({ ...one, [key]: value })));
	}
	return all;
}

function workloadOf(
	file: Written,
	traits: Traits,
	existing: readonly string[] | null,
	leave: Leave,
): Written {
	const bounded = (key: string, value: number, most = NUMBERS[key]?.most) => {
		const { least = 0, otherwise = 0 } = NUMBERS[key] ?? {};
		const taken = Number.isNaN(value) ? otherwise : Math.min(Math.max(value, least), most ?? value);
		if (taken !== value)
			leave(
				quoted(key, file[key] ?? otherwise),
				`a scenario takes ${least} to ${most ?? value} in all; ${taken} is taken`,
			);
		return taken;
	};
	const number = (key: string) => bounded(key, Number(file[key] ?? NUMBERS[key]?.otherwise));

	const topics = existing?.length ?? number("topics");
	const bytes = number("messageSize");
	const partitions = number("partitionsPerTopic");
	const subscriptions = number("subscriptionsPerTopic");
	const members = number("consumerPerSubscription");
	const backlogGb = number("consumerBacklogSizeGB");
	const rate = number("producerRate");
	const producers = bounded("producersPerTopic", number("producersPerTopic") * topics);
	const consumers = Math.max(1, bounded("consumerPerSubscription", members * topics));
	const minutes = number("testDurationMinutes");
	const warmup = number("warmupDurationMinutes");

	const silent = subscriptions === 0 || members === 0;
	const asFast = rate === 0 || rate >= AS_FAST_AS_POSSIBLE;
	const perSecond = asFast ? FIRST_RATE : rate;
	const fitting: Pattern[] =
		silent && !traits.cannot.publish
			? ["publish"]
			: backlogGb > 0
				? ["backlog", "work-queue", "fan-out"]
				: subscriptions > 1
					? ["fan-out", "work-queue"]
					: ["work-queue", "fan-out"];
	const pattern = fitting.find((one) => !traits.cannot[one]) ?? "fan-out";
	if (silent && pattern !== "publish")
		leave("no consumers", `one is taken, as ${traits.cannot.publish}`);
	else if (pattern !== fitting[0])
		leave(
			`pattern ${fitting[0]}`,
			`${traits.cannot[fitting[0] ?? pattern]}; pattern ${pattern} is taken`,
		);
	if (pattern === "fan-out" && members > 1)
		leave(
			quoted("consumerPerSubscription", members),
			"each subscriber of a fan-out is one consumer",
		);
	if (pattern === "backlog" && subscriptions > 1)
		leave(
			quoted("subscriptionsPerTopic", subscriptions),
			"a backlog is built for one group of consumers",
		);
	if (pattern === "backlog" && asFast)
		leave(quoted("producerRate", rate), `a backlog is built at a rate; ${FIRST_RATE}/s is taken`);
	const search = asFast && pattern !== "backlog";
	if (search)
		leave(
			quoted("producerRate", rate),
			rate === 0
				? `the highest rate with ${OBJECTIVE} and nothing lost is searched, from ${FIRST_RATE}/s on; write your own limit in sla`
				: `OpenMessaging Benchmark means as fast as possible; find: max-rate searches the highest rate with ${OBJECTIVE} and nothing lost, from ${FIRST_RATE}/s on. For the highest throughput alone write messages: 1000000 instead of rate, duration and find`,
		);
	return {
		pattern,
		...(pattern === "fan-out" ? { subscriptions } : {}),
		...(pattern === "work-queue" || pattern === "backlog" ? { consumers } : {}),
		rate: `${perSecond}/s`,
		...(search ? { find: "max-rate" } : {}),
		message: `${bytes}B`,
		...(pattern === "backlog"
			? backlogOf({ gb: backlogGb, bytes, perSecond, minutes }, traits, leave)
			: { duration: `${minutes}min` }),
		warmup: warmup === 0 ? "0s" : `${warmup}min`,
		// There each producer is a connection.
		...(producers === 1 ? {} : { connections: Math.min(producers, MOST_CONNECTIONS) }),
		...(producers > MOST_CONNECTIONS ? { producers } : {}),
		...(topics === 1 ? {} : { topics }),
		...partitionsOf(partitions, consumers, traits, leave),
		...keysOf(file.keyDistributor, traits, leave),
		...payloadOf(file, leave),
	};
}

/** Its GB are 1024^3 bytes, and its test lasts until they are drained. */
function backlogOf(
	wanted: { gb: number; bytes: number; perSecond: number; minutes: number },
	{ redeliverAfterNs, keepsOnly }: Traits,
	leave: Leave,
): Written {
	const { gb, bytes, perSecond, minutes } = wanted;
	const messages = Math.ceil((gb * 1024 ** 3) / bytes);
	const most = Math.min(
		1e9,
		// A duration of at most a week has room for building it and as much again.
		Math.floor((perSecond * WEEK_NS) / 2e9),
		redeliverAfterNs === null
			? Number.POSITIVE_INFINITY
			: Math.floor(perSecond * (redeliverAfterNs / 1e9 - 1)),
		keepsOnly === null
			? Number.POSITIVE_INFINITY
			: Math.max(keepsOnly.messages, Math.floor(keepsOnly.bytes / bytes)),
	);
	const taken = Math.max(1, Math.min(messages, most));
	if (taken < messages)
		leave(
			quoted("consumerBacklogSizeGB", gb),
			`consumers of this system can pause for ${taken} messages at this rate`,
		);
	const rate = { messages: perSecond, perNs: 1e9 };
	const { neededNs } = backlogTimes(minutes * 60e9, rate, taken);
	return {
		backlog: taken < messages ? taken : `${gb}GiB`,
		duration: neededNs <= minutes * 60e9 ? `${minutes}min` : `${neededNs / 1e9}s`,
	};
}

function partitionsOf(
	partitions: number,
	consumers: number,
	traits: Traits,
	leave: Leave,
): Written {
	if (traits.partitions) return partitions === 1 && consumers <= 1 ? {} : { partitions };
	if (partitions > 1)
		leave(quoted("partitionsPerTopic", partitions), `topics of ${traits.title} have no partitions`);
	return {};
}

function safeName(name: string): string {
	const safe = name
		.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
		.replaceAll(/\.{2,}/g, ".")
		.slice(0, 80)
		.replaceAll(/^[^A-Za-z0-9]+|[-.]+$/g, "");
	return safe === "" ? "imported" : safe;
}

const KEYS: Readonly<Record<string, string>> = {
	NO_KEY: "none",
	KEY_ROUND_ROBIN: "round-robin",
	RANDOM_NANO: "random",
};

function keysOf(distributor: unknown, { keys: able, title }: Traits, leave: Leave): Written {
	const keys = KEYS[String(distributor ?? "NO_KEY")];
	if (keys === "none") return {};
	if (keys !== undefined && able) return { keys };
	leave(
		quoted("keyDistributor", distributor),
		keys === undefined ? "has no equivalent here" : `messages of ${title} have no keys`,
	);
	return {};
}

function payloadOf(file: Written, leave: Leave): Written {
	if (file.useRandomizedPayloads === true) {
		// Its own default is 0.
		const ratio = Number(file.randomBytesRatio ?? 0);
		return ratio >= 1 ? {} : { payload: { random: Math.max(0, ratio) || 0 } };
	}
	if (file.payloadFile !== undefined && file.payloadFile !== null)
		leave(
			quoted("payloadFile", file.payloadFile),
			"payloads are random; write payload: { file: <path> } to send the file's bytes",
		);
	return {};
}
