import { at, type Block, type Document, sentence } from "../document/blocks.ts";
import { maskAll } from "../secrets.ts";
import { harmless } from "../terminal/columns.ts";
import { blockLines } from "./terminal/blocks.ts";
import { makePage, type Page, type PageOptions } from "./terminal/text-page.ts";

/** `columns`: width of the terminal, from 40 on. */
export interface TerminalOptions extends PageOptions {
	/** Path of the whole report. */
	readonly report?: string | undefined;
}

/** A terminal is read from its end, so the answer is there, and the last line is the verdict and the report. */
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
	const ending =
		report === undefined
			? page.badged(look, word, `${title}: ${lead}.`)
			: [...page.fold(`${title}: ${lead}.`), `${page.badge(look, word)}  ${report}`];
	return `${[...lines, ...ending].join("\n")}\n`;
}

export function renderBlocks(blocks: readonly Block[], options: PageOptions): string {
	const page = makePage(options);
	const parts = maskAll(at(blocks, 1), harmless).map((block) =>
		blockLines([block], page, "").join("\n"),
	);
	return `${parts.join("\n\n")}\n`;
}

// --- internal ---

function apart(lines: readonly string[]): string[] {
	return lines.length === 0 ? [] : [...lines, ""];
}

function sectionLines(block: Block, page: Page): string[] {
	if (block.kind !== "fold" || block.title === "") return blockLines([block], page);
	const { title, badge, blocks } = block;
	const head =
		badge === undefined ? page.heading(title) : page.badged(badge, badge.toUpperCase(), title);
	return [...head, ...blockLines(blocks, page)];
}
