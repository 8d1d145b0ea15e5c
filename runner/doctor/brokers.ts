import { brokers } from "../brokers/index.ts";
import { type Check, type Found, info, ok } from "./finding.ts";
import type { Machine } from "./this-machine.ts";

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
							const { here, figure, sentence } = await install.look(machine);
							// What is missing is no verdict on the machine: most scenarios need one broker of all.
							return (here ? ok : info)(figure, sentence);
						},
					},
				],
	),
	{ name: "pin", alone: false, look: pin },
];

// --- internal ---

/** Of the scenario's `pin`. */
async function pin(machine: Machine): Promise<Found> {
	const here = (await machine.which("taskset")) !== null;
	return here
		? ok("taskset", "A scenario with pin can give load generator and brokers CPUs of their own.")
		: info("no taskset", "A scenario with pin needs taskset (Linux, package util-linux).");
}
