import { failure } from "../../errors.ts";
import type { Scenario } from "../../scenario/scenario.ts";
import { LEAST_RUNS } from "./noise.ts";

/** Stops nothing early, searches for nothing, compares nothing. */
export function scenarioToCalibrate(
	scenario: Scenario,
	/** `path` is for messages, `runs` is as typed. */
	{ path: file, runs }: { readonly path: string; readonly runs: string },
): Scenario {
	const usage = (message: string) => failure("usage", { message });
	if (!/^\d{1,3}$/.test(runs) || Number(runs) < LEAST_RUNS)
		throw usage(
			`--runs ${runs}: calibrate needs at least ${LEAST_RUNS} runs; write --runs ${LEAST_RUNS} or more`,
		);
	if (scenario.quick)
		throw usage(
			"--quick gives no results to calibrate with; shorten the runs with --set workload.duration=10s",
		);
	const cases = scenario.cases.filter(({ find }) => find === null);
	if (cases.length === 0)
		throw usage(
			`${file}: a search (find) never repeats a rate; calibrate a scenario with a fixed rate`,
		);
	return {
		...scenario,
		cases,
		sla: scenario.sla.map((line) => ({ ...line, expect: { ...line.expect, abort: false } })),
		baseline: null,
		repeat: Number(runs),
	};
}
