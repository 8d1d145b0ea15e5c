import { hasProcess, noBroker } from "../brokers/index.ts";
import { largestOf } from "../extremes.ts";
import { targets } from "../model/targets.ts";
import type { Aws } from "./aws-schema.ts";
import { clientCount } from "./clients.ts";
import type { Context } from "./context.ts";
import type { Parts } from "./parts.ts";
import type { Problem } from "./problem.ts";
import { problemsBy } from "./rules/rule.ts";
import type { Clients, System } from "./scenario.ts";

/** What target aws rents; null: nothing. Limits of its machines and volumes are AWS's to tell. */
export function resolveAws(
	{ aws, written }: Pick<Parts, "aws" | "written">,
	{ target, rig }: Pick<Context, "target" | "rig">,
	clients: Clients,
	systems: readonly Pick<System, "broker" | "options">[],
): { aws: Aws | null; problems: Problem[] } {
	if (target === undefined || targets[target].rents !== "aws" || rig !== null)
		return { aws: null, problems: [] };
	const count = brokerMachines(systems);
	const problems = problemsBy((wrong) => {
		if (written.aws === undefined) wrong("aws", "aws-missing");
		// One with a mistake is missing here, and says so itself.
		else if (count === 0 && systems.length > 0)
			wrong("target", "aws-without-broker", { broker: systems[0]?.options.broker ?? noBroker });
	});
	if (aws === undefined || problems.length > 0) return { aws: null, problems };
	return {
		aws: {
			...aws,
			brokers: { ...aws.brokers, count },
			clients: { ...aws.clients, count: clientCount(clients) },
		},
		problems,
	};
}

/** How many machines brokers need that take turns on them: as many as the largest has nodes; 0: none of them is a process. */
export function brokerMachines(systems: readonly Pick<System, "options">[]): number {
	return Math.max(0, largestOf(systems.map(nodesOf)));
}

/** Nodes of a system on machines of its own; 0: it is no process. */
export function nodesOf({ options }: Pick<System, "options">): number {
	return hasProcess(options) ? (options.nodes ?? 1) : 0;
}
