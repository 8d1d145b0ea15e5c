import { tell } from "../text/tell.ts";
import { caseProblems, type ResolvedCases } from "./cases.ts";
import type { Problem } from "./problem.ts";
import type { PlacedSystem } from "./systems.ts";

/** Cases that cannot be made with the topics that a system names as the user's own. */
export function beyondExistingTopics(
	systems: readonly PlacedSystem[],
	cases: ResolvedCases,
): Problem[] {
	return systems.flatMap(({ key, existingTopics, path }) => {
		if (existingTopics === null) return [];
		const named = existingTopics.length;
		return caseProblems(
			cases,
			({ name, pattern, topics, wildcard, bystanders }) => [
				pattern === "request-reply"
					? { pattern: tell("yours-request-reply", { system: key }) }
					: topics !== named && {
							topics: tell("yours-other-number", { case: name, topics, system: key, named }),
						},
				wildcard && { wildcard: tell("yours-wildcard", { system: key }) },
				bystanders > 0 && { bystanders: tell("yours-bystanders", { system: key }) },
			],
			[...path, "topics"],
		);
	});
}
