import { displayWidth } from "./columns.ts";

/**
 * Breaks at blanks only: not between the digits of "45 000", and a word that is too long for a line stands alone and
 * whole. `first` is the indent of the first line, when it differs.
 */
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
