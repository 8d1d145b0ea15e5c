import { isPiece, type Look, piecesOf, plain, type Table } from "../../document/blocks.ts";
import { largestOf } from "../../extremes.ts";
import { displayWidth, padEnd, padStart } from "../../terminal/columns.ts";
import type { Page } from "./text-page.ts";

/** A table in columns where they fit, turned if it may be; else its rows one by one: "nats: p50 1ms, p99 2ms". */
export function tableLines(table: Table, page: Page): string[] {
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

// --- internal ---

interface Cell {
	readonly text: string;
	/** A verdict: in its colour. */
	readonly look: Look | null;
	readonly number: boolean;
}

function rowsOf({ columns, rows }: Table): Cell[][] {
	const all = [columns.map(({ name }) => name), ...rows.map(({ cells }) => cells)];
	return all.map((cells) =>
		cells.map((text, i) => {
			const [only, ...others] = piecesOf(text);
			const look = others.length === 0 && isPiece(only, "badge") ? only.look : null;
			return { text: plain(text), look, number: columns[i]?.number ?? false };
		}),
	);
}

/** Rows as columns: the figures stay to the right, and the corner has no name. */
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
