import { brokerOf, realBrokers } from "../brokers/index.ts";
import type { InstallMachine } from "../brokers/install.ts";

/** Brokers that cannot be started here, and what each needs. */
export async function missingHere(
	machine: InstallMachine,
): Promise<Map<string, string>> {
	const looked = await Promise.all(
		realBrokers.map(async (broker) => {
			const found = await brokerOf({ broker }).install?.look(machine);
			return [broker, found] as const;
		}),
	);
	return new Map(
		looked.flatMap(([broker, found]) =>
			found === undefined || found.here ? [] : [[broker, found.sentence]],
		),
	);
}
