import type { BrokerName, Traits } from "../brokers/index.ts";
import { PATTERNS, type Pattern } from "../model/workload.ts";
import { formatBytesExact, formatDuration } from "../units.ts";
import { backlogTimes } from "./backlog.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Problem } from "./problem.ts";
import type { Case } from "./scenario.ts";
import type { WorkloadField } from "./schema.ts";

/** A system, as far as its abilities go. */
export interface Able {
	readonly key: string;
	readonly broker: BrokerName;
	readonly traits: Traits;
}

/** The cases that ask a system for what it cannot do, or does not promise: no measurement could be held against it. */
export function beyondAbilities(
	systems: readonly Able[],
	{ cases, where }: ResolvedCases,
): Problem[] {
	return cases.flatMap((one, index) =>
		one === undefined
			? []
			: systems.flatMap((system) =>
					refusals.flatMap(([field, refuse]): Problem[] => {
						const message = refuse(one, system);
						return message === undefined
							? []
							: [{ path: where(index, field), at: "value", message }];
					}),
				),
	);
}

// --- internal ---

type Refuse = (one: Case, system: Able) => string | undefined;

const refusals: readonly (readonly [WorkloadField, Refuse])[] = [
	[
		"message",
		({ messageBytes }, { key, traits: { maxMessageBytes: most } }) =>
			most === null || messageBytes <= most
				? undefined
				: `message ${formatBytesExact(messageBytes)} is larger than what ${key} takes, ${formatBytesExact(most)}; the envelope is part of it`,
	],
	[
		"pattern",
		({ pattern }, { key, traits }) => {
			const why = traits.cannot[pattern];
			return why === undefined
				? undefined
				: `pattern ${pattern}: ${key} (${traits.title}) cannot do it: ${why}${why.includes(";") ? ", or" : ";"} leave ${key} out, or write one of ${able(traits).join(", ")}`;
		},
	],
	[
		"keys",
		({ keys }, { key, traits }) =>
			keys === null || traits.keys
				? undefined
				: `keys: messages of ${key} (${traits.title}) have none; remove keys, or leave ${key} out`,
	],
	[
		"partitions",
		({ partitions }, { key, traits }) =>
			partitions === 1 || traits.partitions
				? undefined
				: `partitions ${partitions}: topics of ${key} (${traits.title}) have none; write topics instead, or leave ${key} out`,
	],
	[
		"wildcard",
		({ wildcard }, { key, traits }) =>
			!wildcard || traits.wildcards
				? undefined
				: `wildcard: ${key} (${traits.title}) subscribes to topics by their names alone; remove wildcard, or leave ${key} out`,
	],
	["consumers", sharing],
	["backlog", heldInPause],
	["work", heldBehindWork],
	["order", order],
];

/** Responders that share a topic are a group, and what has no groups has no work queues either. */
function sharing(one: Case, { key, traits }: Able): string | undefined {
	const why = traits.cannot["work-queue"];
	return one.pattern === "request-reply" && competing(one) && why !== undefined
		? `consumers ${one.consumers}: ${key} (${traits.title}) cannot share ${topics(one)} among them: ${why}; write at most as many consumers as topics, or leave ${key} out`
		: undefined;
}

/** A pause of ours that makes the broker hand messages out again would be booked as the broker's duplicates. */
function heldInPause(
	one: Case,
	{ key, traits: { redeliverAfterNs } }: Able,
): string | undefined {
	if (one.backlog === null || redeliverAfterNs === null) return undefined;
	const { load } = one;
	if (load.kind !== "constant") return undefined;
	const { pauseNs, resumeNs } = backlogTimes(
		one.durationNs,
		load.rate,
		one.backlog,
	);
	const pause = resumeNs - pauseNs;
	return pause < redeliverAfterNs
		? undefined
		: `backlog: consumers pause for ${formatDuration(pause)}, and ${key} hands out again what they have held for ${formatDuration(redeliverAfterNs)}; raise its ackWait, or build a smaller backlog`;
}

/** The last message of a full prefetch waits for the work on all others. */
function heldBehindWork(
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
