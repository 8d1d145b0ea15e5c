import type { Result } from "../model/result.ts";
import { maskSameLength, maskUrls } from "../secrets.ts";
import { commandLine } from "../shell.ts";
import { tell } from "../text/tell.ts";
import { type Block, PAGE, type Section } from "./blocks.ts";
import { details, marked, paragraph, section } from "./make.ts";
import { WEAK_MEANS } from "./words.ts";

/** How to measure it again: the command, the scenario and the versions. What is not known is said. `scenario`: text of the YAML. */
export function reproduce(result: Result, scenario: string | null): Section {
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
		paragraph(command === null ? marked(tell("command-unknown")) : tell("command-was")),
		{ kind: "code", text: line },
		scenario === null
			? paragraph(marked(tell("scenario-beside-data")), "soft")
			: details(`The scenario${command === null ? "" : `: ${command.scenario}`}`, [
					{ kind: "code", text: maskUrls(maskSameLength(scenario)) },
				]),
		paragraph(
			versions.length === 0 ? tell("version-unknown") : `Versions: ${versions.join(", ")}`,
			"soft",
		),
		paragraph(marked(tell("computed-from-raw")), "soft"),
	];
	return section("reproduce", tell("title-again"), blocks, {
		contents: "Measure it again",
		media: PAGE,
	});
}

/** The words of the page, for who sees them for the first time. */
export function reading(): Section {
	return section(
		"reading",
		"How to read this",
		READING.map((text) => paragraph(marked(text))),
		{ contents: "How to read this", media: PAGE },
	);
}

// --- internal ---

const READING = [
	tell("reading-response"),
	tell("reading-marks", { weak: WEAK_MEANS }),
	tell("reading-verdicts"),
];
