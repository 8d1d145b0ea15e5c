import { styleText } from "node:util";
import type { Result } from "../../model/result.ts";
import {
	displayWidth,
	padEnd,
	padStart,
	pieces,
	shortened,
} from "../../terminal/columns.ts";
import { wrap } from "../../terminal/wrap.ts";

export type Format = Parameters<typeof styleText>[0];

/** What a part of the report is written on: no line of it is wider than `width` columns. */
export interface Page {
	readonly width: number;
	readonly rows: number;
	/** Block characters may be drawn with. */
	readonly unicode: boolean;
	style(format: Format, text: string): string;
	/** The verdict's word, in its colour. */
	badge(verdict: Result["verdict"], text?: string): string;
	/** Breaks a text at blanks, and a word that is wider than a line anywhere. */
	fold(text: string, indent?: string, first?: string): string[];
	/** A name that is cut in the middle to fit. */
	short(name: string, width: number): string;
}

export interface PageOptions {
	readonly columns: number;
	readonly colour: boolean;
	readonly rows?: number | undefined;
	readonly unicode?: boolean | undefined;
}

export function makePage(options: PageOptions): Page {
	const width = Math.max(40, options.columns);
	const unicode = options.unicode ?? false;
	const style: Page["style"] = options.colour
		? (format, text) => styleText(format, text, { validateStream: false })
		: (_, text) => text;
	return {
		width,
		rows: options.rows ?? 24,
		unicode,
		style,
		badge: (verdict, text = verdict.toUpperCase()) =>
			style(["bold", COLOURS[verdict]] as Format, text),
		fold: (text, indent = "", first = indent) =>
			wrap(text, width, indent, first).flatMap((line) =>
				displayWidth(line) <= width
					? [line]
					: pieces(line.trimStart(), width - indent.length).map(
							(piece) => `${indent}${piece}`,
						),
			),
		short: (name, room) => shortened(name, room, unicode ? "\u2026" : ".."),
	};
}

/** Rows below each other, the first column to the left, the others to the right; null: it is wider than the page. */
export function grid(
	rows: readonly (readonly string[])[],
	page: Page,
	indent = "  ",
): string[] | null {
	const [head = []] = rows;
	const widths = head.map((_, i) =>
		Math.max(...rows.map((row) => displayWidth(row[i] ?? ""))),
	);
	const lines = rows.map((row) =>
		`${indent}${row
			.map((cell, i) => (i === 0 ? padEnd : padStart)(cell, widths[i] ?? 0))
			.join("  ")}`.trimEnd(),
	);
	return lines.some((line) => displayWidth(line) > page.width) ? null : lines;
}

/** Rows that do not fit beside each other, one by one: "nats: p50 1ms, p99 2ms". */
export function listed(
	[head = [], ...rows]: readonly (readonly string[])[],
	page: Page,
): string[] {
	return rows.flatMap(([name, ...cells]) =>
		page.fold(
			`${name}: ${cells.map((cell, i) => `${head[i + 1]} ${cell}`).join(", ")}`,
			"    ",
			"  ",
		),
	);
}

// --- internal ---

const COLOURS: Readonly<Record<Result["verdict"], Format>> = {
	pass: "green",
	fail: "red",
	inconclusive: "yellow",
	invalid: "magenta",
	error: "red",
	interrupted: "yellow",
};
