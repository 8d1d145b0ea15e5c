import { altOf } from "../chart/alt.ts";
import type { Figure } from "../chart/figure.ts";
import { heightOf } from "../chart/option.ts";
import { type FigureTable, tablesOf } from "../chart/read.ts";
import { type Markup, markup } from "./markup.ts";

/** What stands in the block of a figure. Made by Node and, where a page has too many, in the browser, then without tables yet. */
export function figureParts(figure: Figure, tables: boolean): Markup {
	return markup`<figcaption><b>${figure.title}</b><a class="anchor" href="#figure-${figure.id}" aria-label="Link to: ${figure.title}">#</a>${figure.facts !== "" && markup` <small>${figure.facts}</small>`}</figcaption>
<div class="plot" style="min-height:${heightOf(figure, USUAL)}px"></div>
<p class="alt" id="${figure.id}-alt">${altOf(figure)}</p>
<details class="numbers"><summary>As a table<span class="aside">: ${figure.title}</span></summary>${tables && tablesOf(figure).map(tableBlock)}</details>`;
}

/** A table of words: the first column names its row. Made by Node and, where a page has too many, in the browser. */
export function tableBlock({ head, rows }: FigureTable): Markup {
	return markup`<div class="wide"><table><thead><tr>${head.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead><tbody>
${rows.map(
	([name, ...cells]) =>
		markup`<tr><th scope="row">${name ?? ""}</th>${cells.map((cell) => (cell.length > LONG ? markup`<td class="long">${cell}</td>` : markup`<td>${cell}</td>`))}</tr>
`,
)}</tbody></table></div>`;
}

// --- internal ---

/** How high a plot becomes in a page on a screen, so that little moves when it is drawn. */
const USUAL = { theme: "light", width: 1100, off: new Set<string>(), logarithmic: null } as const;

/** Longer cells are broken into lines. */
const LONG = 60;
