import { formatBytesExact, formatDurationExact, formatRate } from "../units.ts";
import type { Case } from "./scenario.ts";
import type { WorkloadField } from "./schema.ts";

/** The name that was given, else what the case overrides, else message and rate. */
export function caseName(
	one: Case,
	override: Readonly<Record<string, unknown>>,
): string {
	if (typeof override.name === "string") return override.name;
	const named = (Object.keys(inName) as WorkloadField[]).filter((field) =>
		Object.hasOwn(override, field),
	);
	const shown = named.length > 0 ? named : (["message", "rate"] as const);
	return shown.map((field) => inName[field](one)).join(" ");
}

// --- internal ---

/** How a field reads in a name; the order is that of the name. */
const inName: Readonly<Record<WorkloadField, (one: Case) => string>> = {
	message: (one) => formatBytesExact(one.messageBytes),
	rate: (one) => formatRate(one.rate),
	connections: (one) => counted(one.connections, "connection"),
	producers: (one) => counted(one.producers, "producer"),
	topics: (one) => counted(one.topics, "topic"),
	inFlight: (one) => `${one.inFlight} in flight`,
	payload: (one) => one.payload,
	checksum: (one) => (one.checksum ? "checksum" : "no checksum"),
	delivery: (one) => one.delivery ?? "",
	order: (one) => `order ${one.order}`,
	pattern: (one) => one.pattern,
	duration: (one) => formatDurationExact(one.durationNs),
	warmup: (one) => `warmup ${formatDurationExact(one.warmupNs)}`,
	drain: (one) => `drain ${formatDurationExact(one.drainNs)}`,
	timeout: (one) => `timeout ${formatDurationExact(one.timeoutNs)}`,
};

function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
