import path from "node:path";
import { plainNames } from "../model/workload.ts";
import { formatBytesExact, formatDurationExact } from "../units.ts";
import type { Case } from "./scenario.ts";
import { loadName } from "./schedule.ts";
import { type WorkloadField, workloadFields } from "./workload-schema.ts";

/** The name that was given, else what the case overrides, else message and load: "1KiB 20000/s 25 connections". */
export function caseName(
	one: Case,
	override: Readonly<Record<string, unknown>>,
): string {
	if (typeof override.name === "string") return override.name;
	const named = [...new Set([...FIRST, ...workloadFields])].filter((field) =>
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

/** How a field reads in a name. */
const inName: Readonly<Record<WorkloadField, (one: Case) => string>> = {
	...plainNames,
	message: (one) => formatBytesExact(one.message.bytes),
	rate: loadName,
	stages: loadName,
	steps: loadName,
	messages: loadName,
	arrivals: loadName,
	seed: ({ schedule }) =>
		schedule.kind === "poisson" ? `seed ${schedule.seed}` : "",
	find: (one) => (one.find === null ? "" : `find ${one.find}`),
	pattern: (one) => one.pattern,
	backlog: ({ backlog }) =>
		backlog === null ? "" : `${backlog.messages} waiting`,
	payload: ({ message: { payload, randomRatio, file } }) => {
		if (file !== null) return path.basename(file);
		if (randomRatio === 1) return payload;
		return `${Number((randomRatio * 100).toPrecision(6))}% random`;
	},
	checksum: (one) => (one.message.checksum ? "checksum" : "no checksum"),
	duration: (one) => formatDurationExact(one.schedule.durationNs),
	warmup: ({ schedule }) =>
		`warmup ${schedule.kind === "closed" ? schedule.warmupMessages : schedule.steady ? "steady" : formatDurationExact(schedule.warmupNs)}`,
	drain: (one) => `drain ${formatDurationExact(one.drainNs)}`,
	timeout: (one) => `timeout ${formatDurationExact(one.timeoutNs)}`,
};

/** The order within a name, which plans and results are known by; later fields come behind these. */
const FIRST: readonly WorkloadField[] = [
	...(["message", "rate", "stages", "steps", "messages", "arrivals"] as const),
	...(["seed", "find", "pattern", "connections", "producers"] as const),
	...(["consumers", "consumerConnections", "subscriptions", "topics"] as const),
	...(["partitions", "wildcard", "bystanders", "inFlight", "backlog"] as const),
	...(["payload", "keys", "work", "checksum", "delivery", "order"] as const),
	...(["duration", "warmup", "drain", "timeout"] as const),
];
