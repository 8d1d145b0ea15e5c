import { inName, type Workload, type WorkloadField, workloadFields } from "../model/workload.ts";

/** The name that was given, else what the case overrides, else message and load: "1KiB 20000/s 25 connections". */
export function caseName(one: Workload, override: Readonly<Record<string, unknown>>): string {
	if (typeof override.name === "string") return override.name;
	const named = [...new Set([...FIRST, ...workloadFields])].filter((field) =>
		Object.hasOwn(override, field),
	);
	const shown = named.length > 0 ? named : (["message", "rate"] as const);
	// Several fields may be one thing: rate and stages are one load.
	const words = new Set(shown.map((field) => inName(field, one)));
	// A name is part of paths and of --only: no * and ?, and one line that fits a table.
	return [...words]
		.filter((word) => word !== "")
		.join(" ")
		.replaceAll(/[\p{C}*?]/gu, "-")
		.slice(0, 120);
}

// --- internal ---

/** The order within a name, which plans and results are known by; later fields come behind these. */
const FIRST: readonly WorkloadField[] = [
	...(["message", "rate", "stages", "steps", "messages", "arrivals"] as const),
	...(["seed", "find", "pattern", "connections", "producers"] as const),
	...(["consumers", "consumerConnections", "subscriptions", "topics"] as const),
	...(["partitions", "wildcard", "bystanders", "inFlight", "backlog"] as const),
	...(["payload", "keys", "work", "checksum", "delivery", "order"] as const),
	...(["duration", "warmup", "drain", "timeout"] as const),
];
