import {
	type Block,
	type Piece,
	piecesOf,
	shownIn,
	type Table,
	type Text,
	tableIn,
} from "../../document/blocks.ts";
import { sentence } from "../../document/sentence.ts";
import { rowsWithin, type Size } from "../sections.ts";
import { codeSpan, cut, escaped, inHtml, MOST_TEXT } from "./escape.ts";

/** What a text is written with. */
export interface Writing {
	/** Names that keep their first letter where a sentence begins with them. */
	readonly names: readonly string[];
	/** Room for all of it: a table may take its share. */
	readonly size: Size;
}

/** Blocks as GitHub's Markdown, each a piece that stands for itself. */
export function markdownBlocks(blocks: readonly Block[], writing: Writing): string[] {
	return shownIn(blocks, "markdown")
		.map((block) => blockText(block, writing))
		.filter((text) => text !== "");
}

/** What is folded under a line: GitHub takes Markdown in it only behind a blank line. */
export function folded(summary: string, parts: readonly string[]): string {
	return [`<details>\n<summary><b>${inHtml(summary)}</b></summary>`, ...parts, "</details>"].join(
		"\n\n",
	);
}

// --- internal ---

function blockText(block: Block, writing: Writing): string {
	switch (block.kind) {
		case "paragraph":
			return block.texts
				.map((text) => sentenceText(text, writing))
				.map((text) => (block.tone === "warn" ? `**${text}**` : text))
				.join(" ");
		case "heading":
			return `### ${escaped(cut(block.text))}`;
		case "list":
			return block.items.map((item) => `- ${sentenceText(item, writing)}`).join("\n");
		case "table":
			return tableText(tableIn(block, "markdown"), writing);
		case "verdicts":
			return verdictsText(block, writing);
		case "counts": {
			const items = shownIn(block.items, "markdown");
			const cells = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
			return [
				cells(items.map(({ name }) => name)),
				cells(items.map(() => "---:")),
				cells(items.map(({ text }) => text)),
			].join("\n");
		}
		case "details":
			return folded(cut(block.summary), markdownBlocks(block.blocks, writing));
		case "code":
			return `\`\`\`\n${block.text.replaceAll("```", "'''")}\n\`\`\``;
		case "charts":
		case "matrix":
		case "provenance":
		case "spark":
			return "";
	}
}

function sentenceText(text: Text, { names }: Writing): string {
	return typeof text === "string" ? escaped(cut(sentence(text, names), MOST_TEXT)) : inline(text);
}

function inline(text: Text): string {
	return piecesOf(text).map(pieceText).join("").trim();
}

function pieceText(piece: Piece): string {
	if (typeof piece === "string") return escaped(cut(piece, MOST_TEXT));
	switch (piece.kind) {
		case "code":
			return codeSpan(cut(piece.text));
		case "strong":
		case "badge":
			return `**${escaped(cut(piece.text))}**`;
		case "aside":
			return piece.text === "" ? "" : ` ${escaped(cut(piece.text, MOST_TEXT))}`;
		case "link":
			return escaped(cut(piece.text, MOST_TEXT));
		case "settings":
			return escaped(piece.entries.map((one) => one.join("=")).join(", "));
		case "shares":
			return "";
	}
}

function tableText({ columns, rows, share }: Table, { size }: Writing): string {
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	const lines = rows.map(({ cells }) => line(cells.map(inline)));
	const { kept, more } = rowsWithin(lines, { ...size, most: size.most * (share ?? 1) });
	const left = rows
		.slice(kept.length)
		.flatMap(({ cells }) => cells.flatMap(piecesOf))
		.filter((piece) => typeof piece === "object" && piece.kind === "badge");
	const passed = left.filter(({ look }) => look === "pass").length;
	return [
		line(columns.map(({ name }) => escaped(cut(name)))),
		line(columns.map(({ number }) => (number ? "---:" : "---"))),
		...kept,
		...(more === 0
			? []
			: [
					`\nAnd ${more} more${left.length === 0 ? "" : `, ${passed} of them PASS`}: report.html has all.`,
				]),
	].join("\n");
}

function verdictsText(
	{ items, rest }: Extract<Block, { kind: "verdicts" }>,
	{ names, size }: Writing,
): string {
	const lines = items.map(({ verdict, text, more }) =>
		[
			`- **${verdict.toUpperCase()}** ${inline(text)}.`,
			...more.map((one) => escaped(cut(sentence(one, names), MOST_TEXT))),
		].join(" "),
	);
	const { kept } = rowsWithin(lines, { ...size, most: size.most * VERDICTS });
	const left = items.length - kept.length;
	const others = left > 0 ? `and ${left} more: see report.html` : rest;
	return [...kept, ...(others === null ? [] : [`- ${escaped(others)}`])].join("\n");
}

/** Part of a comment's room that what broke may take. */
const VERDICTS = 0.15;
