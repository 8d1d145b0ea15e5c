/** A piece of markdown that is shown whole or not at all. */
export interface Section {
	/** Plain text, for the sentence that says it was left out. */
	readonly title: string;
	readonly text: string;
}

export interface Size {
	/** Longest text, in what `of` counts. */
	readonly most: number;
	/** GitHub counts characters of a comment, and bytes of a summary. */
	readonly of: "characters" | "bytes";
}

/** Length of a text in what `of` counts. UTF-16 units for characters: never fewer than a reader counts. */
export function sizeOf(text: string, of: Size["of"]): number {
	return of === "bytes" ? Buffer.byteLength(text) : text.length;
}

/**
 * The sections one below the other, as many from the start on as fit between `head` and `foot`; what is left out is said, with
 * `where` it is. `head`, `foot` and `where` are markdown, and short: they are always there.
 */
export function fitted(
	head: string,
	sections: readonly Section[],
	foot: string,
	{ most, of }: Size,
	where: string,
): string {
	const joined = (kept: number) =>
		`${[
			head,
			...sections.slice(0, kept).map((s) => s.text),
			...(kept === sections.length ? [] : [leftOut(sections.slice(kept), where)]),
			foot,
		].join("\n\n")}\n`;
	const all = joined(sections.length);
	if (sizeOf(all, of) <= most) return all;
	// The sentence itself grows and shrinks by what it names: each cut is measured as it would stand there.
	let [low, high] = [0, sections.length - 1];
	while (low < high) {
		const middle = Math.ceil((low + high) / 2);
		if (sizeOf(joined(middle), of) <= most) low = middle;
		else high = middle - 1;
	}
	return joined(low);
}

/** As many rows from the start on as fit into `most`. */
export function rowsWithin(
	rows: readonly string[],
	{ most, of }: Size,
): { readonly kept: readonly string[]; readonly more: number } {
	let size = 0;
	const end = rows.findIndex((row) => {
		size += sizeOf(row, of) + 1;
		return size > most;
	});
	const kept = end < 0 ? rows : rows.slice(0, end);
	return { kept, more: rows.length - kept.length };
}

// --- internal ---

const NAMED = 3;
const LONGEST_NAME = 80;

function leftOut(sections: readonly Section[], where: string): string {
	const names = sections
		.slice(0, NAMED)
		.map(({ title }) =>
			title.length > LONGEST_NAME ? `${title.slice(0, LONGEST_NAME)}...` : title,
		)
		.map((title) => title.replaceAll(/[^\p{L}\p{N} .,:/%()-]/gu, "."));
	const more = sections.length - names.length;
	return `**Left out, as there is no more room here:** ${names.join("; ")}${more > 0 ? `; and ${more} more` : ""}. ${where}`;
}
