/** Escapes (`\u001b`) signs that move the cursor, erase, set a title or turn the reading direction, for texts from outside. */
export function printable(text: string, colour = false): string {
	return text.replaceAll(UNPRINTABLE, (sign) =>
		sign === "\r\n" || (colour && OWN_COLOUR.test(sign))
			? sign
			: [...sign].map(writtenOut).join(""),
	);
}

// --- internal ---

/** Matches whole colours and a CSV's line ends, to let them stay. */
const UNPRINTABLE =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them.
	/\r\n|\x1b\[\d{1,2}m|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Bold, dim, red to cyan, grey, and their ends: nothing that hides a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with it.
const OWN_COLOUR = /^\x1b\[(?:[012]|22|3[1-6]|39|90)m$/;

function writtenOut(sign: string): string {
	const code = sign.charCodeAt(0);
	return code >= 0x20 && code < 0x7f ? sign : `\\u${code.toString(16).padStart(4, "0")}`;
}
