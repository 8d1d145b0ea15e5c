import { CHECKSUM_BYTES, ENVELOPE_BYTES } from "../../model/load.ts";
import { onlyFor, receiversOf, type WorkloadField, workloadFields } from "../../model/workload.ts";
import { plural } from "../../units.ts";
import type { Fields } from "../loads.ts";
import type { Wrong } from "../problem.ts";

export function checkTopology(of: Fields, wrong: Wrong<WorkloadField>): void {
	const { pattern, drain, timeout, message } = of;
	if (pattern) checkPattern(of, pattern, wrong);
	if (timeout !== undefined && drain !== undefined && timeout > drain)
		wrong("timeout", "timeout-beyond-drain", { timeoutNs: timeout, drainNs: drain });
	const least = ENVELOPE_BYTES + CHECKSUM_BYTES;
	if (of.checksum && typeof message === "number" && message < least)
		wrong("message", "too-small-for-checksum", {
			messageBytes: message,
			leastBytes: least,
			checksum: CHECKSUM_BYTES,
			envelope: ENVELOPE_BYTES,
		});
	if (of.order === "per-key" && of.keys === "none") wrong("order", "order-without-keys");
	const { connections, topics = 1, consumerConnections = 0 } = of;
	if (connections === undefined) return;
	const { producers = connections } = of;
	if (connections > producers)
		wrong("producers", "connections-beyond-producers", { producers, connections });
	if (topics > producers) wrong("topics", "topics-beyond-producers", { producers, topics });
	const receivers = receiversOf(pattern ?? "round-trip", of);
	if (receivers > 0 && consumerConnections > receivers)
		wrong("consumerConnections", "connections-beyond-receivers", {
			consumerConnections,
			receivers,
			who: plural(receivers, pattern === "fan-out" ? "subscription" : "consumer"),
		});
}

// --- internal ---

const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

function checkPattern(
	of: Fields,
	pattern: NonNullable<Fields["pattern"]>,
	wrong: Wrong<WorkloadField>,
): void {
	for (const field of workloadFields) {
		const only = onlyFor(field);
		if (only && !only.includes(pattern) && isSet(of, field))
			wrong(field, "needs-pattern", { field, patterns: EITHER.format(only), pattern });
	}
	// Without receivers, nothing can be checked.
	if (pattern === "publish")
		for (const field of ["delivery", "order", "checksum"] as const)
			if (isSet(of, field) && of[field] !== "at-most-once")
				wrong(field, "nobody-to-check", { field });
	if (pattern === "fan-out" && !of.has("subscriptions"))
		wrong("pattern", "fan-out-without-subscriptions");
	if (pattern === "backlog" && !of.has("backlog")) wrong("pattern", "backlog-without-size");
}

/** Is the field written with a value that has an effect? */
function isSet(of: Fields, field: WorkloadField): boolean {
	const value = of[field];
	return of.has(field) && value !== undefined && ![false, 0, "none"].includes(value as never);
}
