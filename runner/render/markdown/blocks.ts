import {
	type Block,
	type Inline,
	type List,
	type Piece,
	piecesOf,
	type Table,
	type Text,
	wordOf,
} from "../../document/blocks.ts";
import { sentence } from "../../document/sentence.ts";
import { codeSpan, escaped, inHtml } from "./escape.ts";

/** What a text is written with. */
export interface Writing {
	/** Names that keep their first letter where a sentence begins with them. */
	readonly names: readonly string[];
	/** Bytes that there is room for; a table or a list may take its share. */
	readonly most: number;
}

/** Blocks as GitHub's Markdown, each a piece that stands for itself; sentences of one tone below each other are a paragraph. */
export function markdownBlocks(
	blocks: readonly Block[],
	writing: Writing,
	/** Of its headings: 1 is the title's. */
	level: number,
): string[] {
	const pieces: string[] = [];
	for (const [i, block] of blocks.entries()) {
		const piece = blockText(block, writing, level);
		const before = blocks[i - 1];
		const last = pieces.at(-1);
		if (
			last !== undefined &&
			isParagraph(block) &&
			before?.kind === "text" &&
			before.tone === block.tone
		)
			pieces[pieces.length - 1] = `${last} ${piece}`;
		else if (piece !== "") pieces.push(piece);
	}
	return pieces;
}

export function inline(text: Inline): string {
	return piecesOf(text).map(pieceText).join("").trim();
}

// --- internal ---

/** Parts of a comment's room that a list and a table may take. */
const LIST = 0.15;
const TABLE = 0.4;

function isParagraph(block: Block): block is Text {
	return block.kind === "text" && block.tone !== "code";
}

function blockText(block: Block, writing: Writing, level: number): string {
	switch (block.kind) {
		case "text":
			return textOf(block, writing);
		case "heading":
			return headingOf(block.text, level);
		case "list":
			return listText(block, writing);
		case "table":
			return tableText(block, writing);
		case "fold": {
			const { title, badge, open, blocks } = block;
			const parts = markdownBlocks(blocks, writing, level + (title === "" ? 0 : 1));
			if (open === undefined || open > 2)
				return folded(`${title}${badge === undefined ? "" : `: ${badge.toUpperCase()}`}`, parts);
			return [...(title === "" ? [] : [headingOf(title, level)]), ...parts].join("\n\n");
		}
		case "figures":
			return "";
	}
}

function headingOf(title: string, level: number): string {
	return `${"#".repeat(level)} ${escaped(title)}`;
}

/** What is folded under a line: GitHub takes Markdown in it only behind a blank line. */
function folded(summary: string, parts: readonly string[]): string {
	return [`<details>\n<summary><b>${inHtml(summary)}</b></summary>`, ...parts, "</details>"].join(
		"\n\n",
	);
}

function textOf({ text, tone }: Text, writing: Writing): string {
	if (tone === "code") return `\`\`\`\n${String(text).replaceAll("```", "'''")}\n\`\`\``;
	const said = sentenceText(text, writing);
	return tone === "warn" ? `**${said}**` : said;
}

function sentenceText(text: Inline, { names }: Writing): string {
	return typeof text === "string" ? escaped(sentence(text, names)) : inline(text);
}

function pieceText(piece: Piece): string {
	if (typeof piece === "string" || "unit" in piece) return escaped(wordOf(piece));
	switch (piece.as) {
		case "code":
			return codeSpan(piece.text);
		case "strong":
		case "badge":
			return `**${escaped(piece.text)}**`;
		case "aside":
			return piece.text === "" ? "" : ` ${escaped(piece.text)}`;
		case "alert":
		case "link":
			return escaped(piece.text);
		default:
			return "";
	}
}

function tableText({ columns, rows }: Table, { most }: Writing): string {
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	const lines = rows.map(({ cells }) => line(cells.map(inline)));
	const { kept, more } = rowsWithin(lines, most * TABLE);
	return [
		line(columns.map(({ name }) => inline(name))),
		line(columns.map(({ number }) => (number ? "---:" : "---"))),
		...kept,
		...(more === 0 ? [] : [`\nAnd ${more} more: report.html has all.`]),
	].join("\n");
}

function listText({ items, rest }: List, writing: Writing): string {
	const lines = items.map(({ badge, text, more = [] }) =>
		[
			badge === undefined
				? `- ${sentenceText(text, writing)}`
				: `- **${badge.toUpperCase()}** ${inline(text)}.`,
			...more.map((one) => sentenceText(one, writing)),
		].join(" "),
	);
	const { kept, more } = rowsWithin(lines, writing.most * LIST);
	const others = more > 0 ? `and ${more} more: see report.html` : rest;
	return [...kept, ...(others ? [`- ${escaped(others)}`] : [])].join("\n");
}

/** As many rows from the start on as fit into so many bytes. */
function rowsWithin(rows: readonly string[], most: number) {
	let size = 0;
	const end = rows.findIndex((row) => {
		size += Buffer.byteLength(row) + 1;
		return size > most;
	});
	const kept = end < 0 ? rows : rows.slice(0, end);
	return { kept, more: rows.length - kept.length };
}
