import { expect, test } from "vitest";
import { resolveCases } from "./cases.ts";
import { parseParts } from "./parts.ts";
import type { Problem } from "./problem.ts";

test("a matrix of more than 1000 combinations is refused, and not computed", () => {
	const seeds = Array.from({ length: 100 }, (_, i) => i);
	const problems: Problem[] = [];
	resolveCases(
		parseParts({
			workload: { rate: "3000/s", message: "256B", duration: "10s" },
			matrix: { seed: seeds, bystanders: seeds, connections: seeds },
		}),
		problems,
	);
	expect(problems[0]?.message).toBe(
		"the matrix has 1000000 combinations, and at most 1000 are allowed; remove some values",
	);
});
