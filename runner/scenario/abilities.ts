import type { BrokerName, Traits } from "../brokers/index.ts";
import { sizeText } from "../model/field.ts";
import { CHECKSUM_BYTES, ENVELOPE_BYTES, MOST_BYTES } from "../model/load.ts";
import { say } from "../text/say.ts";
import { tell } from "../text/tell.ts";
import { ratePerSecond } from "../units.ts";
import { caseProblems, type FieldSentences, type ResolvedCases } from "./cases.ts";
import { busy } from "./consumers.ts";
import { sizeFor } from "./message-size.ts";
import { type Partitioned, partitionsOf } from "./partitions.ts";
import type { Problem } from "./problem.ts";
import type { Case } from "./scenario.ts";

/** A system, as far as its abilities go. */
interface Able extends Partitioned {
	readonly key: string;
	readonly broker: BrokerName;
	readonly traits: Traits;
	readonly existingTopics?: readonly string[] | null;
}

/** The cases that ask a system for what it cannot do, or does not promise: no measurement could be held against it. */
export function beyondAbilities(systems: readonly Able[], cases: ResolvedCases): Problem[] {
	// Beside one that has partitions, others do without.
	const partitioned = systems.some(({ traits }) => traits.partitions);
	return caseProblems(cases, (one) =>
		systems.flatMap((system) => [
			{ message: unsendable(one, system), pattern: cannot(one, system) },
			...lacking(one, system, partitioned),
			{
				consumers: sharing(one, system),
				backlog: redeliveredInPause(one, system) ?? trimmed(one, system),
				work: redeliveredBehindWork(one, system) ?? tooMuchWork(one, system),
				order: order(one, system) ?? overtaken(one, system),
			},
		]),
	);
}

// --- internal ---

/** Larger than a system takes, or by its limit no size at all. */
function unsendable({ message }: Case, { key, traits }: Able): string | undefined {
	const { maxMessageBytes: limitBytes, title } = traits;
	const size = sizeFor(message.size, traits);
	if (size === null) return tell("no-limit-of-system", { system: key, title });
	if (limitBytes === null) return undefined;
	const { bytes } = size;
	if (typeof message.size === "number")
		return bytes <= limitBytes
			? undefined
			: tell("too-large-for-system", { messageBytes: bytes, system: key, mostBytes: limitBytes });
	const least = ENVELOPE_BYTES + (message.checksum ? CHECKSUM_BYTES : 0);
	return bytes >= least && bytes <= MOST_BYTES
		? undefined
		: tell("limit-out-of-range", {
				system: key,
				limitBytes,
				size: sizeText(message.size),
				leastBytes: least,
				mostBytes: MOST_BYTES,
			});
}

function cannot({ pattern }: Case, { key, traits }: Able): string | undefined {
	const why = traits.cannot[pattern];
	const instead = traits.instead?.[pattern];
	return why === undefined
		? undefined
		: tell("pattern-beyond-system", {
				system: key,
				title: traits.title,
				pattern,
				why,
				remedy: instead ?? tell("drop-system", { system: key }),
			});
}

/** What its topics and messages do not have. */
function lacking(
	{ keys, partitions, wildcard }: Case,
	{ key, traits, options }: Able,
	partitioned: boolean,
): (FieldSentences | false)[] {
	const who = `${key} (${traits.title})`;
	return [
		keys !== null && !traits.keys && { keys: tell("no-keys", { who }) },
		partitions !== null &&
			partitions > 1 &&
			!partitioned && { partitions: tell("no-partitions", { who }) },
		partitions !== null &&
			options?.partitions !== undefined && {
				partitions: say("partitions-twice", { system: key }).text,
			},
		wildcard && !traits.wildcards && { wildcard: tell("no-wildcards", { who }) },
	];
}

