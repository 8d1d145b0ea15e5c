import { join } from "node:path";
import type { Result } from "../model/result.ts";
import { plainAll } from "../terminal/columns.ts";
import { failoverOfAll } from "./failover-table.ts";
import { MANY_RUNS } from "./matrix.ts";
import { blockLines } from "./terminal/block-lines.ts";
import { hasTables, tableLines } from "./terminal/case-tables.ts";
import { comparisonLines } from "./terminal/comparisons.ts";
import { brokenLines, keptLines, recapLines } from "./terminal/gate-lines.ts";
import { remarkLines } from "./terminal/remarks.ts";
import { runLines } from "./terminal/run-lines.ts";
import { searchLines } from "./terminal/search-lines.ts";
import { makePage, type Page, type PageOptions } from "./terminal/text-page.ts";
import {
	explainText,
	quickText,
	sameHostText,
	topologiesText,
	verdictText,
	verdictWord,
	withoutSearches,
} from "./words.ts";

/** Width (from 40 on) and height of the terminal; colour and unicode: whether it shows them (terminal-look.ts). */
export interface TerminalOptions extends PageOptions {
	/** Folder of the run, as it is to be printed. */
	readonly folder: string;
}

/**
 * The result as it is printed at the end of a run: what is broken first, then systems side by side, then what each run was; the
 * last line is the verdict and where the report is. What is longer than a screen begins with the verdict too.
 */
export function renderTerminal(
	whole: Result,
	options: TerminalOptions,
): string {
	const result = plainAll({ ...withoutSearches(whole) });
	const page = makePage(options);
	const many = result.runs.length >= MANY_RUNS;
	const broken = brokenLines(result, page);
	const parts = [
		...block(broken),
		...(hasTables(result) ? block(tableLines(result, page)) : []),
		...(many
			? [
					...block(remarkLines(result, page)),
					...block(blockLines(failoverOfAll(result), page).slice(1)),
				]
			: result.runs.flatMap((run) => block(runLines(run, result, page)))),
		...result.searches.flatMap((search) => block(searchLines(search, page))),
		...block(comparisonLines(result, page)),
	];
	const long = parts.length + ENDING > page.rows;
	const lines = [
		...(long ? [...verdictLines(result, page), ""] : []),
		...parts,
		...block([
			...(long ? recapLines(result, page) : []),
			...keptLines(result, many, page),
		]),
		...noteLines(result, page),
		...page.fold(`${result.scenario}: ${verdictText(result)}.`),
		`${page.badge(result.verdict, verdictWord(result))}  ${join(options.folder, "report.html")}`,
	];
	return `${lines.join("\n")}\n`;
}

// --- internal ---

/** Lines that follow at least: the gates that passed, notes and the verdict. */
const ENDING = 6;

/** With a blank line below, where there is something. */
function block(lines: readonly string[]): string[] {
	return lines.length === 0 ? [] : [...lines, ""];
}

function verdictLines(result: Result, page: Page): string[] {
	const word = verdictWord(result);
	const [first = "", ...rest] = page.fold(
		`${word}  ${result.scenario}: ${verdictText(result)}.`,
		"      ",
		"",
	);
	return first.startsWith(word)
		? [
				`${page.badge(result.verdict, word)}${first.slice(word.length)}`,
				...rest,
			]
		: [page.badge(result.verdict, word), first, ...rest];
}

function noteLines(result: Result, page: Page): string[] {
	const shared = sameHostText(result);
	const nodes = topologiesText(result);
	const quick = quickText(result);
	const explained = explainText(result);
	return [
		...(shared === null ? [] : page.fold(`Note: ${shared}.`)),
		...(nodes === null ? [] : page.fold(`Note: ${nodes}.`)),
		...(explained === "" ? [] : page.fold(`More: ${explained}`)),
		...(quick === null ? [] : page.fold(`Note: ${quick}.`)),
	];
}
