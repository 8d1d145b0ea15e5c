import type { Result, Run } from "../../model/result.ts";
import type { Figure } from "../charts/figure.ts";
import { figureBlock } from "../page/html-page.ts";
import { phaseTable } from "../phase-table.ts";
import { factsText } from "../words.ts";
import { type Markup, markup } from "./markup.ts";

/** The parts of the window: a table, and of steps latency against rate. null: the window is one. */
export function phases(
	run: Run,
	chart: Figure | null,
	result: Result,
): Markup | null {
	const table = phaseTable(run);
	if (table === null) return null;
	return markup`<h3>${title(table.title)}</h3>${chart && figureBlock(chart)}
<div class="wide"><table><caption>${factsText(run, result)}</caption><thead><tr>${table.head.map((name, i) => (i === 0 ? markup`<th>${name}</th>` : markup`<th class="n">${name}</th>`))}</tr></thead><tbody>
${table.rows.map(
	(row) =>
		markup`<tr>${row.map((cell, i) => (i === 0 ? markup`<th scope="row">${cell}</th>` : markup`<td class="n">${cell}</td>`))}</tr>
`,
)}</tbody></table></div>`;
}

// --- internal ---

function title(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
