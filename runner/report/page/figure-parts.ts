import type { Figure } from "../charts/figure.ts";
import { type Markup, markup } from "./markup.ts";
import { tablesOf } from "./table.ts";
import { tableBlock } from "./table-block.ts";

/** What stands in the block of a figure. Made by Node and, where a page has too many, in the browser, then without tables yet. */
export function figureParts(figure: Figure, tables: boolean): Markup {
	return markup`<figcaption><b>${figure.title}</b>${figure.facts !== "" && markup` <small>${figure.facts}</small>`}</figcaption>
<div class="plot ${figure.kind}"></div>
<p class="alt" id="${figure.id}-alt">${figure.description}</p>
<details class="numbers"><summary>As a table<span class="aside">: ${figure.title}</span></summary>${tables && tablesOf(figure).map(tableBlock)}</details>`;
}
