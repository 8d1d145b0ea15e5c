/** Text from outside in Markdown: nothing of it can open a tag, a link, a table cell or emphasis, or call a person. */

export function oneLine(text: string): string {
	return text.replaceAll(/\s+/g, " ");
}

/** At most 1000 letters, and nothing that Markdown interprets. */
export function escaped(text: string): string {
	return unlinked(short(text).replaceAll(/[\\`*_[\]|~<>&#]/g, (c) => ENTITIES[c] ?? `\\${c}`));
}

/** For a line of HTML, in which some readers still take Markdown. */
export function inHtml(text: string): string {
	return unlinked(short(text).replaceAll(/[\\`*_[\]|~<>&#]/g, (c) => `&#${c.charCodeAt(0)};`));
}

/** A code span shows everything as it is, but a backtick ends it, and a bar ends the cell even behind a backslash. */
export function codeSpan(text: string): string {
	return `\`${short(text)
		.replaceAll("`", "'")
		.replaceAll(/\\(?=\|)/g, "\\ ")
		.replaceAll("|", "\\|")}\``;
}

// --- internal ---

/** Far above usual texts, low enough that a hundred fit. */
const MOST = 1000;

function short(text: string): string {
	const line = oneLine(text);
	return line.length <= MOST ? line : `${line.slice(0, MOST).replace(/\p{Surrogate}$/u, "")}...`;
}

const ENTITIES: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;" };

/** GitHub links @name, #12, GH-12, www.example.org and URLs, also if written as entities. An invisible blank within prevents it. */
function unlinked(markdown: string): string {
	return markdown
		.replaceAll(/(\\#|&#35;)(?=\w)/g, "$1&#8203;")
		.replaceAll(
			/(@|GH-|www|(?:https?|ftp):)(?=(?<=@)\w|(?<=-)\d|(?<=w)\.|(?<=:)\/\/)/gi,
			"$1&#8203;",
		);
}
