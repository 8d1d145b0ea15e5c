import type { Series } from "../../chart/figure.ts";
import type { Reading } from "../../chart/read.ts";
import { dashesOf, markOf, SERIES } from "../../chart/theme.ts";
import { type Markup, markup } from "../markup.ts";

export function tipOf({ title, rows }: Reading): Markup {
	return markup`<b>${title}</b><table>${rows
		.slice(0, MOST)
		.map(
			({ key, name, text, href }) =>
				markup`<tr><th>${key !== null && swatchOf(key)}${name}</th><td>${href === undefined ? text : markup`<a href="${href}">${text}</a>`}</td></tr>`,
		)}</table>${rows.length > MOST && markup`<small>and ${rows.length - MOST} more</small>`}`;
}

/** A piece of a line with its mark, as in a legend; the page sets its colour. */
export function swatchOf({ color, dash }: Series): Markup {
	const own = color >= 0;
	const name = own ? `s${color % SERIES.light.length}` : "grey";
	return markup`<svg class="swatch" viewBox="0 0 28 10" aria-hidden="true" style="color:var(--${name})"><path d="M1 5H27" stroke="currentColor" stroke-width="2.5" stroke-dasharray="${dashesOf(dash).join()}"/>${own && markup`<path d="${MARKS[markOf(color)] ?? ""}" fill="currentColor"/>`}</svg>`;
}

// --- internal ---

const MOST = 12;

/** ECharts' symbols, in a box of 28 x 10. */
const MARKS: Readonly<Record<string, string>> = {
	circle: "M10 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
	diamond: "M14 0L19 5L14 10L9 5Z",
	rect: "M10 1H18V9H10Z",
	triangle: "M14 0L19 9H9Z",
	pin: "M14 10L10 4a4 4 0 1 1 8 0Z",
	arrow: "M14 0L18 9L14 7L10 9Z",
};
