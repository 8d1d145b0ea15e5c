import type { BrokerName, Traits } from "../brokers/index.ts";
import { PATTERNS, type Pattern } from "../model/workload.ts";
import { formatBytesExact, formatDuration } from "../units.ts";
import {
	caseProblems,
	type FieldSentences,
	type ResolvedCases,
} from "./cases.ts";
import type { Problem } from "./problem.ts";
import type { Case } from "./scenario.ts";

/** A system, as far as its abilities go. */
interface Able {
	readonly key: string;
	readonly broker: BrokerName;
	readonly traits: Traits;
}

/** The cases that ask a system for what it cannot do, or does not promise: no measurement could be held against it. */
export function beyondAbilities(
	systems: readonly Able[],
	cases: ResolvedCases,
): Problem[] {
	return caseProblems(cases, (one) =>
		systems.flatMap((system) => [
			{ message: tooLarge(one, system), pattern: cannot(one, system) },
			...lacking(one, system),
			{
				consumers: sharing(one, system),
				backlog: redeliveredInPause(one, system),
				work: redeliveredBehindWork(one, system),
				order: order(one, system),
			},
		]),
	);
}

// --- internal ---

function tooLarge(
	{ message: { bytes } }: Case,
	{ key, traits: { maxMessageBytes: most } }: Able,
): string | undefined {
	return most === null || bytes <= most
		? undefined
		: `message ${formatBytesExact(bytes)} is larger than what ${key} takes, ${formatBytesExact(most)}; the envelope is part of it`;
}

function cannot({ pattern }: Case, { key, traits }: Able): string | undefined {
	const why = traits.cannot[pattern];
	const instead = traits.instead?.[pattern];
	return why === undefined
		? undefined
		: `pattern ${pattern}: ${key} (${traits.title}) cannot do it: ${why};${instead === undefined ? "" : ` ${instead}, or`} leave ${key} out, or write one of ${able(traits).join(", ")}`;
}

/** What its topics and messages do not have. */
function lacking(
	{ keys, partitions, wildcard }: Case,
	{ key, traits }: Able,
): (FieldSentences | false)[] {
	const who = `${key} (${traits.title})`;
	return [
		keys !== null &&
			!traits.keys && {
				keys: `keys: messages of ${who} have none; remove keys, or leave ${key} out`,
			},
		partitions > 1 &&
			!traits.partitions && {
				partitions: `partitions ${partitions}: topics of ${who} have none; write topics instead, or leave ${key} out`,
			},
		wildcard &&
			!traits.wildcards && {
				wildcard: `wildcard: ${who} subscribes to topics by their names alone; remove wildcard, or leave ${key} out`,
			},
	];
}

/** Responders that share a topic are a group, and what has no groups has no work queues either. */
function sharing(one: Case, { key, traits }: Able): string | undefined {
	const why = traits.cannot["work-queue"];
	const instead = traits.instead?.["work-queue"];
	return one.pattern === "request-reply" && competing(one) && why !== undefined
		? `consumers ${one.consumers}: ${key} (${traits.title}) cannot share ${topics(one)} among them: ${why};${instead === undefined ? "" : ` ${instead};`} write at most as many consumers as topics, or leave ${key} out`
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
		: `backlog: consumers pause for ${formatDuration(pause)}, and ${key} hands out again what they have held for ${formatDuration(redeliverAfterNs)}; raise its ackWait, or build a smaller backlog`;
}

/** The last message of a full prefetch waits for the work on all others. */
function redeliveredBehindWork(
	{ work }: Case,
	{ key, traits: { prefetch, redeliverAfterNs } }: Able,
): string | undefined {
	if (work === null || prefetch === null || redeliverAfterNs === null)
		return undefined;
	const wait = work.meanNs * Math.max(1, prefetch);
	return wait < redeliverAfterNs
		? undefined
		: `work: the last of ${prefetch} messages that a consumer of ${key} holds (prefetch) waits ${formatDuration(wait)} for its turn, and after ${formatDuration(redeliverAfterNs)} it is handed out again; write a smaller prefetch, or a longer ackWait`;
}

function order(one: Case, { key, traits }: Able): string | undefined {
	if (one.order === "none") return undefined;
	if (!traits.ordered)
		return `order ${one.order}: ${key} (${traits.title}) promises no order; write order: none, or leave ${key} out`;
	return competing(one) && !traits.groupOrdered
		? `order ${one.order}: ${one.consumers} consumers compete for the messages of ${topics(one)}, and ${key} (${traits.title}) then promises no order; write order: none, or at most as many consumers as topics`
		: undefined;
}

/** Member k mod M takes topic k mod T: a topic has several of them when there are more members than topics. */
function competing({ consumers, topics }: Case): boolean {
	return consumers > topics;
}

function topics({ topics: count }: Case): string {
	return count === 1 ? "one topic" : `${count} topics`;
}

function able({ cannot }: Traits): Pattern[] {
	return PATTERNS.filter((pattern) => cannot[pattern] === undefined);
}
