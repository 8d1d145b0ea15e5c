import { hasWeak } from "../compare/words.ts";
import { figuresOf } from "../figures/figures.ts";
import type { Result, Search } from "../model/result.ts";
import { worst } from "../model/verdict.ts";
import { QUICK_MEANS } from "../plan/load-text.ts";
import { verdictText } from "../result/explain.ts";
import { bySystemAndCase, medianRepeat, percentile, withoutSearches } from "../result/select.ts";
import { show } from "../result/show.ts";
import { factsText, searchTitle, verdictWord } from "../result/words.ts";
import { formatUtc, plural } from "../units.ts";
import { answerSentence, matrix } from "./answer.ts";
import {
	at,
	type Block,
	code,
	type Document,
	type Fold,
	fold,
	instead,
	type Look,
	marked,
	section,
	text,
} from "./blocks.ts";
import { cases, MANY_RUNS } from "./cases.ts";
import { comparison } from "./comparison.ts";
import { reading, reproduce } from "./reading.ts";
import { RUNS_WITH_DETAILS, runSection } from "./run.ts";
import { environment } from "./run-facts.ts";
import { sentence } from "./sentence.ts";
import { broken, lines, warnings } from "./sla.ts";
import { differences, systems } from "./systems.ts";
import { failover, searchTable } from "./tables.ts";
import { explainText, measuredText, sameHostText, WEAK_MEANS } from "./words.ts";

/** What a reader of a result is told. `scenario`: the text of scenario.yaml, null: not known. */
export function documentOf(whole: Result, scenario: string | null = null): Document {
	const result = withoutSearches(whole);
	const { runs, verdict } = result;
	const many = runs.length >= MANY_RUNS;
	const names = runs.map((run) => run.system);
	const explain = explainText(result);
	// A terminal has what checks found with each run, where it shows them.
	const said = [broken(whole), ...warnings(whole, many || whole.searches.length > 0 ? 1 : 2)];
	const more = explain === "" ? null : `What the words mean: ${explain}`;
	const sections = [
		...overview(result),
		...cases(result),
		...differences(whole),
		...failover(result),
		...comparison(whole),
		...whole.searches.map((one, i) => search(one, i + 1, whole)),
		...runSections(result),
		...systems(whole),
		section("environment", "Environment", environment(result), { depth: 3 }),
		reproduce(whole, scenario),
		reading(),
	];
	return {
		title: result.scenario,
		look: verdict,
		word: verdictWord(result),
		lead: leadOf(whole, names),
		head: headOf(result),
		answer: [
			box("warn", result.quick ? [text(QUICK_MEANS, "warn")] : []),
			...matrix(result),
			box(
				verdict === "pass" ? "warn" : verdict,
				at(said, 3).length === 0 ? said : [...said, text(more, "soft", 3)],
			),
			...lines(whole, many),
		],
		sections,
		foot: [
			instead(
				2,
				[
					instead(
						3,
						[],
						[
							text(
								marked(
									`Response time counts from the intended send time; service time from the actual one; lag is the generator's own lateness and part of response. \`~\`: ${WEAK_MEANS}. Brackets: 95 % interval. More: \`${explain}\`.`,
								),
							),
						],
					),
				],
				[
					text(isWeak(result) ? `~ ${WEAK_MEANS}` : null),
					text(explain === "" ? null : `More: ${explain}`),
				],
			),
		],
		whole: ["Everything is in report.html of the run ", code(result.runId), "."],
		contents: runs.length + whole.searches.length <= SHORT ? [] : contentsOf(sections, result),
		figures: () => figuresOf(whole),
		names,
	};
}

// --- internal ---

/** Up to so many runs a page needs no contents. */
const SHORT = 3;

/** What was asked, answered, and what the verdict means. */
function leadOf(whole: Result, names: readonly string[]): string {
	const answered = answerSentence(whole);
	const meaning = verdictText(whole);
	return answered === null
		? meaning
		: `${answered}. ${sentence(meaning, names).replace(/\.$/, "")}`;
}

