import type { Plan } from "../model/plan.ts";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";

/** For tests: the plans of a scenario; their run id is "r". */
export function plansOf(text: string, only?: string): Plan[] {
	return expand(loadScenario("s.yaml", text), { runId: "r", only });
}

/** For tests: the first plan of a workload with 256 B messages: "rate: 10/s, duration: 1s". */
export function planOf(workload: string, head = "system: nats"): Plan {
	const [plan] = plansOf(`${head}\nworkload: { message: 256B, ${workload} }\n`);
	if (!plan) throw new Error("the scenario has no runs");
	return plan;
}
