import { PATTERNS, type Pattern } from "../plan/plan.ts";
import { formatBytesExact } from "../units.ts";
import type { BrokerName, Traits } from "./brokers.ts";
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
	["order", order],
];

function order(one: Case, { key, traits }: Able): string | undefined {
	if (one.order === "none") return undefined;
	if (!traits.ordered)
		return `order ${one.order}: ${key} (${traits.title}) promises no order; write order: none, or leave ${key} out`;
	// Member k mod M takes topic k mod T: a topic has several of them when there are more members than topics.
	const competing = one.consumers > one.topics;
	return competing && !traits.groupOrdered
		? `order ${one.order}: ${one.consumers} consumers compete for the messages of ${one.topics === 1 ? "one topic" : `${one.topics} topics`}, and ${key} (${traits.title}) then promises no order; write order: none, or at most as many consumers as topics`
		: undefined;
}

function able({ cannot }: Traits): Pattern[] {
	return PATTERNS.filter((pattern) => cannot[pattern] === undefined);
}
