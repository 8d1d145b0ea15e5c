import type { Result, Run } from "../../model/result.ts";
import { type CaseTable, caseTables } from "../matrix.ts";
import { hostText } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { badge } from "./sections.ts";

/** All runs side by side, case by case. Of one run nothing. */
export function matrix(result: Result): Markup | null {
	if (result.runs.length < 2) return null;
	return markup`<section id="cases"><div class="head"><h2>Side by side, case by case</h2></div>${caseTables(result).map((table, i) => caseOf(table, i + 1, result))}</section>`;
}

// --- internal ---

function caseOf(table: CaseTable, number: number, result: Result): Markup {
	const host = hosts(
		table.rows.map(({ run }) => run),
		result,
	);
	return markup`<h3 id="case-${number}">${table.case}: ${table.of}</h3>
<div class="wide"><table>${host !== null && markup`<caption>${host}</caption>`}<thead><tr><th>run</th><th>durability</th><th>verdict</th>${table.head.map((name) => markup`<th class="n">${name}</th>`)}</tr></thead><tbody>
${table.rows.map(
	({ run, name, cells }) =>
		markup`<tr><th scope="row"><a href="#run-${result.runs.indexOf(run) + 1}">${name}</a></th><td>${run.load.durability}</td><td>${badge(run.verdict)}</td>${cells.map((cell) => markup`<td class="n">${cell}</td>`)}</tr>
`,
)}</tbody></table></div>`;
}

/** null when some ran elsewhere, or nobody knows. */
function hosts(runs: readonly Run[], result: Result): string | null {
	const texts = new Set(runs.map((run) => hostText(run, result)));
	return texts.size === 1 ? ([...texts][0] ?? null) : null;
}
