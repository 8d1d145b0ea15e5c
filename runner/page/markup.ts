/** Text that is already markup. Everything else is escaped. */
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

/** markup`<p>${anything}</p>`: escapes everything but markup. Lists are joined; null, undefined and false are empty. */
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
	const text = String(part);
	// Keeps "10 000" on one line. Text with line breaks is the user's and stays.
	const whole = text.includes("\n") ? text : text.replaceAll(/(?<=\d) (?=\d{3}(?!\d))/g, "\u00a0");
	return escaped(whole);
}
