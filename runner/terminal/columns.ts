import { stripVTControlCharacters } from "node:util";

/** Text from outside as one harmless line, without control characters, escape sequences or direction marks. */
export function plainText(text: string): string {
	return harmless(text).replaceAll(/ {2,}/g, " ").trim();
}

/** The same for a part of a line, which keeps its blanks. */
export function harmless(text: string): string {
	return stripVTControlCharacters(text)
		.replaceAll(/\p{Surrogate}/gu, "\ufffd")
		.replaceAll(CONTROLS, " ")
		.replaceAll(TURNING, "");
}

/** Terminal columns: emoji and East Asian characters take two, combining marks none. */
export function displayWidth(text: string): number {
	if (PLAIN.test(text)) return text.length;
	let width = 0;
	for (const { segment } of GRAPHEMES.segment(text)) width += widthOf(segment);
	return width;
}

export function clipped(text: string, width: number, mark = ""): string {
	if (displayWidth(text) <= width) return text;
	return `${pieces(text, width - mark.length)[0]}${mark}`;
}

/** Pieces of at most `width` columns; a wider character is a separate piece. */
export function pieces(text: string, width: number): string[] {
	const parts: string[] = [];
	let piece = "";
	for (const { segment } of GRAPHEMES.segment(text)) {
		if (piece !== "" && displayWidth(piece + segment) > width) {
			parts.push(piece);
			piece = "";
		}
		piece += segment;
	}
	return [...parts, piece];
}

export function padEnd(text: string, width: number): string {
	return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

export function padStart(text: string, width: number): string {
	return " ".repeat(Math.max(0, width - displayWidth(text))) + text;
}

// --- internal ---

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
const PLAIN = /^[ -~]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed.
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g;
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const NOTHING =
	/^(?:\p{Default_Ignorable_Code_Point}|\p{Nonspacing_Mark}|\p{Enclosing_Mark}|\p{Format})+$/u;
const WIDE =
	/^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /^\p{Emoji_Presentation}|^\p{Extended_Pictographic}\ufe0f/u;

function widthOf(grapheme: string): number {
	if (NOTHING.test(grapheme)) return 0;
	// Flags and digits in boxes are two columns wide too.
	if (EMOJI.test(grapheme) || /\u20e3$/.test(grapheme)) return 2;
	return WIDE.test(grapheme) ? 2 : 1;
}