/** What of a result that was read from its own files is lost; null: nothing. */
function withoutDetails({ runs }: Result): string | null {
	const missing = runs.filter(({ details }) => details === null).length;
	return missing === 0
		? null
		: `the details.json of ${missing} of ${plural(runs.length, "run")} is missing, or belongs to another run: charts over time, percentile curves and slowest messages are left out`;
}

function isWeak({ runs, comparisons }: Result): boolean {
	return (
		comparisons.some(hasWeak) ||
		runs.some(
			({ metrics, phases, clients }) =>
				[...Object.values(metrics), ...phases.map((p) => p.latency)].some((m) =>
					m?.percentiles.some((p) => p.support === "weak" && p.value !== null),
				) || [...phases, ...clients].some((of) => of.lagP99Weak),
		)
	);
}

/** Which machines, and what they shared; on a page since when. */
function headOf(result: Result): Block[] {
	const { environment: e } = result;
	const [first, ...others] = [
		measuredText(result),
		sameHostText(result),
		resumedText(result),
		withoutDetails(result),
	].filter((said) => said !== null);
	if (first === undefined) return [];
	const since = e === null ? "" : `, ${formatUtc(e.startedAt)} UTC`;
	return [
		instead(3, [text(`${first}${since}`, "soft")], [text(first, "soft")]),
		...others.map((said) => text(said, "soft")),
	];
}

/** Runs of a resumed command are of its starts: each says when it began. */
function resumedText({ environment }: Result): string | null {
	const later = environment?.resumed ?? [];
	return later.length === 0
		? null
		: `resumed at ${later.map(({ startedAt }) => formatUtc(startedAt)).join(", ")} UTC`;
}

function box(look: Look, blocks: readonly Block[]): Fold {
	return fold("", blocks, { badge: look, open: 1 });
}

/** Links to the sections of a page; of many runs to their cases, whose tables lead to each of them. */
function contentsOf(sections: readonly Block[], { runs }: Result): Document["contents"] {
	const cases = runs.length <= RUNS_WITH_DETAILS ? [] : new Set(runs.map((run) => run.case));
	return at(sections, 3).flatMap((block) => {
		if (block.kind !== "fold" || block.id === undefined) return [];
		const own = { to: block.id, text: block.title };
		const each = [...cases].map((name, i) => ({ to: `case-${i + 1}`, text: name }));
		return block.id === "cases" ? [own, ...each] : [own];
	});
}

function overview({ runs }: Result): Fold[] {
	const ids = ["rates", "cases", "percentiles"];
	return runs.length < 2
		? []
		: [section("overview", "All systems and cases", [{ kind: "figures", ids }], { depth: 3 })];
}

/** A search: its answer, latency over offered rate, and its runs. */
function search(one: Search, number: number, whole: Result): Fold {
	const run = whole.runs.find(({ index }) => index === one.runs[0]?.index);
	const id = `search-${number}`;
	const blocks = [
		text(one.answer, "lead"),
		{ kind: "figures", ids: [id] } as const,
		searchTable(one, run === undefined ? "" : factsText(run, whole)),
	];
	return section(id, `Highest rate of ${searchTitle(one)}`, blocks, { badge: one.verdict });
}

/** Each run; of many runs of a page those of one system and case below each other. */
function runSections(result: Result): Fold[] {
	const { runs } = result;
	const each = runs.map((run, i) => runSection(run, i + 1, result));
	if (each.length <= RUNS_WITH_DETAILS) return each;
	const groups = bySystemAndCase(runs).flatMap(({ system, case: name, all }) => {
		const own = all.flatMap((run) => each[runs.indexOf(run)] ?? []);
		if (all.length === 1) return own;
		const middle = medianRepeat(all);
		const p99 = middle === undefined ? "n/a" : show(percentile(middle, middle.main, 99));
		const title = `${system}, ${name}: ${all.length} repeats, middle p99 ${p99}`;
		return [fold(title, own, { badge: worst(all.map(({ verdict }) => verdict)) })];
	});
	const title = `Each of the ${each.length} runs`;
	return [section("runs", title, groups, { depth: 3, brief: each })];
}
