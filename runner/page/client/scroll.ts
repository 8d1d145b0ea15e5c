/** Tables that are wider than the page: they can be reached by key, and say that there is more. */
export function watchWide(root: ParentNode): void {
	for (const wide of root.querySelectorAll<HTMLElement>(".wide")) {
		sizes.observe(wide);
		const table = wide.firstElementChild;
		if (table) sizes.observe(table);
	}
}

// --- internal ---

const sizes = new ResizeObserver((entries) => {
	for (const { target } of entries) {
		const wide = target.closest<HTMLElement>(".wide");
		if (wide) mark(wide);
	}
});

function mark(wide: HTMLElement): void {
	const sideways = wide.scrollWidth > wide.clientWidth + 1;
	const scrolls = sideways || wide.scrollHeight > wide.clientHeight + 1;
	if (scrolls) {
		wide.tabIndex = 0;
		wide.setAttribute("role", "region");
		wide.setAttribute("aria-label", `Table, scrolls: ${nameOf(wide)}`);
	} else {
		wide.removeAttribute("tabindex");
		wide.removeAttribute("role");
		wide.removeAttribute("aria-label");
	}
	const before = wide.previousElementSibling;
	const hint = before?.classList.contains("hint") ? before : null;
	if (!sideways) hint?.remove();
	else if (hint === null) {
		const text = document.createElement("p");
		text.className = "hint";
		text.setAttribute("aria-hidden", "true");
		text.textContent = "more to the right \u2192";
		wide.before(text);
	}
}

/** Landmarks need names of their own. */
function nameOf(wide: HTMLElement): string {
	const all = [...document.querySelectorAll(".wide")];
	const figure = wide.closest("figure")?.querySelector("figcaption b");
	const heading = wide.closest("section")?.querySelector("h2");
	const name = figure?.textContent ?? heading?.textContent ?? "";
	return `${name} (${all.indexOf(wide) + 1})`;
}
