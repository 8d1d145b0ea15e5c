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
							pattern: `pattern request-reply sends replies on topics of their own, and ${key} may use no other than yours (create: false); write pattern: round-trip, or remove create and topics to have mqbench make them`,
						}
					: topics !== named && {
							topics: `topics: case "${name}" sends to ${topics}, and ${key} names ${named} of yours; write topics: ${named} in the workload, or name ${topics}`,
						},
				wildcard && {
					wildcard: `wildcard: a pattern over your own topics (${key}, create: false) would take those of others as well; remove wildcard, or create and topics`,
				},
				bystanders > 0 && {
					bystanders: `bystanders subscribe to topics more, and ${key} may use no other than yours (create: false); remove bystanders, or create and topics`,
				},
			],
			[...path, "topics"],
		);
	});
}
