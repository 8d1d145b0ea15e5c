import { brokerOf, realBrokers } from "../brokers/index.ts";
import type { InstallMachine } from "../brokers/server.ts";

/** Brokers that cannot be started here, and what each needs. */
export async function missingHere(machine: InstallMachine): Promise<Map<string, string>> {
	const looked = await Promise.all(
		realBrokers.map(async (broker) => {
			const program = await brokerOf({ broker }).install?.look(machine);
			return [broker, program] as const;
		}),
	);
	return new Map(
		looked.flatMap(([broker, found]) =>
			found === undefined || found.here ? [] : [[broker, found.sentence]],
		),
	);
}
