import { hasWeak } from "../compare/words.ts";
import type { Result, Search } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { caseTables, MANY_RUNS } from "../result/matrix.ts";
import { withoutSearches } from "../result/select.ts";
import { factsText, searchTitle, verdictText, verdictWord } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { answer, provenance } from "./answer.ts";
import { type Block, PAGE, type Section, TERMINAL } from "./blocks.ts";
import { cases } from "./cases.ts";
import { remarks } from "./checks.ts";
import { comparison } from "./comparison.ts";
import { badge, charts, numbers, paragraph, section, sentences, table } from "./make.ts";
import { reading, reproduce } from "./reading.ts";
import { resumedText } from "./resumed.ts";
import { RUNS_WITH_DETAILS, runSection, words } from "./run.ts";
import { environment } from "./run-facts.ts";
import { differences, systems } from "./systems.ts";
import { failoverOfAll } from "./tables.ts";
import { broken, gateLines, gates, judged, searchWarnings, warnings } from "./verdict.ts";
import {
	explainText,
	measuredText,
	quickText,
	sameHostText,
	searchTable,
	topologiesText,
	WEAK_MEANS,
} from "./words.ts";

/** What a reader of a result is told, in order. Terminal, Markdown and page render it; where they end with the verdict, they turn it around. */
export interface Document {
	readonly title: string;
	readonly verdict: Verdict;
	/** "FAIL"; of a shortened run with what that means. */
	readonly word: string;
	/** What the verdict means. */
	readonly lead: string;
	/** The runs are too short to count; null: they are not. */
	readonly quick: string | null;
	/** Which machines, and what they shared. */
	readonly where: readonly string[];
	/** What the verdict is about, where it passes: else what broke says it. */
	readonly judged: readonly Block[];
	/** The figures of the first screen, and what to hold against them. */
	readonly answer: readonly Block[];
	/** What broke, and what to do. */
	readonly broken: readonly Block[];
	/** What checks warned of. */
	readonly warnings: readonly Block[];
	/** Every SLA line, and how it came out. */
	readonly gates: readonly Block[];
	readonly sections: readonly Section[];
	/** What the mark at a value means; null: none has it. */
	readonly weak: string | null;
	/** The command that explains more; empty: nothing is to be explained. */
	readonly explain: string;
	/** Names that keep their first letter where a sentence begins with them. */
	readonly names: readonly string[];
}

/** `scenario`: the text of scenario.yaml, null: not known. */
export function documentOf(whole: Result, scenario: string | null = null): Document {
	const result = withoutSearches(whole);
	const { runs } = result;
	const many = runs.length >= MANY_RUNS;
	return {
		title: result.scenario,
		verdict: result.verdict,
		word: verdictWord(result),
		lead: verdictText(whole),
		quick: quickText(result),
		where: [
			measuredText(result),
			sameHostText(result),
			resumedText(result),
			topologiesText(result),
			withoutDetails(result),
		].filter((text) => text !== null),
		judged: judged(result),
		answer: [...answer(result), ...provenance(result)],
		broken: broken(whole),
		warnings: warnings(whole),
		gates: [...gates(result, whole), ...gateLines(result, many)],
		weak: isWeak(result) ? `~ ${WEAK_MEANS}` : null,
		explain: explainText(result),
		names: runs.map((run) => run.system),
		sections: [
			...overview(result),
			...cases(result),
			...differences(whole),
			...failover(result, many),
			...comparison(whole),
			...whole.searches.map((one, i) => search(one, i + 1, whole)),
			...(many ? remarkSection(result) : []),
			...runs.map((run, i) => runSection(run, i + 1, result)),
			...systems(whole),
			section("environment", "Environment", [environment(result)], {
				contents: "Environment",
				media: PAGE,
			}),
			reproduce(whole, scenario),
			reading(),
		],
	};
}

/** Links to the parts of a long page; empty: it is short. Of many runs to their cases, whose tables lead to each of them. */
export function contentsOf(
	{ sections }: Document,
	whole: Result,
): { readonly to: string; readonly text: string }[] {
	const result = withoutSearches(whole);
	if (result.runs.length + whole.searches.length <= SHORT) return [];
	const own = (some: readonly Section[]) =>
		some.flatMap(({ id, contents }) =>
			contents === undefined ? [] : [{ to: id, text: contents }],
		);
	if (result.runs.length <= RUNS_WITH_DETAILS) return own(sections);
	const at = sections.findIndex(({ run }) => run !== undefined);
	return [
		...own(sections.slice(0, at)),
		...caseTables(result).map((table, i) => ({ to: `case-${i + 1}`, text: table.case })),
		{ to: "runs", text: "Each run" },
		...own(sections.slice(at)),
	];
}

// --- internal ---

/** Up to so many runs a page needs no contents. */
const SHORT = 3;

/** What of a result that was read from its own files is lost; null: nothing. */
function withoutDetails({ runs }: Result): string | null {
	const missing = runs.filter(({ details }) => details === null).length;
	return missing === 0 ? null : tell("details-missing", { missing, runs: runs.length });
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

function overview({ runs }: Result): Section[] {
	const title = "All systems and cases";
	return runs.length < 2
		? []
		: [
				section("overview", title, [charts([{ of: "overview" }])], {
					contents: title,
					media: PAGE,
				}),
			];
}

/** The faults of all runs below each other: of few runs, each has its own. */
function failover(result: Result, many: boolean): Section[] {
	const table = failoverOfAll(result);
	return table === null
		? []
		: [
				section("failover", table.title, words(table, 2), {
					contents: "Failover",
					media: many ? undefined : PAGE,
				}),
			];
}

/** A search: its answer, latency over offered rate, and its runs. */
function search(one: Search, number: number, whole: Result): Section {
	const { head, rows } = searchTable(one);
	const run = whole.runs.find(({ index }) => index === one.runs[0]?.index);
	const title = searchTitle(one);
	const cells = rows.map((row, i) =>
		row.map((cell, k) => (head[k] === "verdict" ? badge(one.runs[i]?.verdict ?? "unknown") : cell)),
	);
	const id = `search-${number}`;
	const blocks = [
		paragraph(one.answer, "lead"),
		charts([{ of: "search", number }]),
		table(["rate", ...numbers(head.slice(1, -1)), { name: "why", spare: 1 }], cells, {
			caption: run === undefined ? "" : factsText(run, whole),
		}),
		...searchWarnings(one, whole),
	];
	return section(id, `Highest rate of ${title}`, blocks, {
		contents: `Highest rate: ${title}`,
		verdict: one.verdict,
	});
}

function remarkSection(result: Result): Section[] {
	const findings = sentences(remarks(result));
	return findings.texts.length === 0
		? []
		: [section("remarks", tell("title-findings"), [findings], { media: TERMINAL })];
}
