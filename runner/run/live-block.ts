import { printable } from "../printable.ts";
import { clipped, displayWidth } from "../terminal/columns.ts";
import type { Sink } from "../world.ts";

/**
 * A few lines at the end of a terminal that are written again and again in the same place. The cursor always rests at the start of the line
 * below the block, and is never hidden: whatever ends this process, kill -9 included, leaves a terminal as a shell wants it.
 */
export function makeLiveBlock(out: Sink) {
	let drawn: number[] = [];
	const control = out.control ?? out.write;
	const back = () => {
		// A terminal that became narrower has broken the lines anew.
		const rows = drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / out.columns)), 0);
		return rows === 0 ? "" : `\r\x1b[${rows}A`;
	};
	return {
		draw(lines: readonly string[]) {
			// One column is left free: a full line would move the cursor on. What scrolled away could not be reached any more.
			const width = Math.max(20, out.columns - 1);
			const height = Math.max(1, (out.rows ?? 24) - 2);
			const shown = lines.slice(0, height).map((line) => clipped(printable(line), width));
			const text = shown.map((line) => `\x1b[2K${line}\n`).join("");
			control(`${back()}${text}\x1b[J`);
			drawn = shown.map(displayWidth);
		},
		/** Takes the lines away: what is written next stands where they began. */
		clear() {
			if (drawn.length > 0) control(`${back()}\x1b[J`);
			drawn = [];
		},
	};
}
