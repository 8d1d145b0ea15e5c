import { isPiece, type Look, piecesOf, plain, type Table } from "../../document/blocks.ts";
import { largestOf } from "../../extremes.ts";
import { displayWidth, padEnd, padStart } from "../../terminal/columns.ts";
import type { Page } from "./text-page.ts";

/**
 * A table in columns; where it does not fit without those that are spare, then with shorter names, which stand below it in full; else its
 * rows one by one: "nats: p50 1ms, p99 2ms".
 */
export function tableLines(table: Table, page: Page): string[] {
	const rows = rowsOf(table);
	const turned = table.look === "turned" ? [rows, turn(rows)] : [rows];
	for (const one of turned.reverse()) {
		const lines = grid(one, page);
		if (lines !== null) return lines;
	}
	return listed(rows, page);
}

// --- internal ---

interface Cell {
	readonly text: string;
	/** A verdict: in its colour. */
	readonly look: Look | null;
	readonly number: boolean;
	readonly spare: number;
}

/** Narrower than this a name says nothing any more. */
const SHORTEST_NAME = 12;

function rowsOf({ columns, rows }: Table): Cell[][] {
	const cell = (text: string, i: number, look: Look | null = null): Cell => ({
		text,
		look,
		number: columns[i]?.number ?? false,
		spare: columns[i]?.spare ?? 0,
	});
	return [
		columns.map(({ name }, i) => cell(plain(name), i)),
		...rows.map((row) =>
			row.cells.map((text, i) => {
				const [only, ...others] = piecesOf(text);
				return others.length === 0 && isPiece(only, "badge")
					? cell(only.text, i, only.look)
					: cell(plain(text), i);
			}),
		),
	];
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

/** null: it is wider than the page. */
function grid(rows: readonly Cell[][], page: Page): string[] | null {
	const spare = [...new Set((rows[0] ?? []).map((cell) => cell.spare))]
		.filter((n) => n > 0)
		.sort((a, b) => a - b);
	const fewer = [0, ...spare].map((most) =>
		rows.map((row) => row.filter((cell) => !(cell.spare > 0 && cell.spare <= most))),
	);
	const names = widest(rows, 0);
	const least = Math.min(names, Math.max(SHORTEST_NAME, page.width / 4));
	for (const room of [names, least])
		for (const some of fewer) {
			const widths = (some[0] ?? []).map((_, i) => widest(some, i));
			const others = widths.slice(1).reduce((sum, width) => sum + width + 2, 0);
			const free = page.width - 2 - others;
			if (free >= room)
				return drawn(some, [Math.min(names, Math.floor(free)), ...widths.slice(1)], page);
		}
	return null;
}

function drawn(rows: readonly Cell[][], widths: readonly number[], page: Page): string[] {
	const whole = new Map<string, string>();
	const lines = rows.map((row) =>
		`  ${row
			.map((cell, i) => {
				const width = widths[i] ?? 0;
				const shown = i === 0 ? page.short(cell.text, width) : cell.text;
				if (shown !== cell.text) whole.set(shown, cell.text);
				const padded = (cell.number ? padStart : padEnd)(shown, width);
				return cell.look === null
					? padded
					: padded.replace(cell.text, page.badge(cell.look, cell.text));
			})
			.join("  ")}`.trimEnd(),
	);
	const names = [...whole].flatMap(([short, long]) =>
		page.fold(`${short} is ${long}`, "    ", "  "),
	);
	return names.length === 0 ? lines : [...lines, "", ...names];
}

function listed([head = [], ...rows]: readonly Cell[][], page: Page): string[] {
	return rows.flatMap(([name, ...cells]) => {
		const badges = cells.filter(({ look }) => look !== null);
		return [
			...page.fold(
				`${name?.text}: ${cells.flatMap(({ text, look }, i) => (look === null ? [`${head[i + 1]?.text} ${text}`] : [])).join(", ")}`,
				"    ",
				"  ",
			),
			...badges.map(({ text, look }) => `    ${page.badge(look as Look, text)}`),
		];
	});
}

function widest(rows: readonly Cell[][], column: number): number {
	return Math.max(0, largestOf(rows.map((row) => displayWidth(row[column]?.text ?? ""))));
}
