import type { Comparing, Named } from "../compare/comparing.ts";
import { readableJson } from "../result/json.ts";

export function comparingJson(comparing: Comparing, exitCode: number): string {
	const { a, b, outcome, summary, comparisons, notCompared, differences } = comparing;
	const side = ({ path: where, baseline }: Named) => {
		const { scenario, runId, startedAt, mqbench, machine } = baseline;
		return { path: where, scenario, runId, startedAt, mqbench, machine };
	};
	const head = { schema: 1, outcome, summary, exitCode, a: side(a), b: side(b) };
	return `${readableJson({ ...head, comparisons, notCompared, differences })}\n`;
}
