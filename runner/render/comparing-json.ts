import type { Comparing, Named } from "../compare/comparing.ts";
import { readableJson } from "../result/json.ts";

/** A comparison for programs. */
export function comparingJson(
	{ a, others, outcome, summary }: Comparing,
	exitCode: number,
): string {
	const side = ({ path: where, baseline }: Named) => {
		const { scenario, runId, startedAt, mqbench, machine } = baseline;
		return { path: where, scenario, runId, startedAt, mqbench, machine };
	};
	return `${readableJson({
		schema: 1,
		outcome,
		summary,
		exitCode,
		a: side(a),
		others: others.map((other) => ({
			...side(other),
			outcome: other.outcome,
			comparisons: other.comparisons,
			notCompared: other.notCompared,
			differences: other.differences,
		})),
	})}\n`;
}
