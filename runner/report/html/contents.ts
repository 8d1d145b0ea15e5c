import type { Result } from "../../model/result.ts";
import { failoverOfAll } from "../failover-table.ts";
import { caseTables } from "../matrix.ts";
import { runTitle, searchTitle, withoutSearches } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { RUNS_WITH_DETAILS } from "./run-section.ts";

/** Links to the parts of a long page; null: the page is short. Of many runs their cases, whose tables lead to each of them. */
export function contents(whole: Result): Markup | null {
	const result = withoutSearches(whole);
	if (result.runs.length + whole.searches.length <= SHORT) return null;
	const many = result.runs.length > RUNS_WITH_DETAILS;
	const links: [to: string, text: string][] = [
		...(result.runs.length > 1
			? ([
					["overview", "All systems and cases"],
					["cases", "Side by side"],
				] as [string, string][])
			: []),
		...(failoverOfAll(result) === null
			? []
			: ([["failover", "Failover"]] as [string, string][])),
		...(whole.comparisons.length > 0
			? ([["comparison", "Compared with the baseline"]] as [string, string][])
			: []),
		...whole.searches.map((search, i): [string, string] => [
			`search-${i + 1}`,
			`Highest rate: ${searchTitle(search)}`,
		]),
		...(many
			? caseTables(result).map((table, i): [string, string] => [
					`case-${i + 1}`,
					table.case,
				])
			: result.runs.map((run, i): [string, string] => [
					`run-${i + 1}`,
					runTitle(run, result),
				])),
		...(many ? ([["runs", "Each run"]] as [string, string][]) : []),
		["systems", "Settings"],
		["environment", "Environment"],
		["reproduce", "Measure it again"],
		["reading", "How to read this"],
	];
	return markup`<nav class="toc" aria-label="Contents"><details open><summary>Contents</summary><ul>${links.map(([to, text]) => markup`<li><a href="#${to}">${text}</a></li>`)}</ul></details></nav>`;
}

// --- internal ---

/** Up to so many runs the page needs none. */
const SHORT = 3;
