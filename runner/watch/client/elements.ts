/** Elements of the page. */

/** The one with this id, which page.ts has written. */
export function place<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
	const found = document.getElementById(id);
	if (found === null) throw new Error(`the page has no #${id}`);
	return found as Kind;
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
	tag: Tag,
	className = "",
	...content: (string | Node)[]
): HTMLElementTagNameMap[Tag] {
	const made = document.createElement(tag);
	if (className !== "") made.className = className;
	made.append(...content);
	return made;
}

/** Shows it if there is something to show. */
export function filled(id: string, text: string | null): void {
	const one = place(id);
	one.hidden = text === null;
	// Unchanged it is not said again by who reads the page aloud.
	if (one.textContent !== (text ?? "")) one.textContent = text ?? "";
}
