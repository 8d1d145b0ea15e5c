import { stringify } from "yaml";
import { brokerOf, SystemOptions } from "../brokers/index.ts";
import { type Leave, quoted } from "../brokers/omb-driver.ts";
import { tell } from "../text/tell.ts";
import { type NamedText, parseFile } from "./file.ts";
import { readDriver } from "./omb-driver.ts";
import { readWorkload } from "./omb-workload.ts";

/** What a file of another tool says and a scenario cannot. */
export interface LeftOut {
	readonly file: string;
	/** As it stands there: "producerConfig.max.in.flight.requests.per.connection: 5". */
	readonly what: string;
	/** What becomes of it, or what to do. */
	readonly why: string;
}

export interface Imported {
	/** The scenario's YAML, what was left out in comments on top. */
	readonly yaml: string;
	readonly left: readonly LeftOut[];
}

/**
 * A scenario that does what an OpenMessaging Benchmark workload does with a driver. Nothing of the two files is dropped
 * without a word. Throws `import-unreadable` for what is none of its files.
 */
export function importOmb(workload: NamedText, driver: NamedText): Imported {
	const left: LeftOut[] = [];
	const leave = (file: string) => (what: string, why: string) => {
		// The cases of a sweep leave out the same.
		if (!left.some((one) => one.what === what && one.why === why))
			left.push({ file, what, why });
	};
	const system = accepted(
		readDriver(parseFile(driver), leave(driver.file)),
		leave(driver.file),
	);
	const options = SystemOptions.parse(system);
	const load = readWorkload(
		parseFile(workload),
		brokerOf(options).traits(options),
		leave(workload.file),
	);
	const scenario = {
		name: load.name,
		...("url" in system ? { target: "existing" } : {}),
		system,
		workload: load.workload,
		...(load.cases.length > 0 ? { cases: load.cases } : {}),
		sla: load.sla,
	};
	const head = [
		" yaml-language-server: $schema=./scenario.schema.json",
		tell("imported-from", { workload: workload.file, driver: driver.file }),
		...(left.length === 0
			? [tell("imported-whole")]
			: [
					" Left out, or different:",
					...left.map(({ what, why }) => `   ${what}: ${why}`),
				]),
	];
	return {
		yaml: `${head.map((line) => `#${line}`).join("\n")}\n${stringify(scenario, { lineWidth: 0, flowCollectionPadding: true })}`,
		left,
	};
}

// --- internal ---

/** The system without the settings that a scenario refuses. */
function accepted(
	system: Readonly<Record<string, unknown>>,
	leave: Leave,
): Readonly<Record<string, unknown>> {
	const { data, error } = SystemOptions.safeParse(system);
	const [wrong] = data
		? brokerOf(data).contradictions(data, null)
		: error.issues.map(({ path: [key], message }) => ({
				key: String(key),
				message,
			}));
	if (wrong === undefined || !(wrong.key in system)) return system;
	const { [wrong.key]: value, ...rest } = system;
	leave(quoted(wrong.key, value), wrong.message);
	return accepted(rest, leave);
}
