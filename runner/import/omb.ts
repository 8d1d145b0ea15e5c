import { stringify } from "yaml";
import { brokerOf, SystemOptions } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "../scenario/load.ts";
import type { Mistake } from "../scenario/problem.ts";
import { type Env, type NamedText, parseFile } from "./file.ts";
import { type Leave, quoted } from "./left-out.ts";
import { readDriver } from "./omb-driver.ts";
import { existingTopics, readWorkload } from "./omb-workload.ts";

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
 * without a word, and no secret of them is repeated. Throws `import-unreadable` for what is none of its files.
 */
export function importOmb(workload: NamedText, driver: NamedText, env: Env = {}): Imported {
	const left: LeftOut[] = [];
	const leave = (file: string) => (what: string, why: string) => {
		// The cases of a sweep leave out the same.
		if (!left.some((one) => one.what === what && one.why === why)) left.push({ file, what, why });
	};
	const [ofWorkload, ofDriver] = [leave(workload.file), leave(driver.file)];
	const wanted = parseFile(workload, env, ofWorkload, false);
	const found = readDriver(
		parseFile(driver, env, ofDriver, true),
		[wanted.subscriptionsPerTopic].flat().every((n) => Number(n) > 1),
		ofDriver,
	);
	const named = existingTopics(wanted, ofWorkload);
	if (named !== null && !("url" in found))
		ofWorkload(
			"existingTopicList",
			"the driver names no address, so mqbench starts a broker and makes the topics",
		);
	const system = accepted(
		named !== null && "url" in found ? { ...found, create: false, topics: named } : found,
		ofDriver,
	);
	const options = SystemOptions.parse(system);
	const load = readWorkload(
		wanted,
		brokerOf(options).traits(options),
		"topics" in system ? named : null,
		ofWorkload,
	);
	const scenario = {
		name: load.name,
		...targetOf(system),
		system,
		workload: load.workload,
		...(load.cases.length > 0 ? { cases: load.cases } : {}),
		sla: load.sla,
	};
	const head = [
		" yaml-language-server: $schema=./scenario.schema.json",
		` Imported from OpenMessaging Benchmark: ${workload.file} and ${driver.file}.`,
		...(left.length === 0
			? [" Everything in them has an equivalent here."]
			: [" Left out, or different:", ...left.map(({ what, why }) => `   ${what}: ${why}`)]),
	];
	return { yaml: `${head.map((line) => `#${line}`).join("\n")}\n${textOf(scenario)}`, left };
}

// --- internal ---

type System = Readonly<Record<string, unknown>>;

/** The system without the settings that a scenario refuses. */
function accepted(system: System, leave: Leave): System {
	const { topics } = system;
	const text = textOf({
		...targetOf(system),
		system,
		workload: {
			rate: "1/s",
			message: "1KiB",
			duration: "1s",
			...(Array.isArray(topics) && { topics: topics.length, connections: topics.length }),
		},
	});
	const [wrong] = mistakesIn(text);
	const lines = text.split("\n").slice(0, wrong?.line ?? 0);
	// Settings of a map or a list are further in than the key that goes.
	const line = lines.findLast((one) => /^ {2}\w/.test(one));
	const key = line?.trim().split(":")[0] ?? "";
	if (wrong === undefined || !Object.hasOwn(system, key)) return system;
	const { [key]: value, ...rest } = system;
	const { message, remedy } = wrong;
	leave(quoted(key, value), remedy ? `${message}; ${remedy}` : message);
	return accepted(rest, leave);
}

function mistakesIn(text: string): readonly Mistake[] {
	try {
		// Variables may have any value.
		loadScenario("imported.yaml", text, {}, new Proxy({}, { get: () => "x" }));
		return [];
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		return (error.details as { mistakes?: readonly Mistake[] }).mistakes ?? [];
	}
}

function targetOf(system: System) {
	return "url" in system ? { target: "existing" } : {};
}

function textOf(scenario: object): string {
	return stringify(scenario, { lineWidth: 0, flowCollectionPadding: true });
}
