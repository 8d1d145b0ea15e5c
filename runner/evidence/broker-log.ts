import { sizeOfGiven } from "../given-folder.ts";
import { lines } from "../histogram/log-file.ts";

export type BrokerLine = NonNullable<ReturnType<typeof brokerLine>>;

/**
 * The lines of broker.log with a time to the millisecond or better; mosquitto (whole seconds), ElasticMQ (no date) and stacks have none.
 * With several nodes a line begins with the node's number. Times without a zone are UTC, because we start brokers in it. Reads the file
 * again for each iteration: a broker that logs each message writes gigabytes.
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

/** Null if the line has no time that is exact enough. Nodes count from 1. */
export function brokerLine(line: string) {
	const alone = parsed(line);
	if (alone !== null) return { node: 1, ...alone };
	const [, node = "", rest = ""] = /^\[(\d+)\] (.*)$/.exec(line) ?? [];
	const found = parsed(rest);
	return found === null ? null : { node: Number(node), ...found };
}

// --- internal ---

/** Day, time, the second's decimals, zone, text. */
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
/** Redis marks warnings with a #. */
const SERIOUS =
	/^(?:#|\[?(?:W|E|F|WARN|WRN|WARNING|ERROR|ERR|FATAL|FTL|CRITICAL|SEVERE|ALERT|EMERGENCY)\]?:?)(?:\s|$)|^Error:/i;
const OURS = "mqbench: ";

function parsed(line: string) {
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

/**
 * `atMs`: by the node's own clock, since 1970. `ours`: by mqbench, about its own action on the node. `serious`: the broker calls it a
 * warning or worse.
 */
function found(atMs: number, text: string) {
	const ours = text.startsWith(OURS);
	return { atMs, text, ours, serious: !ours && SERIOUS.test(text) };
}
