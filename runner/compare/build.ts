import type { Result } from "../model/result.ts";
import { placed } from "../result/gates.ts";
import { judge } from "../result/outcomes.ts";
import { bareResult, type Judged } from "../result/result.ts";
import { maskAll } from "../secrets.ts";
import { withBaseline } from "./with-baseline.ts";

/** Only from the files in `folder` (`reports/<run-id>`): the same folder gives the same bytes. Writes nothing. */
export function buildResult(folder: string, soFar?: readonly Judged[]): Result {
	const { result, runs, snapshot } = bareResult(folder, soFar);
	const plans = runs.map((r) => r.collected.plan);
	const whole = withBaseline(result, plans, snapshot);
	const { schema, scenario, runId, quick, ...rest } = whole;
	const head = { schema, scenario, runId, quick, ...judge(whole) };
	return maskAll({ ...head, ...rest, gates: placed(whole.gates, folder) });
}
