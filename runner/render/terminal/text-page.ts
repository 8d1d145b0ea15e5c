import { styleText } from "node:util";
import type { Look } from "../../document/blocks.ts";
import { displayWidth, pieces } from "../../terminal/columns.ts";
import { wrap } from "../../terminal/wrap.ts";

type Format = Parameters<typeof styleText>[0];

/** No line of it is wider than `width` columns. */
export type Page = ReturnType<typeof makePage>;

export interface PageOptions {
	readonly columns: number;
	readonly colour: boolean;
}

export function makePage({ columns, colour }: PageOptions) {
	const width = Math.max(40, columns);
	const style = (format: Format, text: string) =>
		colour ? styleText(format, text, { validateStream: false }) : text;
	const badge = (look: Look, word: string) => style(["bold", COLOURS[look]] as Format, word);
	/** Breaks at blanks, and wide words anywhere. */
	const fold = (text: string, indent = "", first = indent) =>
		wrap(text, width, indent, first).flatMap((line) =>
			displayWidth(line) <= width
				? [line]
				: pieces(line.trimStart(), width - indent.length).map((piece) => `${indent}${piece}`),
		);
	return {
		width,
		badge,
		fold,
		heading: (text: string) => fold(text).map((line) => style("bold", line)),
		/** Further lines are indented by `indent`. */
		badged(look: Look, word: string, text: string, indent = "      ") {
			const room = " ".repeat(Math.max(word.length + 2, indent.length));
			const [first = "", ...rest] = fold(text, indent, room);
			return first.startsWith(room)
				? [`${badge(look, word)}${first.slice(word.length)}`, ...rest]
				: [badge(look, word), first, ...rest];
		},
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
