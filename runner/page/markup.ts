/** Text that is markup already. Everything else is escaped when it is put into some. */
export class Markup {
	readonly text: string;
	constructor(text: string) {
		this.text = text;
	}
	toString(): string {
		return this.text;
	}
}

type Part = Markup | string | number | null | undefined | false | readonly Part[];

/** markup`<p>${anything}</p>`: what is put in is escaped, but for other markup. Lists are joined; null, undefined and false are empty. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
	return new Markup(strings.reduce((all, s, i) => `${all}${render(parts[i - 1])}${s}`));
}

/** Safe as text and in quoted attributes, in HTML and SVG. */
export function escaped(text: string): string {
	return text.replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

// --- internal ---

function render(part: Part): string {
	if (part == null || part === false) return "";
	if (part instanceof Markup) return part.text;
	if (typeof part === "object") return part.map(render).join("");
	return escaped(whole(String(part)));
}

/** "10 000" is not broken across lines. What has lines of its own is somebody's text and stays. */
function whole(text: string): string {
	return text.includes("\n") ? text : text.replaceAll(/(?<=\d) (?=\d{3}(?!\d))/g, "\u00a0");
}
