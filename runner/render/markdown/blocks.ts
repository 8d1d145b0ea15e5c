import {
	type Block,
	type Inline,
	type List,
	type Piece,
	piecesOf,
	sentence,
	type Table,
	type Text,
	wordOf,
} from "../../document/blocks.ts";
import { codeSpan, escaped, inHtml } from "./escape.ts";

/** They keep their first letter at the beginning of a sentence. */
type Names = readonly string[];

/** Sentences of one tone below each other are a paragraph. */
export function markdownBlocks(
	blocks: readonly Block[],
	names: Names,
	/** For its headings; the title has 1. */
	level: number,
): string[] {
	const pieces: string[] = [];
	for (const [i, block] of blocks.entries()) {
		const piece = blockText(block, names, level);
		const before = blocks[i - 1];
		const last = pieces.at(-1);
		if (
			last !== undefined &&
			block.kind === "text" &&
			block.tone !== "code" &&
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

function blockText(block: Block, names: Names, level: number): string {
	switch (block.kind) {
		case "text":
			return textOf(block, names);
		case "heading":
			return headingOf(block.text, level);
		case "list":
			return listText(block, names);
		case "table":
			return tableText(block);
		case "fold": {
			const { title, badge, open, blocks } = block;
			const parts = markdownBlocks(blocks, names, level + (title === "" ? 0 : 1));
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

/** GitHub takes Markdown in it only behind a blank line. */
function folded(summary: string, parts: readonly string[]): string {
	return [`<details>\n<summary><b>${inHtml(summary)}</b></summary>`, ...parts, "</details>"].join(
		"\n\n",
	);
}

function textOf({ text, tone }: Text, names: Names): string {
	if (tone === "code") return `\`\`\`\n${String(text).replaceAll("```", "'''")}\n\`\`\``;
	const said = sentenceText(text, names);
	return tone === "warn" ? `**${said}**` : said;
}

function sentenceText(text: Inline, names: Names): string {
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

function tableText({ columns, rows }: Table): string {
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	return [
		line(columns.map(({ name }) => inline(name))),
		line(columns.map(({ number }) => (number ? "---:" : "---"))),
		...rows.map(({ cells }) => line(cells.map(inline))),
	].join("\n");
}

function listText({ items, rest }: List, names: Names): string {
	const lines = items.map(({ badge, text, more = [] }) =>
		[
			badge === undefined
				? `- ${sentenceText(text, names)}`
				: `- **${badge.toUpperCase()}** ${inline(text)}.`,
			...more.map((one) => sentenceText(one, names)),
		].join(" "),
	);
	return [...lines, ...(rest ? [`- ${escaped(rest)}`] : [])].join("\n");
}
