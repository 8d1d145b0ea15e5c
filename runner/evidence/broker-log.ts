import { sizeOfGiven } from "../given-folder.ts";
import { lines } from "../histogram/log-file.ts";

/** A line of broker.log that says when it was written. */
export interface BrokerLine {
	/** Number of the node, from 1. */
	readonly node: number;
	/** By the node's own clock, ms since 1970. */
	readonly atMs: number;
	/** By its own word a warning or worse. */
	readonly serious: boolean;
	/** Without its time. */
	readonly text: string;
	/** What mqbench did to the node, not what that said. */
	readonly ours: boolean;
}

/**
 * The lines of a broker.log that have a time to the millisecond or better, in the form of each system, and of mqbench. Those of mosquitto
 * (whole seconds) and ElasticMQ (no date) have none. Where there are several nodes a line
 * begins with the number of one. Times without a zone are UTC: so we start brokers. Lines without a time (the stack of a Java program) are left out.
 * Read line by line each time that somebody goes through them: a broker that logs each message writes gigabytes. null: there is no such file.
 */
export function readBrokerLog(path: string): Iterable<BrokerLine> | null {
	const bytes = sizeOfGiven(path);
	if (bytes === null) return null;
	return {
		*[Symbol.iterator]() {
			for (const line of lines({ path, bytes })) {
				const found = brokerLine(line);
				if (found !== null) yield found;
			}
		},
	};
}

/** null: the line has no time that is exact enough. */
export function brokerLine(line: string): BrokerLine | null {
	const alone = parsed(line);
	if (alone !== null) return { node: 1, ...alone };
	const [, node = "", rest = ""] = /^\[(\d+)\] (.*)$/.exec(line) ?? [];
	const found = parsed(rest);
	return found === null ? null : { node: Number(node), ...found };
}

// --- internal ---

/** Day, time, what is left of the second, zone, text. */
const FORMS = [
	// 2026-11-20T10:17:46.123Z (Java by our pattern, mqbench), 2026-11-20 10:17:46.123456+00:00 (RabbitMQ), [2026-11-20 10:17:46,123] (Kafka's own).
	/^\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)[.,](\d+)(Z|[+-]\d\d:\d\d)?\]? (.*)$/,
	// time=2026-11-20T10:17:46.123Z level=WARN (Go's slog: Mochi MQTT).
	/^time=(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.(\d+)(Z|[+-]\d\d:\d\d) level=(.*)$/,
	// [4711] 2026/11/20 10:17:46.123456 (nats-server; NSQ has its name in the brackets).
	/^\[\w+\] (\d{4}\/\d\d\/\d\d) (\d\d:\d\d:\d\d)\.(\d+)() (.*)$/,
	// 4711:M 20 Nov 2026 10:17:46.123 (Redis).
	/^\d+:\w (\d\d \w{3} \d{4}) (\d\d:\d\d:\d\d)\.(\d+)() (.*)$/,
];
/** Redis marks its warnings with a #. */
const SERIOUS =
	/^(?:#|\[?(?:W|E|F|WARN|WRN|WARNING|ERROR|ERR|FATAL|FTL|CRITICAL|SEVERE|ALERT|EMERGENCY)\]?:?)(?:\s|$)|^Error:/i;

const OURS = "mqbench: ";

function parsed(line: string): Omit<BrokerLine, "node"> | null {
	for (const form of FORMS) {
		const [, day, time, part, zone, text = ""] = form.exec(line) ?? [];
		if (day === undefined || time === undefined) continue;
		const whole = /^\d{4}/.test(day)
			? `${day.replaceAll("/", "-")}T${time}${zone || "Z"}`
			: `${day} ${time} UTC`;
		const atMs = Date.parse(whole) + Number(`0.${part ?? 0}`) * 1000;
		if (!Number.isNaN(atMs)) return found(atMs, text);
	}
	return null;
}

function found(atMs: number, text: string): Omit<BrokerLine, "node"> {
	const ours = text.startsWith(OURS);
	return { atMs, text, ours, serious: !ours && SERIOUS.test(text) };
}
