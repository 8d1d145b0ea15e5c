import { displayWidth } from "./columns.ts";

/** Breaks at blanks only: "45 000" stays whole, and a word that is too long gets a line. `first`: the first line's indent. */
export function wrap(text: string, width: number, indent = "", first = indent): string[] {
	const lines: string[] = [];
	let line = first;
	let empty = true;
	for (const word of text.split(/(?<!\d) | (?!\d{3}(?!\d))/)) {
		if (!empty && displayWidth(line) + 1 + displayWidth(word) > width) {
			lines.push(line);
			line = indent;
			empty = true;
		}
		line = empty ? `${line}${word}` : `${line} ${word}`;
		empty = false;
	}
	return [...lines, line].map((one) => one.trimEnd());
}
