import path from "node:path";
import { hasProcess, noBroker } from "../runner/brokers/index.ts";
import { failure } from "../runner/errors.ts";
import { largestOf } from "../runner/extremes.ts";
import { type Plan, setUpBytes } from "../runner/model/plan.ts";
import type { Scenario } from "../runner/scenario/scenario.ts";
import type { BrokerRequest } from "./rig.ts";

/** What each system's broker has to support, over all of its runs. */
export function brokerRequests(
	scenario: Scenario,
	plans: readonly Plan[],
	logs: string,
): BrokerRequest[] {
	const requests = scenario.systems.flatMap((system): BrokerRequest[] => {
		const own = plans.filter((plan) => plan.system === system.key);
		const [first] = own;
		if (!first || !hasProcess(system.options)) return [];
		return [
			{
				system,
				level: first.durabilityLevel,
				messageBytes: largestOf(own.map(setUpBytes)),
				cpus: first.pin.brokers,
				logPath: path.join(logs, `${system.key}.log`),
			},
		];
	});
	if (requests.length === 0)
		throw failure("usage", {
			message: `${scenario.systems[0]?.broker ?? noBroker} has no server here, so there is nothing to stand up; run the scenario without a rig`,
		});
	return requests;
}
