import { figuresOf } from "../figures/figures.ts";
import type { Result, Search } from "../model/result.ts";
import { QUICK_MEANS } from "../plan/plan-text.ts";
import { verdictText, worstOutcome } from "../result/explain.ts";
import { withoutSearches } from "../result/select.ts";
import { searchTitle, verdictWord } from "../result/words.ts";
import { maskSameLength, maskUrls } from "../secrets.ts";
import { commandLine } from "../shell.ts";
import { formatUtc, plural } from "../units.ts";
import { answerSentence, matrix } from "./answer.ts";
import * as doc from "./blocks.ts";
import { cases, MANY_RUNS } from "./cases.ts";
import { comparison } from "./comparing.ts";
import { RUNS_WITH_DETAILS, runSection } from "./run.ts";
import { broken, lines, warnings } from "./sla.ts";
import { differences, environment, systems } from "./systems.ts";
import { failover, searchTable } from "./tables.ts";
import { EXPLAIN, measuredText, sameHostText, WEAK_MEANS } from "./words.ts";

/** `scenario`: the text of scenario.yaml. */
export function documentOf(whole: Result, scenario: string | null = null): doc.Document {
	const result = withoutSearches(whole);
	const { runs, verdict } = result;
	const many = runs.length >= MANY_RUNS;
	const names = runs.map((run) => run.system);
	// A terminal shows findings of checks with each run, if it shows the run.
	const said = [broken(whole), ...warnings(whole, many || whole.searches.length > 0 ? 1 : 2)];
	const each = runs.map((run, i) => runSection(run, i + 1, result));
	const sections = [
		...(runs.length < 2
			? []
			: [doc.section("overview", "All systems and cases", [OVERVIEW], { depth: 3 })]),
		...cases(result),
		...differences(whole),
		...failover(result),
		...comparison(whole),
		...whole.searches.map((one, i) => search(one, i + 1)),
		...(runs.length > RUNS_WITH_DETAILS
			? [
					doc.section("runs", `Each of the ${runs.length} runs`, each, { depth: 3 }),
					...each.flatMap((one) => doc.upTo(2, one)),
				]
			: each),
		...systems(whole),
		doc.section("environment", "Environment", [environment(result)], { depth: 3 }),
		reproduce(whole, scenario),
		doc.section(
			"reading",
			"How to read this",
			READING.map((said) => doc.text(doc.marked(said))),
			{ depth: 3 },
		),
	];
	return {
		title: result.scenario,
		look: verdict,
		word: verdictWord(result),
		lead: leadOf(whole, names),
		head: headOf(result),
		answer: [
			box("warn", result.quick ? [doc.text(QUICK_MEANS, "warn")] : []),
			...matrix(result),
			box(verdict === "pass" ? "warn" : verdict, said),
			...lines(whole),
		],
		sections,
		foot: [
			...doc.upTo(1, doc.text("~, n/a: too few samples to be sure")),
			...doc.upTo(2, doc.text(READ_AS, undefined, 2), doc.text(["More: ", doc.code(EXPLAIN), "."])),
		],
		whole: ["Everything is in report.html of the run ", doc.code(result.runId), "."],
		contents: runs.length + whole.searches.length <= SHORT ? [] : contentsOf(sections, result),
		figures: () => figuresOf(whole),
		names,
	};
}

export function reproduce({ command }: Result, scenario: string | null): doc.Fold {
	const line = maskUrls(commandLine(["mqbench", ...(command?.args ?? ["scenario.yaml"])]));
	const blocks: doc.Block[] = [
		doc.text(
			command === null
				? "The command line was not written down. With the scenario in scenario.yaml, this measures it again:"
				: "It was measured with this command:",
		),
		doc.text(line, "code"),
		scenario === null
			? doc.text("The text of the scenario is not known here")
			: doc.fold(`The scenario${command === null ? "" : `: ${command.scenario}`}`, [
					doc.text(maskUrls(maskSameLength(scenario)), "code"),
				]),
		doc.text(
			doc.marked(
				"Every number of this page can be computed again from the raw data in `runs/`: `npx mqbench report` with this folder.",
			),
			"soft",
		),
	];
	return doc.section("reproduce", "How to measure it again", blocks, { depth: 3 });
}

