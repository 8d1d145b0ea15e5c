import { stringify } from "yaml";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "../scenario/load.ts";
import type { Mistake } from "../scenario/problem.ts";
import { type NamedText, parseFile, quoted } from "./file.ts";
import { readDriver } from "./omb-driver.ts";
import { existingTopics, readWorkload } from "./omb-workload.ts";

interface LeftOut {
	readonly file: string;
	readonly what: string;
	/** Its replacement, or a remedy. */
	readonly why: string;
}

/** Converts an OpenMessaging Benchmark workload and driver. Drops nothing silently, repeats no secret, throws `import-unreadable`. */
export function importOmb(
	workload: NamedText,
	driver: NamedText,
): { yaml: string; left: LeftOut[] } {
	const left: LeftOut[] = [];
	const leave = (file: string) => (what: string, why: string) =>
		void left.push({ file, what, why });
	const wanted = parseFile(workload);
	const copied = Number(wanted.subscriptionsPerTopic) > 1;
	const found = readDriver(parseFile(driver), copied, leave(driver.file));
	const topics = existingTopics(wanted);
	const system = { ...found, ...("url" in found && topics && { create: false, topics }) };
	const load = readWorkload(wanted, leave(workload.file));
	const scenario = accepted(
		{
			name: load.name,
			...("url" in system && { target: "existing" }),
			system,
			workload: load.workload,
			sla: load.sla,
		},
		(part, what, why) => leave(part === "system" ? driver.file : workload.file)(what, why),
	);
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

type Scenario = Readonly<Record<"system" | "workload", Readonly<Record<string, unknown>>>>;
/** Required fields stay even if they are wrong. */
const NEEDED = new Set(["broker", "url", "pattern", "rate", "message", "duration"]);

/** Removes fields that mqbench refuses and passes each one, and each mistake that stays, to `leave`. */
function accepted<S extends Scenario>(
	scenario: S,
	leave: (part: keyof Scenario, what: string, why: string) => void,
): S {
	const text = textOf(scenario);
	const mistakes = mistakesIn(text).map(({ line, message }) => {
		const before = text.split("\n").slice(0, line ?? 0);
		// Settings inside a map or list are indented deeper than the key to remove.
		const [key = ""] = (before.findLast((one) => /^ {2}\w/.test(one)) ?? "").trim().split(":");
		const part = before.includes("workload:") ? ("workload" as const) : ("system" as const);
		return { key, part, message, what: quoted(key, scenario[part][key]) };
	});
	const first = mistakes.find(({ key, part }) => !NEEDED.has(key) && key in scenario[part]);
	for (const { part, what, message } of first ? [first] : mistakes) leave(part, what, message);
	if (first === undefined) return scenario;
	const { [first.key]: _, ...rest } = scenario[first.part];
	return accepted({ ...scenario, [first.part]: rest }, leave);
}

function mistakesIn(text: string): readonly Mistake[] {
	try {
		loadScenario("imported.yaml", text, {}, new Proxy({}, { get: () => "x" }));
		return [];
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		return (error.details as { mistakes?: readonly Mistake[] }).mistakes ?? [];
	}
}

function textOf(scenario: object): string {
	return stringify(scenario, { lineWidth: 0, flowCollectionPadding: true });
}
