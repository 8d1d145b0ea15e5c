import type { View } from "../../chart/figure.ts";

const DARK = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

/** The system's preference; paper is light. */
export function theme(): View["theme"] {
	return DARK.matches && !printing ? "dark" : "light";
}

export function onPaper(): boolean {
	return printing;
}

/** Calls `changed` when the colours change, or paper begins or ends. */
export function watchTheme(changed: () => void): void {
	DARK.addEventListener("change", changed);
	for (const name of ["beforeprint", "afterprint"])
		addEventListener(name, () => {
			printing = name === "beforeprint";
			changed();
		});
}
