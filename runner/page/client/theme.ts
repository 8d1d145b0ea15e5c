import type { View } from "../../chart/figure.ts";

export type Theme = View["theme"];

const DARK = matchMedia("(prefers-color-scheme: dark)");
let printing = false;
const PAPER = matchMedia("print");

/** What the reader has chosen, else what the system prefers; paper is light. */
export function theme(): Theme {
	if (onPaper()) return "light";
	const chosen = document.documentElement.dataset.theme;
	if (chosen === "light" || chosen === "dark") return chosen;
	return DARK.matches ? "dark" : "light";
}

export function onPaper(): boolean {
	return printing || PAPER.matches;
}

/** "beforeprint" comes before the page is told that its medium is paper. */
export function setPrinting(now: boolean): void {
	printing = now;
}

/** The switch of the header. `changed` is called when colours are to be drawn anew. */
export function themeSwitch(changed: () => void): void {
	const button = document.querySelector<HTMLButtonElement>("button.theme");
	const show = () => {
		button?.setAttribute("aria-pressed", `${theme() === "dark"}`);
		changed();
	};
	button?.removeAttribute("hidden");
	button?.addEventListener("click", () => {
		document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
		show();
	});
	DARK.addEventListener("change", show);
	PAPER.addEventListener("change", changed);
	show();
}
