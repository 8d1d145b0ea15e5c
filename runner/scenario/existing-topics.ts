import { plural } from "../units.ts";
import { caseProblems, type ResolvedCases } from "./cases.ts";
import type { Problem } from "./problem.ts";
import type { PlacedSystem } from "./systems.ts";

/** Cases that cannot be made with the topics that a system names as the user's own. */
export function beyondExistingTopics(
	systems: readonly PlacedSystem[],
	cases: ResolvedCases,
): Problem[] {
	return systems.flatMap(({ key, ownTopics, path }) => {
		if (ownTopics === null) return [];
		const named = ownTopics.length;
		return caseProblems(
			cases,
			({ name, pattern, topics, wildcard, bystanders }) => [
				pattern === "request-reply"
					? {
							pattern: `pattern request-reply makes topics for replies, and ${key} has create: false; write pattern: round-trip`,
						}
					: topics !== named && {
							topics: `case "${name}" sends to ${plural(topics, "topic")}, and ${key} names ${named}; write topics: ${named} in workload`,
						},
				wildcard && {
					wildcard: `a wildcard could match topics of others, and ${key} has create: false; remove wildcard`,
				},
				bystanders > 0 && {
					bystanders: `bystanders subscribe to more topics, and ${key} has create: false; remove bystanders`,
				},
			],
			[...path, "topics"],
		);
	});
}
