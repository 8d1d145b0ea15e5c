import { formatCount, formatDuration } from "../units.ts";
import type { Missing, Unfinished } from "./old-figure.ts";

/** Messages that never completed: they have no latency, and so no point in any line. They are marked where they were due. */

/** "12 of 1 000 never completed" */
export function missingText(of: Pick<Missing, "count" | "due">): string {
	return `${shareText(of)} never completed`;
}

/** "12 of 1 000" */
export function shareText({ count, due }: Pick<Missing, "count" | "due">) {
	return `${formatCount(count)} of ${formatCount(due)}`;
}

/** The stretch that a second lies in. */
export function missingAt({ stretches }: Unfinished, second: number): Missing | undefined {
	return stretches.find(({ from, to }) => second >= from && second < to);
}

/**
 * A value of a line as words: "> 30s" where it lies among those that never completed, of the maximum with the longest that did complete.
 * `text` is what the line shows; null: a gap.
 */
export function valueWords(
	unfinished: Unfinished,
	{ key, second }: { readonly key: string; readonly second: number },
	text: string | null,
): string {
	const missing = missingAt(unfinished, second);
	if (!missing?.beyond.includes(key)) return text ?? "n/a";
	return key === "max" && missing.longest !== null
		? `${unfinished.beyond} (${formatDuration(missing.longest)} of those that completed)`
		: unfinished.beyond;
}

/** Stretches that follow each other are one; but none is of both warm-up and window. */
export function joined(stretches: readonly Missing[]): Missing[] {
	const all: Missing[] = [];
	for (const one of stretches) {
		const last = all.at(-1);
		if (last !== undefined && last.to === one.from && one.from !== 0)
			all[all.length - 1] = {
				...last,
				to: one.to,
				count: last.count + one.count,
				due: last.due + one.due,
			};
		else all.push(one);
	}
	return all;
}
