import type { Result } from "../model/result.ts";
import { maskSameLength, maskUrls } from "../secrets.ts";
import { commandLine } from "../shell.ts";
import { type Block, type Fold, fold, marked, section, text } from "./blocks.ts";
import { WEAK_MEANS } from "./words.ts";

/** How to measure it again: the command and the scenario. What is not known is said. `scenario`: text of the YAML. */
export function reproduce({ command }: Result, scenario: string | null): Fold {
	const line = maskUrls(commandLine(["mqbench", ...(command?.args ?? ["scenario.yaml"])]));
	const blocks: Block[] = [
		text(
			command === null
				? "The command line was not written down. With the scenario in scenario.yaml, this measures it again:"
				: "It was measured with this command:",
		),
		text(line, "code"),
		scenario === null
			? text("The text of the scenario is not known here")
			: fold(`The scenario${command === null ? "" : `: ${command.scenario}`}`, [
					text(maskUrls(maskSameLength(scenario)), "code"),
				]),
		text(
			marked(
				"Every number of this page can be computed again from the raw data in `runs/`: `mqbench report` with this folder.",
			),
			"soft",
		),
	];
	return section("reproduce", "How to measure it again", blocks, { depth: 3 });
}

/** The words of the page, for who sees them for the first time. */
export function reading(): Fold {
	const texts = READING.map((said) => text(marked(said)));
	return section("reading", "How to read this", texts, { depth: 3 });
}

// --- internal ---

const READING = [
	"**Response** counts from the time at which the schedule meant a message to be sent, so a stall also delays those that had to wait for it. **Service** counts from the actual send. **Lag** is the generator's own lateness, **queued** what earlier blocking explains: response = queued + lag + service.",
	`A message that failed, was lost or never offered counts as slower than every limit. **~** before a value: ${WEAK_MEANS}. **n/a**: too few samples for this percentile, or nothing was measured. In brackets: the interval that holds the true percentile with 95 % confidence.`,
	"**INCONCLUSIVE**: the samples decide neither way. **INVALID**: the generator or the machine decided the result, not the system. Formulas: reports/README.md; `mqbench explain response`, `support` or `invalid`.",
];
