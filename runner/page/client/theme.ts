import type { View } from "../../chart/figure.ts";

const DARK = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

/** What the reader's system prefers; paper is light. */
export function theme(): View["theme"] {
	return DARK.matches && !printing ? "dark" : "light";
}

export function onPaper(): boolean {
	return printing;
}

/** Calls `changed` when colours are others, or paper is below the page or no more. */
export function watchTheme(changed: () => void): void {
	DARK.addEventListener("change", changed);
	for (const name of ["beforeprint", "afterprint"])
		addEventListener(name, () => {
			printing = name === "beforeprint";
			changed();
		});
}
