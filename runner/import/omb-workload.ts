import type { Pattern } from "../model/load.ts";
import { safeName } from "../scenario/load.ts";
import { backlogTimes } from "../scenario/schedule.ts";
import { sum } from "../stats/sum.ts";
import { type Leave, quoted } from "./file.ts";

type Written = Readonly<Record<string, unknown>>;

export function existingTopics({ existingTopicList: list }: Written): string[] | null {
	return Array.isArray(list) && list.length > 0 ? list.map(String) : null;
}

/** Reads a Workload: producerRate covers all producers, counts are per topic, sizes in bytes, durations in minutes. */
export function readWorkload(
	file: Written,
	leave: Leave,
): { name: string; workload: Written; sla: readonly string[] } {
	const others = new Set(Object.keys(file));
	const take = (key: string) => {
		others.delete(key);
		return file[key] ?? undefined;
	};
	const number = (key: string, otherwise: number) => {
		const value = Number(take(key) ?? otherwise);
		if (!Number.isNaN(value)) return value;
		leave(quoted(key, file[key]), `${otherwise} is taken`);
		return otherwise;
	};
	const [name, count] = [take("name"), number("topics", 1)];
	const topics = existingTopics({ existingTopicList: take("existingTopicList") })?.length ?? count;
	const subscriptions = number("subscriptionsPerTopic", 1);
	const group = number("consumerPerSubscription", 1);
	const partitions = number("partitionsPerTopic", 1);
	const producers = number("producersPerTopic", 1) * topics;
	const consumers = group * topics;
	const size = number("messageSize", 1024);
	const { message, mean: bytes } = sizesOf(take("messageSizeDistribution"), size, leave);
	const backlogGb = number("consumerBacklogSizeGB", 0);
	const rate = number("producerRate", 0);
	const shared = subscriptions > 1 ? "fan-out" : "work-queue";
	const received = backlogGb > 0 ? "backlog" : shared;
	const pattern: Pattern = consumers * subscriptions === 0 ? "publish" : received;
	if (pattern === "fan-out" && group > 1)
		leave(quoted("consumerPerSubscription", group), "each subscriber of a fan-out is one consumer");
	if (pattern === "backlog" && subscriptions > 1)
		leave(
			quoted("subscriptionsPerTopic", subscriptions),
			"a backlog is built for one group of consumers",
		);
	const asFast = rate === 0 || rate >= AS_FAST_AS_POSSIBLE;
	const search = asFast && pattern !== "backlog";
	const perSecond = asFast ? FIRST_RATE : rate;
	if (search)
		leave(
			quoted("producerRate", rate),
			`the highest rate with ${OBJECTIVE} and nothing lost is searched, from ${FIRST_RATE}/s on; write your own limit in sla, or for the highest throughput alone messages: 1000000 instead of rate, duration and find`,
		);
	else if (asFast)
		leave(quoted("producerRate", rate), `a backlog is built at a rate; ${FIRST_RATE}/s is taken`);
	const minutes = number("testDurationMinutes", 5);
	const warmup = number("warmupDurationMinutes", 1);
	const workload = {
		pattern,
		...(pattern === "fan-out" && { subscriptions }),
		...((pattern === "work-queue" || pattern === "backlog") && { consumers }),
		rate: `${perSecond}/s`,
		...(search && { find: "max-rate" }),
		message,
		...(pattern === "backlog" && { backlog: `${backlogGb}GiB` }),
		duration:
			pattern === "backlog"
				? drainedWithin(minutes, perSecond, (backlogGb * 1024 ** 3) / bytes)
				: `${minutes}min`,
		warmup: warmup === 0 ? "0s" : `${warmup}min`,
		// Each of its producers is a connection.
		...(producers !== 1 && { connections: producers }),
		...(topics !== 1 && { topics }),
		...((partitions > 1 || consumers > 1) && { partitions }),
		...keysOf(take("keyDistributor"), leave),
		...payloadOf(take, leave),
	};
	for (const key of others)
		if (file[key] !== null) leave(quoted(key, file[key]), "has no equivalent here");
	return {
		name: safeName(typeof name === "string" ? name : "", "imported"),
		workload,
		sla: [pattern === "publish" ? "failed == 0" : "lost == 0", ...(search ? [OBJECTIVE] : [])],
	};
}

// --- internal ---

/** Its search starts here and allows 1000 waiting messages, which take OBJECTIVE at this rate. */
const FIRST_RATE = 10_000;
/** Its maximum-throughput workloads ask for a rate that no system reaches. */
const AS_FAST_AS_POSSIBLE = 10_000_000;
const OBJECTIVE = "p99 < 100ms";

/** Its test lasts until the backlog is drained. */
function drainedWithin(minutes: number, perSecond: number, messages: number): string {
	const rate = { messages: perSecond, perNs: 1e9 };
	const { neededNs } = backlogTimes(minutes * 60e9, rate, Math.ceil(messages));
	return neededNs <= minutes * 60e9 ? `${minutes}min` : `${neededNs / 1e9}s`;
}

const KEYS: Record<string, string> = { KEY_ROUND_ROBIN: "round-robin", RANDOM_NANO: "random" };

function keysOf(distributor: unknown = "NO_KEY", leave: Leave): Written {
	const keys = KEYS[String(distributor)];
	if (keys !== undefined) return { keys };
	if (distributor !== "NO_KEY")
		leave(quoted("keyDistributor", distributor), "has no equivalent here");
	return {};
}

/** Weights of ranges such as "1KB-4KB": all messages of one have the size in its middle. */
function sizesOf(distribution: unknown, size: number, leave: Leave) {
	const weights = Object.entries((distribution ?? {}) as Written).map(([range, weight]) => {
		const [from = Number.NaN, to = Number.NaN] = range.split("-").map(bytesIn);
		return { bytes: Math.floor((from + to) / 2), weight: Number(weight) };
	});
	const used = weights.filter(({ weight }) => weight !== 0);
	const all = sum(used.map(({ weight }) => weight));
	const mean = sum(used.map(({ bytes, weight }) => bytes * weight)) / all;
	if (!(mean > 0)) {
		if (distribution !== undefined)
			leave(
				"messageSizeDistribution",
				`it is not a map of sizes, "0-256", to weights; ${size}B is taken`,
			);
		return { message: `${size}B`, mean: size };
	}
	let [upTo, before] = [0, 0];
	const message = used.map(({ bytes, weight }) => {
		upTo += weight;
		const share = Math.round((upTo / all) * 1e6) - before;
		before += share;
		return [`${bytes}B`, `${share / 1e4}%`];
	});
	return { message: Object.fromEntries(message) as Written, mean };
}

function bytesIn(text: string): number {
	const [, number, unit = ""] = /^\s*(\d+)\s*([KM]?)B?\s*$/i.exec(text) ?? [];
	return Number(number) * 1024 ** ["", "K", "M"].indexOf(unit.toUpperCase());
}

function payloadOf(take: (key: string) => unknown, leave: Leave): Written {
	const [random, ratio, file] = ["useRandomizedPayloads", "randomBytesRatio", "payloadFile"].map(
		take,
	);
	if (random === true) return { payload: { random: Number(ratio ?? 0) } };
	if (file !== undefined)
		leave(
			quoted("payloadFile", file),
			"payloads are random; write payload: { file: <path> } to send the file's bytes",
		);
	return {};
}
