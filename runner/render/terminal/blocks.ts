import {
	type Block,
	isPiece,
	type List,
	type Look,
	piecesOf,
	plain,
	type Table,
	type Text,
	wordOf,
} from "../../document/blocks.ts";
import { largestOf } from "../../extremes.ts";
import { displayWidth, padEnd, padStart } from "../../terminal/columns.ts";
import { sparkline } from "../../terminal/sparkline.ts";
import type { Page } from "./text-page.ts";

/** Tables, headings and charts have a blank line above. */
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
		(block.kind === "text" && piecesOf(block.text).some((one) => isPiece(one, "line")))
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

/** In columns where they fit, turned if allowed; else row by row: "nats: p50 1ms, p99 2ms". */
function tableLines(table: Table, page: Page): string[] {
	const rows = rowsOf(table);
	for (const one of table.look === "turned" ? [turn(rows), rows] : [rows]) {
		const widths = (one[0] ?? []).map((_, i) =>
			largestOf(one.map((row) => displayWidth(row[i]?.text ?? ""))),
		);
		if (widths.reduce((sum, width) => sum + width + 2, 0) <= page.width)
			return one.map((row) => rowLine(row, widths, page));
	}
	return listed(rows, page);
}

type Cell = ReturnType<typeof rowsOf>[number][number];

function rowsOf({ columns, rows }: Table) {
	const all = [columns.map(({ name }) => name), ...rows.map(({ cells }) => cells)];
	return all.map((cells) =>
		cells.map((text, i) => {
			const [only, ...others] = piecesOf(text);
			const look = others.length === 0 && isPiece(only, "badge") ? only.look : null;
			return { text: plain(text), look, number: columns[i]?.number ?? false };
		}),
	);
}

function turn(rows: readonly Cell[][]): Cell[][] {
	return (rows[0] ?? []).map((_, i) =>
		rows.map((row, k) => {
			const cell = row[i] as Cell;
			const text = i === 0 && k === 0 ? "" : cell.text;
			return { ...cell, text, number: k > 0 };
		}),
	);
}

function rowLine(row: readonly Cell[], widths: readonly number[], page: Page): string {
	const cells = row.map(({ text, look, number }, i) => {
		const padded = (number ? padStart : padEnd)(text, widths[i] ?? 0);
		return look === null ? padded : padded.replace(text, page.badge(look, text));
	});
	return `  ${cells.join("  ")}`.trimEnd();
}

function listed([head = [], ...rows]: readonly Cell[][], page: Page): string[] {
	return rows.flatMap(([name, ...cells]) => {
		const badges = cells.filter(({ look }) => look !== null);
		const figures = cells.flatMap(({ text, look }, i) =>
			look === null ? [`${head[i + 1]?.text} ${text}`] : [],
		);
		return [
			...page.fold(`${name?.text}: ${figures.join(", ")}`, "    ", "  "),
			...badges.map(({ text, look }) => `    ${page.badge(look as Look, text)}`),
		];
	});
}
