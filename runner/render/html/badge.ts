import { type Markup, markup } from "../../page/markup.ts";

/** A verdict, or another word of what is to be known at once, with a sign: colour is not all that tells them apart. */
export function badgeMarkup(look: string, text = look.toUpperCase()): Markup {
	const sign = signOf(look);
	return markup`<span class="badge ${look}">${sign !== undefined && markup`<span aria-hidden="true">${sign}</span> `}${text}</span>`;
}

/** undefined: it has none. */
export function signOf(look: string): string | undefined {
	return SIGNS[look];
}

// --- internal ---

/** A sign for each verdict, beside its word. */
const SIGNS: Readonly<Record<string, string>> = {
	pass: "\u2713",
	ok: "\u2713",
	fail: "\u2717",
	error: "\u2717",
	invalid: "!",
	inconclusive: "?",
	interrupted: "\u2026",
	warn: "\u25d0",
};
