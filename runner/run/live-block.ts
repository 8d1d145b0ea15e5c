import { printable } from "../printable.ts";
import { clipped, displayWidth } from "../terminal/columns.ts";
import type { Sink } from "../world.ts";

/** Lines at the end of a terminal, rewritten in place. The cursor rests visibly below them, so even kill -9 leaves a usable terminal. */
export function makeLiveBlock(out: Sink) {
	let drawn: number[] = [];
	const control = out.control ?? out.write;
	const back = () => {
		// A terminal that became narrower has rewrapped the lines.
		const rows = drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / out.columns)), 0);
		return rows === 0 ? "" : `\r\x1b[${rows}A`;
	};
	return {
		draw(lines: readonly string[]) {
			// A full line would move the cursor on, so one column stays free. Lines that scrolled away could not be rewritten.
			const width = Math.max(20, out.columns - 1);
			const height = Math.max(1, (out.rows ?? 24) - 2);
			const shown = lines.slice(0, height).map((line) => clipped(printable(line), width));
			const text = shown.map((line) => `\x1b[2K${line}\n`).join("");
			control(`${back()}${text}\x1b[J`);
			drawn = shown.map(displayWidth);
		},
		/** Removes the lines: the next output starts where they began. */
		clear() {
			if (drawn.length > 0) control(`${back()}\x1b[J`);
			drawn = [];
		},
	};
}
