import type { Result } from "../model/result.ts";
import { maskSameLength, maskUrls } from "../secrets.ts";
import { commandLine } from "../shell.ts";
import { tell } from "../text/tell.ts";
import { type Block, type Fold, fold, marked, section, text } from "./blocks.ts";
import { WEAK_MEANS } from "./words.ts";

/** How to measure it again: the command, the scenario and the versions. What is not known is said. `scenario`: text of the YAML. */
export function reproduce(result: Result, scenario: string | null): Fold {
	const { command, environment, runs } = result;
	const k6 = runs.find((run) => run.versions !== null)?.versions;
	const versions = [
		environment && `mqbench ${environment.mqbench}`,
		(environment?.k6 || k6?.k6) && `k6 ${environment?.k6 || k6?.k6}`,
		environment && `Node ${environment.node}`,
		environment?.go,
		environment?.programs && `load generator ${environment.programs}`,
	].filter((text) => text);
	const args = command?.args ?? ["scenario.yaml"];
	const line = maskUrls(commandLine(["mqbench", ...args]));
	const blocks: Block[] = [
		text(command === null ? marked(tell("command-unknown")) : tell("command-was")),
		text(line, "code"),
		scenario === null
			? text(marked(tell("scenario-beside-data")), "soft")
			: fold(`The scenario${command === null ? "" : `: ${command.scenario}`}`, [
					text(maskUrls(maskSameLength(scenario)), "code"),
				]),
		text(
			versions.length === 0 ? tell("version-unknown") : `Versions: ${versions.join(", ")}`,
			"soft",
		),
		text(marked(tell("computed-from-raw")), "soft"),
	];
	return section("reproduce", tell("title-again"), blocks, { depth: 3 });
}

/** The words of the page, for who sees them for the first time. */
export function reading(): Fold {
	const texts = READING.map((said) => text(marked(said)));
	return section("reading", "How to read this", texts, { depth: 3 });
}

// --- internal ---

const READING = [
	tell("reading-response"),
	tell("reading-marks", { weak: WEAK_MEANS }),
	tell("reading-verdicts"),
];
