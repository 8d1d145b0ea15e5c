import { displayWidth } from "./columns.ts";

/** A terminal's state after a text: lines, cursor, and events. */
export interface Screen {
	readonly lines: readonly string[];
	readonly cursor: { readonly row: number; readonly column: number };
	/** The widest line so far; above `columns`, the terminal had to break it. */
	readonly widest: number;
	readonly visible: boolean;
	/** Escape sequences that this terminal does not support. */
	readonly unknown: readonly string[];
	/** The lines at each rewrite. */
	readonly frames: readonly (readonly string[])[];
}

/** Supports the sequences that mqbench uses: \r, \n, cursor up, erase, colours, showing and hiding the cursor. Nothing scrolls away. */
export function screen(text: string): Screen {
	let lines: string[] = [""];
	let row = 0;
	let column = 0;
	let widest = 0;
	let visible = true;
	const unknown: string[] = [];
	const frames: string[][] = [];
	// biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's own.
	for (const [part] of text.matchAll(/\x1b\[[?\d;]*[A-Za-z]|[^\x1b]|\x1b/gu)) {
		const [, argument = "", command] =
			// biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's own.
			/^\x1b\[([?\d;]*)([A-Za-z])$/.exec(part) ?? [];
		if (command === "A") row = Math.max(0, row - Number(argument || 1));
		else if (command === "K")
			lines[row] = argument === "2" ? "" : (lines[row] ?? "").slice(0, column);
		else if (command === "J") {
			lines = lines.slice(0, row + 1);
			lines[row] = (lines[row] ?? "").slice(0, column);
			frames.push([...lines]);
		} else if (command === "m") continue;
		else if (command === "l" && argument === "?25") visible = false;
		else if (command === "h" && argument === "?25") visible = true;
		else if (command !== undefined || part === "\x1b") unknown.push(part);
		else if (part === "\r") column = 0;
		else if (part === "\n") {
			row++;
			// As a line discipline does.
			column = 0;
			while (lines.length <= row) lines.push("");
		} else {
			const line = (lines[row] ?? "").padEnd(column);
			lines[row] = line.slice(0, column) + part + line.slice(column + part.length);
			column += part.length;
			widest = Math.max(widest, displayWidth(lines[row] ?? ""));
		}
	}
	return { lines, cursor: { row, column }, widest, visible, unknown, frames };
}
