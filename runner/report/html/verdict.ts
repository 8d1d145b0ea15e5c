import type { Result } from "../../model/result.ts";
import { type Breach, breachOf } from "../breach.ts";
import { brokenOf, type Outcome } from "../outcomes.ts";
import { sentence } from "../sentence.ts";
import { warningsOf } from "../warnings.ts";
import { explainText, verdictText } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { badge, gatesTable } from "./sections.ts";

/** What was judged and how it came out, what broke by how much, and what to do: the first thing that a reader sees. */
export function verdict(whole: Result, result: Result): Markup {
	const names = result.runs.map((run) => run.system);
	const broken = brokenOf(whole);
	const warnings = warningsOf(result);
	const explain = explainText(result);
	return markup`<section id="verdict" aria-label="Verdict"><div class="box ${result.verdict}"><p class="lead">${sentence(verdictText(whole), names)}</p>
${
	broken.length > 0 &&
	markup`<ul class="broken">${broken.slice(0, MOST).map((outcome) => item(outcome, breachOf(outcome, whole), whole))}</ul>`
}${broken.length > MOST && markup`<p>And ${broken.length - MOST} more: see the table.</p>`}
${
	warnings.length > 0 &&
	markup`<p>With ${warnings.length === 1 ? "a warning" : `${warnings.length} warnings`}:</p><ul class="warnings">${warnings.map((one) => markup`<li><span class="warn">${one.check}</span>${one.runs !== "" && ` (${one.runs})`}: ${one.detail}</li>`)}</ul>`
}${explain !== "" && markup`<p class="soft">What the words mean: ${explain}.</p>`}</div>
${result.gates.length === 0 && whole.searches.length > 0 ? null : gatesTable(result.gates, (system, name) => anchor(result, system, name))}</section>`;
}

// --- internal ---

/** So many are told in sentences; the table has all. */
const MOST = 8;

function item(outcome: Outcome, breach: Breach, result: Result): Markup {
	const names = [outcome.system, outcome.case];
	const said = (text: string) => sentence(text, names);
	const to = anchor(result, outcome.system, outcome.case);
	return markup`<li>${badge(outcome.verdict)} <b>${said(breach.broke)}</b> ${to === null ? breach.where : markup`<a href="${to}">${breach.where}</a>`}.${breach.when !== null && ` ${said(breach.when)}`}<br><span class="soft">What to do:</span> ${said(breach.next)}</li>`;
}

function anchor(result: Result, system: string, name: string): string | null {
	const at = result.runs
		.filter((run) => run.search === null)
		.findIndex((run) => run.system === system && run.case === name);
	if (at >= 0) return `#run-${at + 1}`;
	const search = result.searches.findIndex(
		(s) => s.system === system && s.case === name,
	);
	return search < 0 ? null : `#search-${search + 1}`;
}
