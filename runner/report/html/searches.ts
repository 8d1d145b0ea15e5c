import type { Result, Run, Search } from "../../model/result.ts";
import type { ReportFigures } from "../charts/figures.ts";
import { figureBlock } from "../page/html-page.ts";
import { sentence } from "../sentence.ts";
import { factsText, searchTable, searchTitle } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { badge } from "./sections.ts";

/** Each search: its answer, latency over offered rate, and its runs. */
export function searches(result: Result, figures: ReportFigures): Markup[] {
	return result.searches.map((search, i) =>
		section(search, i + 1, result, figures),
	);
}

// --- internal ---

function section(
	search: Search,
	number: number,
	result: Result,
	figures: ReportFigures,
): Markup {
	const { head, rows } = searchTable(search);
	const run = runOf(search, result);
	const facts = run === undefined ? "" : factsText(run, result);
	const chart = figures.searches.find((f) => f.id === `search-${number}`);
	return markup`<section id="search-${number}"><div class="head"><h2>Highest rate of ${searchTitle(search)}</h2>${badge(search.verdict)}</div>
<p class="lead">${sentence(search.answer, [search.system])}</p>
${chart !== undefined && figureBlock(chart)}
<div class="wide"><table><caption>${facts}</caption><thead><tr>${head.map((name) => markup`<th>${name}</th>`)}</tr></thead><tbody>
${rows.map(
	([first, ...cells]) =>
		markup`<tr><th scope="row">${first ?? ""}</th>${cells.map((cell, i) => markup`<td>${head[i + 1] === "verdict" ? badge(cell) : cell}</td>`)}</tr>
`,
)}</tbody></table></div></section>`;
}

function runOf({ runs }: Search, result: Result): Run | undefined {
	return result.runs.find((run) => run.index === runs[0]?.index);
}
