import path from "node:path";
import { plainNames, unlisted } from "../model/workload.ts";
import { formatBytesExact, formatDurationExact } from "../units.ts";
import { loadName } from "./loads.ts";
import type { Case } from "./scenario.ts";
import type { WorkloadField } from "./schema.ts";

/** The name that was given, else what the case overrides, else message and load: "1KiB 20000/s 25 connections". */
export function caseName(
	one: Case,
	override: Readonly<Record<string, unknown>>,
): string {
	if (typeof override.name === "string") return override.name;
	const named = (Object.keys(inName) as WorkloadField[]).filter((field) =>
		Object.hasOwn(override, field),
	);
	const shown = named.length > 0 ? named : (["message", "rate"] as const);
	// Several fields may be one thing: rate and stages are one load.
	const words = new Set(shown.map((field) => inName[field](one)));
	// A name is part of paths and of --only: no * and ?, and one line that fits a table.
	return [...words]
		.filter((word) => word !== "")
		.join(" ")
		.replaceAll(/[\p{C}*?]/gu, "-")
		.slice(0, 120);
}

// --- internal ---

const load = (one: Case) => loadName(one.load);

/** How a field reads in a name; the order is that of the name. */
const inName: Readonly<Record<WorkloadField, (one: Case) => string>> = {
	message: (one) => formatBytesExact(one.messageBytes),
	rate: load,
	stages: load,
	steps: load,
	messages: load,
	arrivals: load,
	seed: (one) => ("seed" in one.load ? `seed ${one.load.seed}` : ""),
	find: (one) => (one.find === null ? "" : `find ${one.find}`),
	pattern: (one) => one.pattern,
	connections: (one) => counted(one.connections, "connection"),
	producers: (one) => counted(one.producers, "producer"),
	consumers: plainNames.consumers,
	consumerConnections: plainNames.consumerConnections,
	subscriptions: plainNames.subscriptions,
	topics: (one) => counted(one.topics, "topic"),
	partitions: plainNames.partitions,
	wildcard: plainNames.wildcard,
	bystanders: plainNames.bystanders,
	inFlight: (one) => `${one.inFlight} in flight`,
	backlog: (one) => `${one.backlog} waiting`,
	payload: ({ payload }) => {
		if (payload.file !== null) return path.basename(payload.file);
		if (payload.randomRatio === 1) return payload.kind;
		return `${Number((payload.randomRatio * 100).toPrecision(6))}% random`;
	},
	keys: ({ keys }) =>
		keys === null ? "no keys" : `${keys.count} ${keys.distribution} keys`,
	work: plainNames.work,
	checksum: (one) => (one.checksum ? "checksum" : "no checksum"),
	delivery: (one) => one.delivery ?? "",
	order: (one) => `order ${one.order}`,
	duration: (one) => formatDurationExact(one.durationNs),
	warmup: ({ load, warmupNs }) =>
		`warmup ${load.kind === "closed" ? load.warmupMessages : formatDurationExact(warmupNs)}`,
	drain: (one) => `drain ${formatDurationExact(one.drainNs)}`,
	timeout: (one) => `timeout ${formatDurationExact(one.timeoutNs)}`,
	...unlisted(plainNames),
};

function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
