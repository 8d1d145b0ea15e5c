import type { Result, Run, Search } from "../summary.ts";
import { factsText, searchTable, searchTitle } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { latencyByRate } from "./rate-chart.ts";
import { badge } from "./sections.ts";

/** Each search: its answer, latency over offered rate, and its runs. */
export function searches(result: Result): Markup[] {
	return result.searches.map((search, i) => section(search, i + 1, result));
}

// --- internal ---

function section(search: Search, number: number, result: Result): Markup {
	const { head, rows } = searchTable(search);
	const title = `Highest rate of ${searchTitle(search)}`;
	const run = runOf(search, result);
	const facts = run === undefined ? "" : factsText(run, result);
	// Probes are short and may be the ones that failed by accident: the curve is of the runs below the answer.
	const chosen = search.runs.filter(
		({ role }) => search.lo === null || role !== "probe",
	);
	return markup`<section id="search-${number}"><div class="head"><h2>${title}</h2>${badge(search.verdict)}</div>
<p>${search.answer}.</p>
${latencyByRate(
	`q${number}`,
	{
		metric: run?.main ?? "response",
		title: `Latency against rate: ${searchTitle(search)}`,
		facts,
	},
	chosen,
)}
<div class="wide"><table><caption>${facts}</caption><thead><tr>${head.map((name) => markup`<th>${name}</th>`)}</tr></thead><tbody>
${rows.map(
	(row) => markup`<tr>${row.map((cell) => markup`<td>${cell}</td>`)}</tr>
`,
)}</tbody></table></div></section>`;
}

function runOf({ runs }: Search, result: Result): Run | undefined {
	return result.runs.find((run) => run.index === runs[0]?.index);
}
