import { formatCount as count, formatDuration, plural } from "../units.ts";
import { percent } from "./percent.ts";

/** What a load asks of itself that no broker can mend: said before a run, and by its checks. */
export const loadLimits = {
	"steady-window": (d: { part: string; instead: string }) =>
		`warmup: steady opens the window when latency has settled, and ${d.part} must be fixed before the run; write e.g. warmup: ${d.instead}`,
	"steady-clients": () =>
		"warmup: steady needs one client: each sees only its own messages; write e.g. warmup: 15s",
	"consumers-idle": (d: {
		idle: number;
		consumers: number;
		/** Of each topic, those that get messages. */
		partitions: number;
	}) =>
		`${d.idle} of ${plural(d.consumers, "consumer")} get${d.idle === 1 ? "s" : ""} nothing, because each partition has one consumer and ${d.partitions === 1 ? "one partition has" : `${d.partitions} partitions have`} messages`,
	"consumers-free": () => "every consumer got messages, and was not always busy",
	"order-without-keys": () => "order: per-key needs messages with keys; write keys: random",
	"redelivered-in-pause": (d: { pauseNs: number; system: string; redeliverAfterNs: number }) =>
		`consumers pause for ${formatDuration(d.pauseNs)}, and ${d.system} redelivers what they have held for ${formatDuration(d.redeliverAfterNs)}; write a smaller backlog`,
	"order-over-partitions": (d: { partitions: number }) =>
		`order: per-producer needs one partition: over ${d.partitions} a producer's messages may overtake each other; write partitions: 1`,
	"partitions-twice": (d: { system: string }) =>
		`partitions is set here and in ${d.system}; remove one of them`,
	"work-beyond": (d: Work) =>
		`with ${formatDuration(d.workNs)} of work for each message the consumers carry at most ${most(d)}/s, and the rate is ${count(d.perSecond)}/s`,
	"work-near": (d: Work) =>
		`with ${formatDuration(d.workNs)} of work for each message the busiest consumer is busy ${percent(d.busy)} of the time at ${count(d.perSecond)}/s, so messages wait for consumers`,
	"consumers-bound": (d: { workNs: number; perSecond: number }) =>
		`with ${formatDuration(d.workNs)} of work for each message the consumers carry at most ${count(d.perSecond)}/s, whatever the broker`,
	"producers-idle": (d: { idle: number; producers: number; messages: number }) =>
		`${d.idle} of ${plural(d.producers, "producer")} send${d.idle === 1 ? "s" : ""} nothing, because only ${plural(d.messages, "message")} ${d.messages === 1 ? "is" : "are"} due`,
	"backlog-trimmed": (d: { system: string; kept: number; waiting: number }) =>
		`${d.system} keeps ${plural(d.kept, "message")} of a topic, and ${count(d.waiting)} pile up, so the first ones are lost`,

	"search-takes": (d: { probeNs: number; confirmNs: number; curve: number }) =>
		`a search, find: max-rate: usually 10 to 25 runs; the first takes ${formatDuration(d.probeNs)}, the last ones confirm the answer (${formatDuration(d.confirmNs)} at this rate) and measure ${plural(d.curve, "lower rate")}; starting brokers and waiting for the last messages come on top`,

	"write-partitions": (d: { partitions: number }) => `write partitions: ${d.partitions}`,
	"write-consumers": (d: { consumers: number }) => `write consumers: ${d.consumers}`,
	"write-connections": (d: { connections: number }) => `write connections: ${d.connections}`,
	"more-consumers": () => "to see more of the broker, use more consumers",
	"write-producers": (d: { producers: number }) => `write producers: ${d.producers}`,
	"write-keys": (d: { keys: number }) => `write count: ${d.keys} in keys`,
	"write-rate": (d: { perSecond: number }) => `write at most rate: ${d.perSecond}/s`,
	"write-option": (d: { option: string; value: number; system: string }) =>
		`write ${d.option}: ${d.value} in ${d.system}`,
};

// --- internal ---

interface Work {
	readonly workNs: number;
	readonly perSecond: number;
	/** Of the busiest consumer's time. */
	readonly busy: number;
}

function most({ perSecond, busy }: Work): string {
	return count(Math.floor(perSecond / busy));
}
