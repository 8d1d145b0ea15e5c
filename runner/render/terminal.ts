import { at, type Block, type Document, type Fold } from "../document/blocks.ts";
import { sentence } from "../document/sentence.ts";
import { maskAll } from "../mask.ts";
import { displayWidth, harmless } from "../terminal/columns.ts";
import { blockLines } from "./terminal/blocks.ts";
import { makePage, type Page, type PageOptions } from "./terminal/text-page.ts";

/** Width (from 40 on) and height of the terminal; colour and unicode: whether it shows them (terminal-look.ts). */
export interface TerminalOptions extends PageOptions {
	/** What leads to the whole report; left out: there is none. */
	readonly report?: string | undefined;
}

/**
 * A document as it is printed: it is read from its end, so its answer stands there, and the last line is the verdict and where the report is.
 * What is longer than a screen begins with the verdict too.
 */
export function renderTerminal(given: Document, { report, ...options }: TerminalOptions): string {
	const document = maskAll(given, harmless);
	const page = makePage(options);
	const { sections, answer, head, foot, title, look, word, lead, names } = document;
	const about = at(head, 1).map((block) =>
		block.kind === "text" && typeof block.text === "string"
			? { ...block, text: sentence(block.text, names) }
			: block,
	);
	const lines = [
		...at(sections, 1).flatMap((block) => apart(sectionLines(block, page))),
		...apart(blockLines(at(answer, 1), page, "")),
		...blockLines([...about, ...at(foot, 1)], page, ""),
	];
	const verdict = verdictLines(document, page);
	const ending =
		report === undefined
			? verdict
			: [...page.fold(`${title}: ${lead}.`), `${page.badge(look, word)}  ${report}`];
	const long = lines.length + ending.length > page.rows;
	return `${[...(long ? [...verdict, ""] : []), ...lines, ...ending].join("\n")}\n`;
}

/** Blocks alone, a blank line between two. */
export function renderBlocks(blocks: readonly Block[], options: PageOptions): string {
	const page = makePage(options);
	const parts = maskAll(at(blocks, 1), harmless).map((block) =>
		blockLines([block], page, "").join("\n"),
	);
	return `${parts.join("\n\n")}\n`;
}

// --- internal ---

/** With a blank line below, where there is something. */
function apart(lines: readonly string[]): string[] {
	return lines.length === 0 ? [] : [...lines, ""];
}

/** The verdict stands at the right edge, or below a title that leaves no room for it. */
function sectionLines(block: Block, page: Page): string[] {
	if (block.kind !== "fold" || block.title === "") return blockLines([block], page);
	const { title, badge, blocks }: Fold = block;
	const word = badge === undefined ? "" : page.badge(badge);
	const gap = page.width - displayWidth(title) - (badge?.length ?? 0);
	const head =
		gap > 0 && word !== ""
			? [`${page.style("bold", title)}${" ".repeat(gap)}${word}`]
			: [
					...page.fold(title).map((line) => page.style("bold", line)),
					...(word === "" ? [] : [`  ${word}`]),
				];
	return [...head, ...blockLines(blocks, page)];
}

function verdictLines({ look, word, title, lead }: Document, page: Page): string[] {
	const badge = page.badge(look, word);
	const [first = "", ...rest] = page.fold(`${word}  ${title}: ${lead}.`, "      ", "");
	return first.startsWith(word)
		? [`${badge}${first.slice(word.length)}`, ...rest]
		: [badge, first, ...rest];
}
