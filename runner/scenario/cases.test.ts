import { expect, test } from "vitest";
import { resolveCases } from "./cases.ts";
import type { Problem } from "./problem.ts";
import { ScenarioFile } from "./schema.ts";

test("a matrix of more than 1000 combinations is refused, and not computed", () => {
	const seeds = Array.from({ length: 100 }, (_, i) => i);
	const problems: Problem[] = [];
	const written = {
		workload: { rate: "3000/s", message: "256B", duration: "10s" },
		matrix: {
			seed: seeds,
			bystanders: seeds.map((n) => n + 1),
			connections: seeds.map((n) => n + 1),
		},
	};
	resolveCases(ScenarioFile.parse(written), written, problems);
	expect(problems[0]?.message).toBe(
		"the matrix has 1000000 combinations, and at most 1000 are allowed; remove some values",
	);
});
