import { type OnlyFor, onlyFor, receiversOf } from "../model/workload.ts";
import { formatBytesExact, formatDurationExact } from "../units.ts";
import { backlogTimes } from "./backlog.ts";
import type { FieldProblem } from "./problem.ts";
import { durationOf } from "./schedule.ts";
import {
	CHECKSUM_BYTES,
	ENVELOPE_BYTES,
	type WorkloadField,
	type WrittenWorkload,
	workloadFields,
} from "./workload-schema.ts";
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

const ONLY: Readonly<Partial<Record<WorkloadField, OnlyFor | undefined>>> = {
	...onlyFor,
	backlog: { patterns: ["backlog"], why: () => "only there consumers pause" },
};

/** What nobody receives cannot be checked. */
const UNSEEN: readonly WorkloadField[] = ["delivery", "order", "checksum"];

function ofPattern(fields: Fields, written: Written): FieldProblem[] {
	const { pattern } = fields;
	if (!pattern) return [];
	const found: FieldProblem[] = [];
	for (const field of workloadFields) {
		const only = ONLY[field];
		if (only === undefined || only.patterns.includes(pattern)) continue;
		if (isSet(fields, written, field))
			found.push({
				field,
				message: `${field} is for ${new Intl.ListFormat("en-GB").format(only.patterns)}, and pattern is ${pattern}: ${only.why(pattern)}; remove ${field}, or write pattern: ${only.patterns[0]}`,
			});
	}
	if (pattern === "publish")
		for (const field of UNSEEN)
			if (isSet(fields, written, field) && fields[field] !== "at-most-once")
				found.push({
					field,
					message: `${field} is about messages that are received, and with pattern publish nobody receives; remove ${field}, or write pattern: work-queue`,
				});
	if (pattern === "fan-out" && !Object.hasOwn(written, "subscriptions"))
		found.push({
			field: "pattern",
			message:
				"pattern fan-out has no subscriptions; write how many get each message, e.g. subscriptions: 10",
		});
	if (pattern === "backlog" && !Object.hasOwn(written, "backlog"))
		found.push({
			field: "pattern",
			message:
				"pattern backlog has no backlog; write how much piles up while consumers pause, e.g. backlog: 100000 or backlog: 1GiB",
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
			message: `timeout ${formatDurationExact(timeout)} is longer than drain ${formatDurationExact(drain)}, after which nothing is waited for; raise drain`,
		});
	const needed = ENVELOPE_BYTES + CHECKSUM_BYTES;
	if (checksum && message !== undefined && message < needed)
		found.push({
			field: "message",
			message: `message ${formatBytesExact(message)} is too small for checksum: true; it needs ${needed}B, ${ENVELOPE_BYTES} of envelope and ${CHECKSUM_BYTES} of CRC32C; write at least message: ${needed}B`,
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
			message: `producers ${producers} leave ${connections - producers} of ${connections} connections without a message; write at least producers: ${connections}`,
		});
	if (fields.topics !== undefined && fields.topics > producers)
		found.push({
			field: "topics",
			message: `topics ${fields.topics} are more than the ${producers} producers, each of which sends to one; write at least producers: ${fields.topics}`,
		});
	const receivers = receiversOf(fields.pattern ?? "round-trip", fields);
	if (
		consumerConnections !== undefined &&
		receivers > 0 &&
		consumerConnections > receivers
	) {
		const noun = fields.pattern === "fan-out" ? "subscriptions" : "consumers";
		found.push({
			field: "consumerConnections",
			message: `consumerConnections ${consumerConnections} are more than the ${receivers} ${noun} that use them; write at most consumerConnections: ${receivers}, or more ${noun}`,
		});
	}
	return found;
}

function ofOrder({ order, keys, partitions = 1 }: Fields): FieldProblem[] {
	if (order === "per-key" && keys === "none")
		return [
			{
				field: "order",
				message:
					"order per-key needs messages with keys; write e.g. keys: random, or order: per-producer",
			},
		];
	if (order === "per-producer" && partitions > 1)
		return [
			{
				field: "order",
				message: `order per-producer does not hold over ${partitions} partitions, among which a producer's messages are spread; write partitions: 1, or keys and order: per-key`,
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
			"pattern backlog needs a rate: a closed load would stop as soon as consumers pause; write rate and duration instead of messages",
		);
	const varying = steps ? "steps" : rate && stages ? "stages" : null;
	if (varying !== null)
		return wrong(
			varying,
			`pattern backlog needs one constant rate, so that its phases can be told apart; write rate instead of ${varying}`,
		);
	if (!rate) return [];
	if (fields.arrivals === "poisson")
		return wrong(
			"arrivals",
			"pattern backlog needs messages at equal distances, so that the backlog is as large as it says; remove arrivals",
		);
	if (fields.find !== undefined)
		return wrong(
			"find",
			"find: max-rate has no meaning for pattern backlog, where consumers pause; remove find",
		);
	const duration = durationOf(fields);
	const backlog = backlogOf(fields);
	if (duration === null || backlog === null) return [];
	if (duration % 1e9 !== 0)
		return wrong(
			"duration",
			`pattern backlog needs a duration of whole seconds, as reports tell its phases apart by the second; write duration: ${Math.ceil(duration / 1e9)}s`,
		);
	if (fields.inFlight !== undefined) {
		const most =
			fields.inFlight * (fields.producers ?? fields.connections ?? 1);
		if (most < backlog)
			return wrong(
				"inFlight",
				`inFlight ${fields.inFlight} would hold producers back before the backlog is there; remove inFlight`,
			);
	}
	const { neededNs, resumeNs, pauseNs } = backlogTimes(duration, rate, backlog);
	if (duration - resumeNs < pauseNs)
		return wrong(
			"duration",
			`duration ${formatDurationExact(duration)} is too short for the backlog, which takes ${formatDurationExact(resumeNs - pauseNs)} to build: it needs as much time before and after; write at least duration: ${formatDurationExact(neededNs)}`,
		);
	return [];
}
