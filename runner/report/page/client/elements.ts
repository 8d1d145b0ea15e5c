import type { SeriesKey, View } from "../../charts/figure.ts";
import { colourOf, dashesOf } from "../../charts/theme.ts";

/** Elements of a chart's tools. */

export function element<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	className: string,
	text = "",
): HTMLElementTagNameMap[K] {
	const made = document.createElement(tag);
	if (className) made.className = className;
	if (text) made.textContent = text;
	return made;
}

/** A button that does something. */
export function action(
	text: string,
	label: string,
	act: () => void,
): HTMLButtonElement {
	const button = element("button", "", text);
	button.type = "button";
	button.setAttribute("aria-label", label);
	button.title = label;
	button.addEventListener("click", act);
	return button;
}

/** A button that is on or off. */
export function toggle(
	text: string,
	on: boolean,
	change: () => void,
): HTMLButtonElement {
	const button = element("button", "switch");
	button.type = "button";
	button.append(text);
	button.setAttribute("aria-pressed", `${on}`);
	button.addEventListener("click", change);
	return button;
}

/** A piece of the curve, as a legend has it; null colour: that of the text. */
export function swatch(
	key: { readonly colour: number | null; readonly dash: number | null },
	theme: View["theme"],
): SVGElement {
	const svg = document.createElementNS(SVG, "svg");
	svg.setAttribute("viewBox", "0 0 28 10");
	svg.setAttribute("aria-hidden", "true");
	const line = document.createElementNS(SVG, "path");
	line.setAttribute("d", "M1 5H27");
	line.setAttribute("stroke-width", "3");
	line.setAttribute(
		"stroke",
		key.colour === null
			? "currentColor"
			: colourOf({ colour: key.colour }, theme),
	);
	const dashes = dashesOf({ dash: key.dash ?? 0 });
	if (dashes.length > 0) line.setAttribute("stroke-dasharray", dashes.join());
	svg.append(line);
	return svg;
}

export function swatchOf(key: SeriesKey, theme: View["theme"]): SVGElement {
	return swatch(key, theme);
}

// --- internal ---

const SVG = "http://www.w3.org/2000/svg";
