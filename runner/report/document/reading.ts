import type { Result } from "../../model/result.ts";
import { maskSameLength, maskUrls } from "../../secrets.ts";
import { shellWord } from "../../shell.ts";
import { WEAK_MEANS } from "../words.ts";
import { type Block, PAGE, type Section } from "./blocks.ts";
import { details, marked, paragraph, section } from "./make.ts";

/** How to measure it again: the command, the scenario and the versions. What is not known is said. `scenario`: text of the YAML. */
export function reproduce(result: Result, scenario: string | null): Section {
	const { command, environment, runs } = result;
	const k6 = runs.find((run) => run.versions !== null)?.versions;
	const versions = [
		environment && `mqbench ${environment.mqbench}`,
		(environment?.k6 || k6?.k6) && `k6 ${environment?.k6 || k6?.k6}`,
		environment && `Node ${environment.node}`,
		environment?.go,
	].filter((text) => text);
	const args = command?.args ?? ["scenario.yaml"];
	const line = maskUrls(["mqbench", ...args].map(shellWord).join(" "));
	const blocks: Block[] = [
		paragraph(
			command === null
				? marked(
						"The command line was not written down. With the scenario in `scenario.yaml`, this measures it again:",
					)
				: "It was measured with this command:",
		),
		{ kind: "code", text: line },
		scenario === null
			? paragraph(
					marked(
						"The text of the scenario is not known here; `scenario.yaml` lies beside the raw data.",
					),
					"soft",
				)
			: details(
					`The scenario${command === null ? "" : `: ${command.scenario}`}`,
					[{ kind: "code", text: maskUrls(maskSameLength(scenario)) }],
				),
		paragraph(
			versions.length === 0
				? "No version was written down"
				: `Versions: ${versions.join(", ")}`,
			"soft",
		),
		paragraph(
			marked(
				"Every number of this page can be computed again from the raw data in `runs/`: `mqbench report` with this folder.",
			),
			"soft",
		),
	];
	return section("reproduce", "How to measure it again", blocks, {
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
	"**Response** counts from the time at which the schedule meant a message to be sent, so a stall also delays those that had to wait for it. **Service** counts from the actual send. **Lag** is the generator's own lateness, **queued** what earlier blocking explains: response = queued + lag + service.",
	`A message that failed, was lost or never offered counts as slower than every limit. **~** before a value: ${WEAK_MEANS}. **n/a**: too few samples for this percentile, or nothing was measured. In brackets: the interval that holds the true percentile with 95 % confidence.`,
	"**INCONCLUSIVE**: the samples decide neither way. **INVALID**: the generator or the machine decided the result, not the system. Formulas: reports/README.md; `mqbench explain response`, `support` or `invalid`.",
];
