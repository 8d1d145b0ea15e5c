import { WEEK_NS } from "../model/field.ts";
import { CHECKSUM_BYTES, ENVELOPE_BYTES } from "../model/load.ts";
import {
	onlyFor,
	receiversOf,
	type WorkloadField,
	workloadFields,
} from "../model/workload.ts";
import { say } from "../text/say.ts";
import { formatBytesExact, formatDurationExact, plural } from "../units.ts";
import { backlogTimes } from "./backlog.ts";
import type { FieldProblem } from "./problem.ts";
import { durationOf } from "./schedule.ts";
import type { WrittenWorkload } from "./workload-schema.ts";
import type { Written } from "./written.ts";

/** Rules between the fields of one workload, besides those of its load (loads.ts). */

/** `fields`: those that are right by themselves, with defaults; `written`: what stands in the file. */
export function fieldProblems(
	fields: Partial<WrittenWorkload>,
	written: Written,
): FieldProblem[] {
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
	return message === undefined ? null : Math.ceil(backlog.bytes / message);
}

// --- internal ---

type Fields = Partial<WrittenWorkload>;

const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** What nobody receives cannot be checked. */
const UNSEEN: readonly WorkloadField[] = ["delivery", "order", "checksum"];

function ofPattern(fields: Fields, written: Written): FieldProblem[] {
	const { pattern } = fields;
	if (!pattern) return [];
	const found: FieldProblem[] = [];
	for (const field of workloadFields) {
		const only = onlyFor(field);
		if (only === undefined || only.includes(pattern)) continue;
		if (isSet(fields, written, field))
			found.push({
				field,
				message: `${field} needs pattern: ${EITHER.format(only)}; this workload is ${pattern}`,
			});
	}
	if (pattern === "publish")
		for (const field of UNSEEN)
			if (isSet(fields, written, field) && fields[field] !== "at-most-once")
				found.push({
					field,
					message: `${field} is about received messages, and in pattern publish nobody receives any; remove ${field}`,
				});
	if (pattern === "fan-out" && !Object.hasOwn(written, "subscriptions"))
		found.push({
			field: "pattern",
			message:
				"pattern fan-out needs subscriptions: how many receive each message; write e.g. subscriptions: 10",
		});
	if (pattern === "backlog" && !Object.hasOwn(written, "backlog"))
		found.push({
			field: "pattern",
			message:
				"pattern backlog needs backlog: how many messages pile up while consumers pause; write e.g. backlog: 100000",
		});
	return found;
}

/** Was the field written, with another value than the one that means nothing? */
function isSet(
	fields: Fields,
	written: Written,
	field: WorkloadField,
): boolean {
	const value = fields[field];
	return (
		Object.hasOwn(written, field) &&
		value !== undefined &&
		value !== false &&
		value !== 0 &&
		value !== "none"
	);
}

function ofLimits({
	drain,
	timeout,
	checksum,
	message,
}: Fields): FieldProblem[] {
	const found: FieldProblem[] = [];
	if (timeout !== undefined && drain !== undefined && timeout > drain)
		found.push({
			field: "timeout",
			message: `timeout ${formatDurationExact(timeout)} is longer than drain ${formatDurationExact(drain)}, the longest wait for a message; write drain: ${formatDurationExact(timeout)}`,
		});
	const needed = ENVELOPE_BYTES + CHECKSUM_BYTES;
	if (checksum && message !== undefined && message < needed)
		found.push({
			field: "message",
			message: `message ${formatBytesExact(message)} is too small for checksum: true, which adds ${CHECKSUM_BYTES} bytes to the ${ENVELOPE_BYTES} of each message; write at least message: ${needed}B`,
		});
	return found;
}

function ofTopology(fields: Fields): FieldProblem[] {
	const found: FieldProblem[] = [];
	const { connections, consumerConnections } = fields;
	const producers = fields.producers ?? connections;
	if (producers === undefined || connections === undefined) return found;
	if (connections > producers)
		found.push({
			field: "producers",
			message: `${plural(producers, "producer")} cannot use ${connections} connections; write at least producers: ${connections}`,
		});
	if (fields.topics !== undefined && fields.topics > producers)
		found.push({
			field: "topics",
			message: `${plural(producers, "producer")} cannot fill ${fields.topics} topics, as each sends to one; write producers: ${fields.topics}`,
		});
	const receivers = receiversOf(fields.pattern ?? "round-trip", fields);
	if (
		consumerConnections !== undefined &&
		receivers > 0 &&
		consumerConnections > receivers
	) {
		const noun = fields.pattern === "fan-out" ? "subscription" : "consumer";
		found.push({
			field: "consumerConnections",
			message: `${plural(receivers, noun)} cannot use ${consumerConnections} connections; write consumerConnections: ${receivers}`,
		});
	}
	return found;
}

function ofOrder({ order, keys }: Fields): FieldProblem[] {
	if (order === "per-key" && keys === "none")
		return [
			{
				field: "order",
				message: say("order-without-keys").text,
			},
		];
	return [];
}

function ofBacklog(fields: Fields): FieldProblem[] {
	const { pattern, rate, stages, steps, messages } = fields;
	if (pattern !== "backlog") return [];
	const wrong = (field: WorkloadField, text: string) => [
		{ field, message: text },
	];
	if (messages !== undefined)
		return wrong(
			"messages",
			"pattern backlog needs a rate: a closed load (messages) stops when consumers pause; write rate and duration instead of messages",
		);
	const varying = steps ? "steps" : rate && stages ? "stages" : null;
	if (varying !== null)
		return wrong(
			varying,
			`pattern backlog needs one constant rate; write rate and duration instead of ${varying}`,
		);
	if (!rate) return [];
	if (fields.arrivals === "poisson")
		return wrong(
			"arrivals",
			"pattern backlog needs a steady stream of messages; remove arrivals",
		);
	if (fields.find !== undefined)
		return wrong(
			"find",
			"find: max-rate cannot search in pattern backlog, where consumers pause; remove find",
		);
	const duration = durationOf(fields);
	const backlog = backlogOf(fields);
	if (duration === null || backlog === null) return [];
	if (duration % 1e9 !== 0)
		return wrong(
			"duration",
			`pattern backlog needs a duration of whole seconds; write duration: ${Math.ceil(duration / 1e9)}s`,
		);
	if (fields.inFlight !== undefined) {
		const most =
			fields.inFlight * (fields.producers ?? fields.connections ?? 1);
		if (most < backlog)
			return wrong(
				"inFlight",
				`inFlight ${fields.inFlight} would stop producers before the backlog has piled up; remove inFlight`,
			);
	}
	const { neededNs, resumeNs, pauseNs } = backlogTimes(duration, rate, backlog);
	if (duration - resumeNs < pauseNs)
		return wrong(
			"duration",
			`duration ${formatDurationExact(duration)} is too short: the backlog takes ${formatDurationExact(resumeNs - pauseNs)} to pile up, and more to drain; ${neededNs > WEEK_NS ? "write a smaller backlog" : `write at least duration: ${formatDurationExact(neededNs)}`}`,
		);
	return [];
}
