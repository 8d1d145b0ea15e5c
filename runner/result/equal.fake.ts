import {
	at,
	type Block,
	type Depth,
	type Document,
	type Inline,
	piecesOf,
	type Table,
	wordOf,
} from "../document/blocks.ts";

export type Medium = "terminal" | "markdown" | "page";

const DEPTHS: Readonly<Record<Medium, Depth>> = { terminal: 1, markdown: 2, page: 3 };

/** For tests: the text that a medium has to show of a document, and the text of a rendered report, both as plain words. */

/** Each row of each table, and each verdict. */
export function linesOf({ answer, sections }: Document, medium: Medium): string[] {
	return blockLines(at([...answer, ...sections], DEPTHS[medium]), medium);
}

/** The tables of one run whose first column has that name: its head, and its rows. */
export function rowsOf(document: Document, run: number, first: string): string[][] {
	return tablesOf(document.sections, run).flatMap(({ columns, rows }) =>
		columns[0]?.name === first
			? [columns.map(({ name }) => name), ...rows.map(({ cells }) => cells)].map((row) =>
					row.map((cell) => plain(cell, "terminal")),
				)
			: [],
	);
}

export function countsOf(document: Document, run: number): Map<string, string> {
	const counts = tablesOf(document.sections, run).find(({ look }) => look === "row");
	const [cells = []] = counts?.rows.map((row) => row.cells) ?? [];
	return new Map(
		counts?.columns.map(({ name }, i) => [
			plain(name, "terminal"),
			plain(cells[i] ?? "", "terminal"),
		]),
	);
}

export function wordsIn(text: string, medium: Medium): string {
	const bare = {
		terminal: () => text,
		// An escaped sign is a word, not a mark of Markdown.
		markdown: () => text.replaceAll(/\\([\\`*_[\]|~#])|[|*`]/g, (_, word) => word ?? " "),
		page: () =>
			text
				.replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, "")
				// A sign next to the word with the same meaning.
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

/** Media differ in blanks. */
function flat(text: string): string {
	return text.replaceAll("\u200b", "").replaceAll(/\s+/g, "");
}

function tablesOf(blocks: readonly Block[], run: number): Table[] {
	return blocks.flatMap((block) => {
		if (block.kind !== "fold") return [];
		return block.id === `run-${run}`
			? block.blocks.filter((one) => one.kind === "table")
			: tablesOf(block.blocks, run);
	});
}

function blockLines(blocks: readonly Block[], medium: Medium): string[] {
	return blocks.flatMap((block): string[] => {
		switch (block.kind) {
			case "table": {
				const cells = block.rows.map((row) => row.cells.map((c) => plain(c, medium)));
				if (block.look === "row" && medium !== "markdown")
					return cells.flatMap((row) =>
						row.map((cell, i) => flat(`${plain(block.columns[i]?.name ?? "", medium)}${cell}`)),
					);
				const turned = medium === "terminal" && block.look === "turned";
				const lines = turned
					? block.columns.map((_, i) => cells.map((row) => row[i] ?? ""))
					: cells;
				return lines.map((line) => flat(line.join("")));
			}
			case "list":
				return block.items.flatMap(({ badge, text }) =>
					badge === undefined ? [] : [flat(`${badge.toUpperCase()}${plain(text, medium)}`)],
				);
			case "fold":
				return blockLines(block.blocks, medium);
			default:
				return [];
		}
	});
}

function plain(text: Inline, medium: Medium): string {
	return piecesOf(text)
		.map((piece) => {
			if (typeof piece === "string" || "unit" in piece) return wordOf(piece);
			return "text" in piece && (piece.as !== "aside" || medium !== "terminal") ? piece.text : "";
		})
		.join("");
}
