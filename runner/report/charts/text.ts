/** Text in pictures: made harmless, and measured where no browser is at hand. */

/** One line, without what XML does not allow: control characters and half surrogates. */
export function shown(text: string): string {
	return text
		.replaceAll(/\p{Cc}+|\s+/gu, " ")
		.replaceAll(/[\p{Cs}\uFFFE\uFFFF]/gu, "\uFFFD")
		.trim();
}

/** Width in pixels, rather too much than too little: fonts differ from machine to machine. */
export function widthOf(text: string, size = 12): number {
	let ems = 0;
	for (const c of text) ems += emsOf(c);
	return ems * size;
}

/** Cut to `width` pixels, with three dots in place of the rest. */
export function fitted(text: string, width: number, size = 12): string {
	const line = shown(text);
	if (widthOf(line, size) <= width) return line;
	const dots = widthOf("...", size);
	let cut = "";
	let used = dots;
	for (const c of line) {
		used += widthOf(c, size);
		if (used > width) break;
		cut += c;
	}
	return `${cut.trimEnd()}...`;
}

/** Broken between words into at most `most` lines of `width` pixels; the last one is cut. */
export function wrapped(
	text: string,
	width: number,
	most: number,
	size = 12,
): string[] {
	const lines: string[] = [];
	let line = "";
	const words = shown(text).split(" ");
	while (words.length > 0 && lines.length < most) {
		const word = words[0] as string;
		const longer = line === "" ? word : `${line} ${word}`;
		if (lines.length === most - 1) {
			lines.push(
				fitted([line, ...words].filter((w) => w !== "").join(" "), width, size),
			);
			return lines;
		}
		if (widthOf(longer, size) <= width) {
			line = longer;
			words.shift();
		} else {
			// A word that is wider than a line is cut.
			lines.push(line === "" ? fitted(word, width, size) : line);
			if (line === "") words.shift();
			line = "";
		}
	}
	if (line !== "") lines.push(line);
	return lines;
}

// --- internal ---

/** After DejaVu Sans, the widest of the usual fonts. */
function emsOf(c: string): number {
	const code = c.codePointAt(0) ?? 0;
	if (code > 0x2000) return code < 0x2070 ? 0.7 : 1.3;
	if (code > 0x17f) return 0.75;
	if (/[iljI.,:;'|! ]/.test(c)) return 0.36;
	if (/[ftr()[\]{}\-/]/.test(c)) return 0.43;
	if (/[mwMW@%]/.test(c)) return 0.97;
	return /[A-Z]/.test(c) ? 0.71 : 0.63;
}
