import { sizeText, WEEK_NS } from "../model/field.ts";
import { CHECKSUM_BYTES, ENVELOPE_BYTES } from "../model/load.ts";
import { onlyFor, receiversOf, type WorkloadField, workloadFields } from "../model/workload.ts";
import { say } from "../text/say.ts";
import { formatDurationExact, plural } from "../units.ts";
import { backlogTimes } from "./backlog.ts";
import { type FieldProblem, refuseField } from "./problem.ts";
import { durationOf } from "./schedule.ts";
import type { WrittenWorkload } from "./workload-schema.ts";
import type { Written } from "./written.ts";

/** Rules between the fields of one workload, besides those of its load (loads.ts). */

/** `fields`: those that are right by themselves, with defaults; `written`: what stands in the file. */
export function fieldProblems(fields: Partial<WrittenWorkload>, written: Written): FieldProblem[] {
	return [
		...ofPattern(fields, written),
		...ofLimits(fields),
		...ofTopology(fields),
		...ofOrder(fields),
		...ofBacklog(fields),
	];
}

/** Messages that pile up; null: the pattern has no backlog, or its size is not known. */
export function backlogOf(fields: Partial<WrittenWorkload>): number | null {
	const { pattern, backlog, message } = fields;
	if (pattern !== "backlog" || backlog === undefined) return null;
	if (typeof backlog === "number") return backlog;
	return typeof message === "number" ? Math.ceil(backlog.bytes / message) : null;
}

// --- internal ---

type Fields = Partial<WrittenWorkload>;

const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** What nobody receives cannot be checked. */
const UNSEEN: readonly WorkloadField[] = ["delivery", "order", "checksum"];

function ofPattern(fields: Fields, written: Written): FieldProblem[] {
	const { pattern } = fields;
	if (!pattern) return [];
	const problems: FieldProblem[] = [];
	for (const field of workloadFields) {
		const only = onlyFor(field);
		if (only === undefined || only.includes(pattern)) continue;
		if (isSet(fields, written, field))
			problems.push(
				refuseField(field, "needs-pattern", { field, patterns: EITHER.format(only), pattern }),
			);
	}
	if (pattern === "publish")
		for (const field of UNSEEN)
			if (isSet(fields, written, field) && fields[field] !== "at-most-once")
				problems.push(refuseField(field, "nobody-to-check", { field }));
	if (pattern === "fan-out" && !Object.hasOwn(written, "subscriptions"))
		problems.push(refuseField("pattern", "fan-out-without-subscriptions"));
	if (pattern === "backlog" && !Object.hasOwn(written, "backlog"))
		problems.push(refuseField("pattern", "backlog-without-size"));
	return problems;
}

/** Was the field written, with another value than the one that means nothing? */
function isSet(fields: Fields, written: Written, field: WorkloadField): boolean {
	const value = fields[field];
	return (
		Object.hasOwn(written, field) &&
		value !== undefined &&
		value !== false &&
		value !== 0 &&
		value !== "none"
	);
}

function ofLimits({ drain, timeout, checksum, message }: Fields): FieldProblem[] {
	const problems: FieldProblem[] = [];
	if (timeout !== undefined && drain !== undefined && timeout > drain)
		problems.push(
			refuseField("timeout", "timeout-beyond-drain", { timeoutNs: timeout, drainNs: drain }),
		);
	const needed = ENVELOPE_BYTES + CHECKSUM_BYTES;
	if (checksum && typeof message === "number" && message < needed)
		problems.push(
			refuseField("message", "too-small-for-checksum", {
				messageBytes: message,
				leastBytes: needed,
				checksum: CHECKSUM_BYTES,
				envelope: ENVELOPE_BYTES,
			}),
		);
	return problems;
}

function ofTopology(fields: Fields): FieldProblem[] {
	const problems: FieldProblem[] = [];
	const { connections, consumerConnections } = fields;
	const producers = fields.producers ?? connections;
	if (producers === undefined || connections === undefined) return problems;
	if (connections > producers)
		problems.push(
			refuseField("producers", "connections-beyond-producers", { producers, connections }),
		);
	const { topics = 1 } = fields;
	if (topics > producers)
		problems.push(refuseField("topics", "topics-beyond-producers", { producers, topics }));
	const receivers = receiversOf(fields.pattern ?? "round-trip", fields);
	if (consumerConnections !== undefined && receivers > 0 && consumerConnections > receivers) {
		const noun = fields.pattern === "fan-out" ? "subscription" : "consumer";
		problems.push(
			refuseField("consumerConnections", "connections-beyond-receivers", {
				consumerConnections,
				receivers,
				who: plural(receivers, noun),
			}),
		);
	}
	return problems;
}

function ofOrder({ order, keys }: Fields): FieldProblem[] {
	if (order === "per-key" && keys === "none")
		return [{ field: "order", message: say("order-without-keys").text }];
	return [];
}

function ofBacklog(fields: Fields): FieldProblem[] {
	const { pattern, rate, stages, steps, messages } = fields;
	if (pattern !== "backlog") return [];
	if (messages !== undefined) return [refuseField("messages", "backlog-of-closed-load")];
	const varying = steps ? "steps" : rate && stages ? "stages" : null;
	if (varying !== null) return [refuseField(varying, "backlog-of-varying-rate", { varying })];
	if (typeof fields.backlog === "object" && typeof fields.message === "object")
		return [refuseField("backlog", "backlog-of-limit", { size: sizeText(fields.message) })];
	if (!rate) return [];
	if (fields.arrivals === "poisson") return [refuseField("arrivals", "backlog-of-random-arrivals")];
	if (fields.find !== undefined) return [refuseField("find", "backlog-searched")];
	const duration = durationOf(fields);
	const backlog = backlogOf(fields);
	if (duration === null || backlog === null) return [];
	if (duration % 1e9 !== 0)
		return [
			refuseField("duration", "backlog-of-part-seconds", { seconds: Math.ceil(duration / 1e9) }),
		];
	const { inFlight } = fields;
	if (inFlight !== undefined) {
		const most = inFlight * (fields.producers ?? fields.connections ?? 1);
		if (most < backlog) return [refuseField("inFlight", "in-flight-below-backlog", { inFlight })];
	}
	const { neededNs, resumeNs, pauseNs } = backlogTimes(duration, rate, backlog);
	if (duration - resumeNs < pauseNs)
		return [
			refuseField("duration", "backlog-too-long", {
				durationNs: duration,
				pileUpNs: resumeNs - pauseNs,
				write:
					neededNs > WEEK_NS
						? "write a smaller backlog"
						: `write at least duration: ${formatDurationExact(neededNs)}`,
			}),
		];
	return [];
}
