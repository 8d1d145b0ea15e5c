import { styleText } from "node:util";
import type { Look } from "../../document/blocks.ts";
import { displayWidth, pieces } from "../../terminal/columns.ts";
import { wrap } from "../../terminal/wrap.ts";

type Format = Parameters<typeof styleText>[0];

/** What a part of the report is written on: no line of it is wider than `width` columns. */
export interface Page {
	readonly width: number;
	readonly rows: number;
	/** Block characters may be drawn with. */
	readonly unicode: boolean;
	style(format: Format, text: string): string;
	/** The verdict's word, in its colour. */
	badge(look: Look, text?: string): string;
	/** Breaks a text at blanks, and a word that is wider than a line anywhere. */
	fold(text: string, indent?: string, first?: string): string[];
}

export interface PageOptions {
	readonly columns: number;
	readonly colour: boolean;
	readonly rows?: number | undefined;
	readonly unicode?: boolean | undefined;
}

export function makePage(options: PageOptions): Page {
	const width = Math.max(40, options.columns);
	const style: Page["style"] = options.colour
		? (format, text) => styleText(format, text, { validateStream: false })
		: (_, text) => text;
	return {
		width,
		rows: options.rows ?? 24,
		unicode: options.unicode ?? false,
		style,
		badge: (look, text = look.toUpperCase()) => style(["bold", COLOURS[look]] as Format, text),
		fold: (text, indent = "", first = indent) =>
			wrap(text, width, indent, first).flatMap((line) =>
				displayWidth(line) <= width
					? [line]
					: pieces(line.trimStart(), width - indent.length).map((piece) => `${indent}${piece}`),
			),
	};
}

// --- internal ---

const COLOURS: Readonly<Record<Look, Format>> = {
	pass: "green",
	fail: "red",
	inconclusive: "yellow",
	invalid: "magenta",
	error: "red",
	interrupted: "yellow",
	warn: "yellow",
	ok: "green",
	unknown: "dim",
};
