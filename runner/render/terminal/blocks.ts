import {
	type Block,
	isPiece,
	type List,
	type Piece,
	piecesOf,
	plain,
	type Table,
	type Text,
	wordOf,
} from "../../document/blocks.ts";
import { displayWidth } from "../../terminal/columns.ts";
import { sparkline } from "../../terminal/sparkline.ts";
import { tableLines } from "./table.ts";
import type { Page } from "./text-page.ts";

/** Blocks as lines of a terminal: what stands for itself has a blank line above it. */
export function blockLines(blocks: readonly Block[], page: Page, indent = "  "): string[] {
	let before: Block | null = null;
	return blocks.flatMap((block) => {
		const lines = linesOf(block, page, indent);
		if (lines.length === 0) return [];
		const isTop = before === null || before.kind === "heading";
		const apart = !isTop && (isApart(block) || before?.kind === "fold");
		before = block;
		return apart ? ["", ...lines] : lines;
	});
}

// --- internal ---

/** Where the text of a verdict begins: right of "INCONCLUSIVE". */
const INDENT = " ".repeat(14);

function isApart(block: Block): boolean {
	return (
		block.kind === "heading" ||
		block.kind === "table" ||
		(block.kind === "text" && piecesOf(block.text).some(isLine))
	);
}

function linesOf(block: Block, page: Page, indent: string): string[] {
	switch (block.kind) {
		case "text":
			return textLines(block, page, indent);
		case "heading":
			return page.fold(block.text, indent);
		case "list":
			return listLines(block, page, indent);
		case "table":
			return block.look === "row" ? rowLines(block, page) : tableLines(block, page);
		case "fold":
			return [
				...(block.title === "" ? [] : page.fold(block.title, indent)),
				...blockLines(block.blocks, page, indent),
			];
		case "figures":
			return [];
	}
}

function isLine(piece: Piece) {
	return isPiece(piece, "line");
}

/** Values over time stand between their words: a stall, or a slope, at a glance. */
function textLines({ text }: Text, page: Page, indent: string): string[] {
	const room = page.width - indent.length - displayWidth(plain(text)) - 2;
	const words = piecesOf(text).map((one) =>
		isPiece(one, "line") ? sparkline(one.values, room) : wordOf(one),
	);
	return page.fold(words.join("").trim(), indent);
}

function listLines({ items, rest }: List, page: Page, indent: string): string[] {
	return [
		...items.flatMap(({ badge, text, more = [] }) => {
			const below = badge === undefined ? indent : INDENT;
			const said = plain(text);
			return [
				...(badge === undefined
					? page.fold(said, below)
					: page.badged(badge, badge.toUpperCase(), said, below)),
				...more.flatMap((one) => page.fold(one, below)),
			];
		}),
		...(rest ? page.fold(rest) : []),
	];
}

/** Breaks between names only. */
function rowLines({ columns, rows }: Table, page: Page): string[] {
	const cells = rows.flatMap(({ cells }) => cells.map(plain));
	const all = cells.map((cell, i) => `${plain(columns[i]?.name ?? "")} ${cell}`);
	const row = all.map((one) => one.replaceAll(" ", "\u00a0")).join("\u00a0 ");
	return page.fold(row, "  ").map((line) => line.replaceAll("\u00a0", " "));
}
