import { join } from "node:path";
import { type Section, shownIn } from "../document/blocks.ts";
import { type Document, documentOf } from "../document/document.ts";
import { sentence } from "../document/sentence.ts";
import type { Result } from "../model/result.ts";
import { displayWidth, plainAll } from "../terminal/columns.ts";
import { blockLines } from "./terminal/blocks.ts";
import { makePage, type Page, type PageOptions } from "./terminal/text-page.ts";

/** Width (from 40 on) and height of the terminal; colour and unicode: whether it shows them (terminal-look.ts). */
export interface TerminalOptions extends PageOptions {
	/** Folder of the run, as it is to be printed. */
	readonly folder: string;
	/** What leads to the report; undefined: report.html in that folder. */
	readonly report?: string;
}

/**
 * The result as it is printed at the end of a run: what is broken first, then systems side by side, then what each run was; the
 * last line is the verdict and where the report is. What is longer than a screen begins with the verdict too.
 */
export function renderTerminal(result: Result, options: TerminalOptions): string {
	const document = documentOf(plainAll({ ...result }));
	const page = makePage(options);
	const parts = [
		...apart(blockLines(document.broken, page, "")),
		...shownIn(document.sections, "terminal").flatMap((section) =>
			apart(sectionLines(section, page)),
		),
	];
	const ending = [
		...apart(blockLines(document.gates, page, "")),
		...noteLines(document, page),
		...page.fold(`${document.title}: ${document.lead}.`),
	];
	const long = parts.length + ending.length >= page.rows;
	const lines = [
		...(long ? [...verdictLines(document, page), ""] : []),
		...parts,
		...ending,
		`${page.badge(document.verdict, document.word)}  ${options.report ?? join(options.folder, "report.html")}`,
	];
	return `${lines.join("\n")}\n`;
}

// --- internal ---

/** With a blank line below, where there is something. */
function apart(lines: readonly string[]): string[] {
	return lines.length === 0 ? [] : [...lines, ""];
}

/** The verdict stands at the right edge, or below a title that leaves no room for it. */
function sectionLines({ title, verdict, blocks }: Section, page: Page): string[] {
	const word = verdict === undefined ? "" : page.badge(verdict);
	const gap = page.width - displayWidth(title) - (verdict?.length ?? 0);
	const head =
		gap > 0 && word !== ""
			? [`${page.style("bold", title)}${" ".repeat(gap)}${word}`]
			: [
					...page.fold(title).map((line) => page.style("bold", line)),
					...(word === "" ? [] : [`  ${word}`]),
				];
	return [...head, ...blockLines(blocks, page)];
}

function verdictLines({ verdict, word, title, lead }: Document, page: Page): string[] {
	const badge = page.badge(verdict, word);
	const [first = "", ...rest] = page.fold(`${word}  ${title}: ${lead}.`, "      ", "");
	return first.startsWith(word)
		? [`${badge}${first.slice(word.length)}`, ...rest]
		: [badge, first, ...rest];
}

function noteLines(document: Document, page: Page): string[] {
	const { weak, where, quick, explain, names } = document;
	return [
		...(weak === null ? [] : [weak]),
		...where.map((text) => sentence(text, names)),
		...(explain === "" ? [] : [`More: ${explain}`]),
		...(quick === null ? [] : [`Note: ${quick}.`]),
	].flatMap((text) => page.fold(text));
}
