import { brokers } from "../brokers/index.ts";
import { type Leave, type OmbDriver, quoted } from "../brokers/omb-driver.ts";
import { failure } from "../errors.ts";

/** The system of a scenario, from a driver file of OpenMessaging Benchmark: told by its driverClass. */
export function readDriver(
	file: Readonly<Record<string, unknown>>,
	leave: Leave,
): Record<string, unknown> {
	const driver = String(file.driverClass ?? "");
	const drivers = Object.values(brokers).flatMap(({ omb }): OmbDriver[] =>
		omb === null ? [] : [omb],
	);
	const kind = drivers.find(({ packages }) =>
		packages.some((name) => driver.toLowerCase().includes(`.${name}.`)),
	);
	if (kind === undefined)
		throw failure("import-unsupported", {
			what:
				driver === ""
					? "The second file names no driverClass (the workload comes first, then the driver)"
					: driver,
			known: drivers.flatMap(({ packages }) => packages),
		});
	const known = new Set(["name", "driverClass"]);
	const take = (key: string): unknown => {
		known.add(key);
		return file[key];
	};
	const system = kind.read(take, leave);
	for (const [key, value] of Object.entries(file))
		if (!known.has(key) && value !== null)
			leave(
				quoted(key, value),
				kind.reasons[key] ?? REASONS[key] ?? "has no equivalent here",
			);
	return system;
}

// --- internal ---

const REASONS: Readonly<Record<string, string>> = {
	reset: "mqbench removes the topics that it makes, and no others",
	producerCreationDelay: "connections are made one after the other",
	producerCreationBatchSize: "connections are made one after the other",
	consumerCreationDelay: "connections are made one after the other",
	consumerCreationBatchSize: "connections are made one after the other",
};
