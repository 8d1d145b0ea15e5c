/** `*` stands for any text, `?` for one character. */
export function glob(pattern: string): RegExp {
	const parts = pattern.replaceAll(/[\\^$.|+()[\]{}]/g, "\\$&");
	// Collapse stars: many in a row would make the search exponential.
	return new RegExp(`^${parts.replaceAll(/\*+/g, ".*").replaceAll("?", ".")}$`, "u");
}
