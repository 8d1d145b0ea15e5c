import { brokers } from "../brokers/index.ts";
import type { Check, Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";

/**
 * What each broker needs where mqbench starts it (target local), and whether it is here. What is missing speaks against nothing but
 * that broker; a run that needs it says how to install it on this platform.
 */
export const brokerChecks: readonly Check[] = [
	...Object.values(brokers).flatMap(({ title, install }): Check[] =>
		install === null
			? []
			: [
					{
						name: title,
						alone: false,
						async look(machine) {
							const { here, ...found } = await install.look(machine);
							return finding(title, here, found);
						},
					},
				],
	),
	{ name: "pin", alone: false, look: pin },
];

// --- internal ---

/** Of the scenario's `pin`. */
async function pin(machine: Machine): Promise<Finding[]> {
	const here = (await machine.which("taskset")) !== null;
	return finding("pin", here, {
		figure: here ? "taskset" : "no taskset",
		sentence: here
			? "Generator and brokers can have CPUs of their own."
			: "A scenario with pin needs taskset (Linux, package util-linux).",
	});
}

/** What is missing is no verdict on the machine: most scenarios need one broker of all. */
function finding(
	check: string,
	here: boolean,
	found: Pick<Finding, "figure" | "sentence">,
): Finding[] {
	return [{ check, verdict: here ? "ok" : "info", ...found, remedy: null }];
}