/** Responders that share a topic are a group, and what has no groups has no work queues either, unless only requests are shared. */
function sharing(one: Case, { key, traits }: Able): string | undefined {
	const why = traits.cannot["work-queue"];
	const instead = traits.instead?.["work-queue"];
	const shares = traits.respondersShare ?? why === undefined;
	return one.pattern === "request-reply" && competing(one) && !shares
		? tell("consumers-cannot-share", {
				consumers: one.consumers,
				topics: one.topics,
				system: key,
				title: traits.title,
				why: why ?? "",
				remedy: instead ?? `write consumers: ${one.topics}`,
			})
		: undefined;
}

/** A pause of ours that makes the broker hand messages out again would be booked as the broker's duplicates. */
function redeliveredInPause(
	one: Case,
	{ key, traits: { redeliverAfterNs } }: Able,
): string | undefined {
	if (one.backlog === null || redeliverAfterNs === null) return undefined;
	if (one.schedule.kind !== "constant") return undefined;
	const pause = one.backlog.resumeNs - one.backlog.pauseNs;
	return pause < redeliverAfterNs
		? undefined
		: say("redelivered-in-pause", { pauseNs: pause, system: key, redeliverAfterNs }).text;
}

/** The last message of a full prefetch waits for the work on all others. */
function redeliveredBehindWork(
	{ work }: Case,
	{ key, traits: { prefetch, redeliverAfterNs } }: Able,
): string | undefined {
	if (work === null || prefetch === null || redeliverAfterNs === null) return undefined;
	const wait = work.meanNs * Math.max(1, prefetch);
	return wait < redeliverAfterNs
		? undefined
		: tell("prefetch-outlasts-redelivery", {
				system: key,
				prefetch,
				heldNs: wait,
				redeliverAfterNs,
				most: Math.max(1, Math.floor((redeliverAfterNs - 1) / work.meanNs)),
			});
}

function order(one: Case, { key, traits }: Able): string | undefined {
	if (one.order === "none") return undefined;
	if (!traits.ordered) return tell("no-order", { system: key, title: traits.title });
	return competing(one) && !traits.groupOrdered
		? tell("no-order-when-shared", {
				system: key,
				title: traits.title,
				consumers: one.consumers,
				topics: one.topics,
			})
		: undefined;
}

function overtaken(one: Case, system: Able): string | undefined {
	const partitions = partitionsOf(one, system);
	return one.order === "per-producer" && partitions > 1
		? say("order-over-partitions", { partitions }).text
		: undefined;
}

/** A queue that grows whatever the broker does: its figures would be of the work. */
function tooMuchWork(one: Case, system: Able): string | undefined {
	const { schedule, find } = one;
	// Stages may go beyond it for a while, and a search begins wherever it likes.
	if (find !== null || schedule.rate === null || schedule.kind === "stages") return undefined;
	const { groupsByPartition } = system.traits;
	const partitions = partitionsOf(one, system);
	const load = busy({ ...one, partitions, groupsByPartition }, ratePerSecond(schedule.rate));
	return load?.beyond ? `${system.key}: ${load.said.text}; ${load.remedy.text}` : undefined;
}

/** What a topic does not keep until consumers resume would be booked as the broker's loss. */
function trimmed(one: Case, { key, traits, existingTopics }: Able) {
	const { backlog, message, topics } = one;
	// Those of the user are not trimmed.
	if (backlog === null || traits.keepsOnly === null || existingTopics) return undefined;
	const { messages, bytes, option, inBytes } = traits.keepsOnly;
	const each = sizeFor(message.size, traits)?.bytes ?? 1;
	const kept = Math.max(messages, Math.floor(bytes / each));
	const waiting = Math.ceil(backlog.messages / topics);
	if (waiting <= kept) return undefined;
	const warning = say("backlog-trimmed", { system: key, kept, waiting });
	// While consumers catch up, more messages arrive.
	const set = { option, value: 2 * waiting * (inBytes ? each : 1), system: key };
	return `${warning.text}; ${say("write-option", set).text}`;
}

/** Member k mod M takes topic k mod T: a topic has several of them when there are more members than topics. */
function competing({ consumers, topics }: Case): boolean {
	return consumers > topics;
}
