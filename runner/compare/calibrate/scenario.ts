import { failure } from "../../errors.ts";
import type { Scenario } from "../../scenario/scenario.ts";
import { didYouMean } from "../../suggest.ts";
import { LEAST_RUNS } from "./noise.ts";

/** The same runs again and again: nothing is stopped early, nothing is searched for, nothing is compared. */
export function scenarioToCalibrate(
	scenario: Scenario,
	{
		path: file,
		runs,
		system,
	}: {
		/** Of the scenario, for messages. */
		readonly path: string;
		/** As it was typed. */
		readonly runs: string;
		/** The one to calibrate; undefined: all. */
		readonly system?: string | undefined;
	},
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
	const systems = scenario.systems.filter(({ key }) => system === undefined || key === system);
	if (systems.length === 0)
		throw usage(
			`--system ${system ?? ""}: there is no such system in ${file}${didYouMean(
				system ?? "",
				scenario.systems.map(({ key }) => key),
			)}`,
		);
	const cases = scenario.cases.filter(({ find }) => find === null);
	if (cases.length === 0)
		throw usage(
			`${file}: a search (find) never repeats a rate; calibrate a scenario with a fixed rate`,
		);
	return {
		...scenario,
		systems,
		cases,
		sla: scenario.sla.map((line) => ({ ...line, expect: { ...line.expect, abort: false } })),
		baseline: null,
		repeat: Number(runs),
	};
}
