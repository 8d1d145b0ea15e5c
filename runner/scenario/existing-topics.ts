import type { ResolvedCases } from "./cases.ts";
import type { Path, Problem } from "./problem.ts";
import type { PlacedSystem } from "./systems.ts";

/** Cases that cannot be made with the topics that a system names as the user's own. */
export function beyondExistingTopics(
	systems: readonly PlacedSystem[],
	{ cases, where }: ResolvedCases,
	isWritten: (path: Path) => boolean,
): Problem[] {
	return systems.flatMap(({ key, ownTopics, path }) =>
		ownTopics === null
			? []
			: cases.flatMap((one, index): Problem[] => {
					if (!one) return [];
					const found: Problem[] = [];
					const wrong = (place: Path, message: string) =>
						found.push({ path: place, at: "value", message });
					const { pattern, topics, wildcard, bystanders } = one;
					const named = ownTopics.length;
					const given = where(index, "topics");
					if (pattern === "request-reply")
						wrong(
							where(index, "pattern"),
							`pattern request-reply sends replies on topics of their own, and ${key} may use no other than yours (create: false); write pattern: round-trip, or remove create and topics to have mqbench make them`,
						);
					else if (topics !== named)
						wrong(
							isWritten(given) ? given : [...path, "topics"],
							`topics: case "${one.name}" sends to ${topics}, and ${key} names ${named} of yours; write topics: ${named} in the workload, or name ${topics}`,
						);
					if (wildcard)
						wrong(
							where(index, "wildcard"),
							`wildcard: a pattern over your own topics (${key}, create: false) would take those of others as well; remove wildcard, or create and topics`,
						);
					if (bystanders > 0)
						wrong(
							where(index, "bystanders"),
							`bystanders subscribe to topics more, and ${key} may use no other than yours (create: false); remove bystanders, or create and topics`,
						);
					return found;
				}),
	);
}
