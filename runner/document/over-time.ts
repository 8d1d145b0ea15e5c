import { largestOf, smallestOf } from "../extremes.ts";
import { type Block, instead, text } from "./blocks.ts";

/** Values over time in one line of a terminal, with their scale; of fewer than three nothing. A page has its charts. */
export function overTime(
	name: string,
	values: readonly (number | null)[],
	format: (value: number) => string,
	notes: readonly string[] = [],
): Block[] {
	const known = values.filter((value) => value !== null);
	if (known.length < 3) return [];
	const scale = `${format(smallestOf(known))} to ${format(largestOf(known))}`;
	const line = text([`${name}  `, { as: "line", values }, `  ${scale}`]);
	return [instead(2, [], [line, ...notes.map((note) => text(note))])];
}
