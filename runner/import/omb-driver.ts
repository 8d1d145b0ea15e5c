import { brokers } from "../brokers/index.ts";
import { type Leave, type OmbDriver, quoted } from "../brokers/omb-driver.ts";
import { failure } from "../errors.ts";
import { tell } from "../text/tell.ts";

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
			what: driver === "" ? tell("no-driver-class") : driver,
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
				kind.reasons[key] ?? REASONS[key] ?? tell("no-equivalent"),
			);
	return system;
}

// --- internal ---

const REASONS: Readonly<Record<string, string>> = {
	reset: tell("removes-its-topics"),
	producerCreationDelay: tell("connects-in-turn"),
	producerCreationBatchSize: tell("connects-in-turn"),
	consumerCreationDelay: tell("connects-in-turn"),
	consumerCreationBatchSize: tell("connects-in-turn"),
};
