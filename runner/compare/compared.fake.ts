import type { Plan } from "../model/plan.ts";
import type { Result, Run } from "../model/result.ts";
import { expand } from "../plan/expand.ts";
import { loadOf } from "../result/run.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { loadScenario } from "../scenario/load.ts";

/** For tests: a result whose runs have these values (ns) as p50 and p99 of response, by system, in the order of repeats. */
export function comparedResult(
	yaml: string,
	values: Readonly<Record<string, readonly number[]>>,
	change: (run: Run) => Partial<Run> = () => ({}),
	only?: string,
): { result: Result; plans: Plan[] } {
	const plans = expand(loadScenario("s.yaml", yaml), { runId: "r1", only });
	return { result: resultOf(plans, values, change), plans };
}

/** For tests: the same of plans. */
export function resultOf(
	plans: readonly Plan[],
	values: Readonly<Record<string, readonly number[]>>,
	change: (run: Run) => Partial<Run> = () => ({}),
): Result {
	const healthy = fixtureResult("healthy");
	const [template] = healthy.runs;
	const response = template?.metrics.response;
	if (!template || !response) throw new Error("the fixture has no run");
	const runs = plans.map((plan): Run => {
		const value = values[plan.system]?.[plan.repeat - 1] ?? 1e6;
		const run: Run = {
			...template,
			index: plan.index,
			system: plan.system,
			case: plan.case,
			repeat: plan.repeat,
			confirms: plan.confirms,
			load: loadOf(plan),
			metrics: {
				...template.metrics,
				response: { ...response, percentiles: response.percentiles.map((p) => ({ ...p, value })) },
			},
		};
		return { ...run, ...change(run) };
	});
	return {
		...healthy,
		runId: "r1",
		verdict: "pass",
		environment: healthy.environment && { ...healthy.environment, bootId: "boot 1" },
		runs,
		gates: [],
	};
}