// --- internal ---

const OVERVIEW: doc.Figures = { kind: "figures", ids: ["rates", "cases", "percentiles"] };

const READ_AS = `Response time counts from the intended send time, service time from the actual one; lag, the generator's own lateness, is part of response. Brackets: 95 % interval. ~: ${WEAK_MEANS}`;

/** Up to this many runs a page needs no contents. */
const SHORT = 3;

function leadOf(whole: Result, names: readonly string[]): string {
	const answered = answerSentence(whole);
	const meaning = verdictText(whole);
	// A line of the same metric that was not met gives the figure of a single run already.
	const [run, ...others] = whole.runs;
	const told = others.length === 0 && worstOutcome(whole)?.gate?.metric === run?.main;
	return answered === null || told
		? meaning
		: `${answered}. ${doc.sentence(meaning, names).slice(0, -1)}`;
}

/** Parts missing from a result that was read from its own files. */
function withoutDetails({ runs }: Result): string | null {
	const missing = runs.filter(({ details }) => details === null).length;
	return missing === 0
		? null
		: `the details.json of ${missing} of ${plural(runs.length, "run")} is missing, or belongs to another run: charts over time, percentile curves and slowest messages are left out`;
}

function headOf(result: Result): doc.Block[] {
	const { environment } = result;
	const starts = environment === null ? [] : [environment, ...(environment.resumed ?? [])];
	const begun = starts.map(({ startedAt }) => formatUtc(startedAt)).join(", resumed ");
	return [
		measuredText(result),
		sameHostText(result),
		begun === "" ? null : `begun ${begun} UTC`,
		withoutDetails(result),
	].flatMap((said) => (said === null ? [] : [doc.text(said, "soft")]));
}

function box(look: doc.Look, blocks: readonly doc.Block[]): doc.Fold {
	return doc.fold("", blocks, { badge: look, open: 1 });
}

/** With many runs also links to the cases, whose tables link to the runs. */
function contentsOf(sections: readonly doc.Block[], { runs }: Result): doc.Document["contents"] {
	const cases = runs.length <= RUNS_WITH_DETAILS ? [] : new Set(runs.map((run) => run.case));
	return doc.at(sections, 3).flatMap((block) => {
		if (block.kind !== "fold" || block.id === undefined) return [];
		const own = { to: block.id, text: block.title };
		const each = [...cases].map((name, i) => ({ to: `case-${i + 1}`, text: name }));
		return block.id === "cases" ? [own, ...each] : [own];
	});
}

function search(one: Search, number: number): doc.Fold {
	const id = `search-${number}`;
	const blocks = [
		doc.text(one.answer, "lead"),
		{ kind: "figures", ids: [id] } as const,
		searchTable(one),
	];
	return doc.section(id, `Highest rate of ${searchTitle(one)}`, blocks, { badge: one.verdict });
}

const READING = [
	"**Response** counts from the time at which the schedule meant a message to be sent, so a stall also delays those that had to wait for it. **Service** counts from the actual send. **Lag** is the generator's own lateness, **queued** what earlier blocking explains: response = queued + lag + service.",
	`A message that failed, was lost or never offered counts as slower than every limit. **~** before a value: ${WEAK_MEANS}. **n/a**: too few samples for this percentile, or nothing was measured. In brackets: the interval that holds the true percentile with 95 % confidence.`,
	"**INCONCLUSIVE**: the samples decide neither way. **INVALID**: the generator or the machine decided the result, not the system. Formulas: reports/METHOD.md; `npx mqbench explain response`, `support` or `invalid`.",
];
