import type { SeriesKey, View } from "../../chart/old-figure.ts";
import { colourOf, dashesOf, markOf } from "../../chart/theme.ts";

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
export function action(text: string, label: string, act: () => void): HTMLButtonElement {
	const button = element("button", "", text);
	button.type = "button";
	button.setAttribute("aria-label", label);
	button.title = label;
	button.addEventListener("click", act);
	return button;
}

/** A button that is on or off. */
export function toggle(text: string, on: boolean, change: () => void): HTMLButtonElement {
	const button = element("button", "switch");
	button.type = "button";
	button.append(text);
	button.setAttribute("aria-pressed", `${on}`);
	button.addEventListener("click", change);
	return button;
}

/** A piece of a line with its mark, as a legend has it. */
export function swatchOf(key: SeriesKey, theme: View["theme"]): SVGElement {
	const svg = document.createElementNS(SVG, "svg");
	svg.setAttribute("viewBox", "0 0 28 10");
	svg.setAttribute("aria-hidden", "true");
	svg.setAttribute("class", "swatch");
	svg.style.color = colourOf(key, theme);
	const part = (name: string, attributes: Record<string, string>) => {
		const made = document.createElementNS(SVG, name);
		for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
		svg.append(made);
	};
	part("path", {
		d: "M1 5H27",
		stroke: "currentColor",
		"stroke-width": "2.5",
		"stroke-dasharray": dashesOf(key).join(),
	});
	const mark = MARKS[markOf(key)];
	if (key.colour >= 0 && mark !== undefined) part("path", { d: mark, fill: "currentColor" });
	return svg;
}

// --- internal ---

const SVG = "http://www.w3.org/2000/svg";

/** ECharts' symbols, in a box of 28 x 10. */
const MARKS: Readonly<Record<string, string>> = {
	circle: "M10 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
	diamond: "M14 0L19 5L14 10L9 5Z",
	rect: "M10 1H18V9H10Z",
	triangle: "M14 0L19 9H9Z",
	pin: "M14 10L10 4a4 4 0 1 1 8 0Z",
	arrow: "M14 0L18 9L14 7L10 9Z",
};
