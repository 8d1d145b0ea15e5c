import type { Level } from "../../model/plan.ts";
import { type Durability, declared } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";

interface Options extends SystemOptionsOfAnyBroker {
	readonly acks: string | number;
}

/** When Kafka looks whether a topic's flush.ms is over: never, unless it is told to. */
export const SCHEDULER = "log.flush.scheduler.interval.ms";

/** Settings of the server that a topic's own, which each level sets, take the place of. */
export const OVERRULED = ["log.flush.interval.messages", "log.flush.interval.ms"];

export function kafkaDurability(options: Options, ours: boolean): Durability {
	const { durability, config = {} } = options;
	const acks = `acks=${options.acks}`;
	const levels = levelTexts(options);
	if (!ours) {
		if (durability === undefined)
			return { level: null, text: `not known (your brokers), ${acks}`, by: [] };
		// The driver sets the others on the topics that it makes.
		return durability === "memory"
			? declared(durability, levels.memory)
			: { level: durability, text: `${levels[durability]} (${durability})`, by: [] };
	}
	const by = Object.keys(config).filter((key) =>
		key === SCHEDULER
			? durability === undefined || durability === "interval"
			: durability === undefined && OVERRULED.includes(key),
	);
	if (by.length === 0)
		return durability === undefined
			? { level: "os", text: ownText(options), by }
			: { level: durability, text: `${levels[durability]} (${durability})`, by };
	const level = durability === "interval" ? ofTimes(1000, config[SCHEDULER]) : ofServer(config);
	const set = by.map((key) => `${key}=${config[key]}`).join(", ");
	return {
		level,
		text: `${durability === undefined ? "" : "flush.ms=1000, "}${set}, ${acks} (${level})`,
		by,
	};
}

export function levelTexts({ acks }: Options): Readonly<Record<Level, string>> {
	return {
		memory: `log.dirs on tmpfs, acks=${acks}`,
		os: `flush.messages and flush.ms: never, acks=${acks}`,
		interval: `flush.ms=1000, acks=${acks}`,
		fsync: `flush.messages=1, acks=${acks}`,
	};
}

export function ownText({ acks }: Options): string {
	return `os (no flush, default), acks=${acks}`;
}

// --- internal ---

type Value = string | number | boolean | undefined;

/** A day and more is never, in a run; so is Kafka's own, 2^63 - 1. */
const NEVER_MS = 24 * 3600 * 1000;

/** The server's defaults of what topics can have of their own. */
function ofServer(config: Readonly<Record<string, Value>>): Level {
	const [messages = "", ms = ""] = OVERRULED;
	const interval = Number(config[messages] ?? Number.POSITIVE_INFINITY);
	if (interval === 1) return "fsync";
	if (interval < NEVER_MESSAGES) return "interval";
	return ofTimes(config[ms] ?? config[SCHEDULER], config[SCHEDULER]);
}

/** Flushed so long after a message, if anybody looks so often. */
function ofTimes(flushMs: Value, schedulerMs: Value): Level {
	const looked = (ms: Value) => ms !== undefined && Number(ms) < NEVER_MS;
	return looked(flushMs) && looked(schedulerMs) ? "interval" : "os";
}

const NEVER_MESSAGES = 1e9;
