import {
	type Block,
	type Medium,
	piecesOf,
	shownIn,
	type Text,
	tableIn,
} from "../document/blocks.ts";
import type { Document } from "../document/document.ts";

/** For tests: what a medium has to show of a document, and what a rendered report says, both as plain words. */

/** Each row of each table, each count and each verdict, as one line. */
export function linesOf(document: Document, medium: Medium): string[] {
	const { broken, gates, sections } = document;
	return [
		...blockLines(broken, medium),
		...blockLines(gates, medium),
		...shownIn(sections, medium).flatMap(({ blocks }) => blockLines(blocks, medium)),
	];
}

/** The tables of one run whose first column has that name: its head, and its rows. */
export function rowsOf(document: Document, run: number, first: string): string[][] {
	const section = document.sections.find(({ id }) => id === `run-${run}`);
	return (section?.blocks ?? []).flatMap((block) =>
		block.kind === "table" && block.columns[0]?.name === first
			? [
					block.columns.map(({ name }) => name),
					...block.rows.map(({ cells }) => cells.map((cell) => plain(cell, "terminal"))),
				]
			: [],
	);
}

/** A rendered report without its markup. */
export function wordsIn(text: string, medium: Medium): string {
	const bare = {
		terminal: () => text,
		// What is escaped is a word, and no mark of Markdown.
		markdown: () => text.replaceAll(/\\([\\`*_[\]|~#])|[|*`]/g, (_, word) => word ?? " "),
		page: () =>
			text
				.replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, "")
				// A sign beside the word that says the same.
				.replaceAll(/<span aria-hidden="true">[^<]*<\/span>/g, "")
				.replaceAll(/<[^>]*>/g, " "),
	}[medium]();
	return flat(
		bare
			.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
			.replaceAll(/&(lt|gt|amp);/g, (_, name) => NAMED[name] ?? ""),
	);
}

// --- internal ---

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&" };

/** Blanks are what media differ in. */
function flat(text: string): string {
	return text.replaceAll("\u200b", "").replaceAll(/\s+/g, "");
}

function blockLines(blocks: readonly Block[], medium: Medium): string[] {
	return shownIn(blocks, medium).flatMap((block): string[] => {
		switch (block.kind) {
			case "table": {
				const { columns, rows } = tableIn(block, medium);
				const cells = rows.map((row) => row.cells.map((c) => plain(c, medium)));
				const turned = medium === "terminal" && block.turned;
				const lines = turned ? columns.map((_, i) => cells.map((row) => row[i] ?? "")) : cells;
				return lines.map((line) => flat(line.join("")));
			}
			case "counts":
				return medium === "markdown"
					? [shownIn(block.items, medium).map(({ text }) => text)].map((one) => flat(one.join("")))
					: shownIn(block.items, medium).map(({ name, text }) => flat(`${name}${text}`));
			case "verdicts":
				return block.items.map(({ verdict, text }) =>
					flat(`${verdict.toUpperCase()}${plain(text, medium)}`),
				);
			case "details":
				return blockLines(block.blocks, medium);
			default:
				return [];
		}
	});
}

function plain(text: Text, medium: Medium): string {
	return piecesOf(text)
		.map((piece) => {
			if (typeof piece === "string") return piece;
			switch (piece.kind) {
				case "aside":
					return medium === "terminal" ? "" : piece.text;
				// Many are folded below their number.
				case "settings":
				case "shares":
					return "";
				default:
					return piece.text;
			}
		})
		.join("");
}
