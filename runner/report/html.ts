import type { Result } from "../model/result.ts";
import { pageScript } from "./charts/draw.ts";
import { figuresOf, listOf } from "./charts/figures.ts";
import { comparisons } from "./html/comparisons.ts";
import { contents } from "./html/contents.ts";
import { environment } from "./html/facts.ts";
import { failoverSection } from "./html/failover.ts";
import { howToRead } from "./html/how-to-read.ts";
import { type Markup, markup } from "./html/markup.ts";
import { matrix } from "./html/matrix.ts";
import { reproduce } from "./html/reproduce.ts";
import { RUNS_WITH_DETAILS, runSection } from "./html/run-section.ts";
import { searches } from "./html/searches.ts";
import { badge } from "./html/sections.ts";
import { systems } from "./html/systems.ts";
import { verdict } from "./html/verdict.ts";
import { figureBlock, renderPage } from "./page/html-page.ts";
import { sentence } from "./sentence.ts";
import {
	measuredText,
	quickText,
	sameHostText,
	topologiesText,
	verdictWord,
	withoutSearches,
} from "./words.ts";

/** `report.html`: one file that needs no network, below 1.5 MB. `scenario`: the text of scenario.yaml, null: not known. */
export function renderHtml(
	whole: Result,
	scenario: string | null = null,
): string {
	const result = withoutSearches(whole);
	const figures = figuresOf(whole, budgetOf(result));
	const runs = result.runs.map((run, i) =>
		runSection(run, i + 1, result, figures),
	);
	return renderPage({
		title: `${result.scenario}: ${verdictWord(result)} - mqbench`,
		header: head(result),
		main: markup`${verdict(whole, result)}
${contents(whole)}
${
	figures.overview.length > 0 &&
	markup`<section id="overview"><div class="head"><h2>All systems and cases</h2></div>${figures.overview.map((figure) => figureBlock(figure))}</section>`
}
${matrix(result)}
${failoverSection(result)}
${comparisons(whole)}
${searches(whole, figures)}
${
	result.runs.length > RUNS_WITH_DETAILS
		? markup`<section id="runs"><div class="head"><h2>Each of the ${result.runs.length} runs</h2></div>${runs}</section>`
		: runs
}
${systems(whole)}
<section id="environment"><div class="head"><h2>Environment</h2></div>${environment(result)}</section>
${reproduce(whole, scenario)}
${howToRead()}`,
		figures: listOf(figures),
	});
}

// --- internal ---

function head(result: Result): Markup {
	const machine = measuredText(result);
	const quick = quickText(result);
	const host = sameHostText(result);
	const nodes = topologiesText(result);
	const names = result.runs.map((run) => run.system);
	return markup`<div class="head"><h1>${result.scenario}</h1>${badge(result.verdict, verdictWord(result))}</div>
${quick && markup`<p class="warn">${sentence(quick)}</p>`}
${machine !== null && markup`<p class="soft">${machine}, ${startedAt(result)}.</p>`}
${host !== null && markup`<p class="soft">${sentence(host)}</p>`}
${nodes !== null && markup`<p class="soft">${sentence(nodes, names)}</p>`}`;
}

/**
 * What the pictures' data may take, in characters: what script, style and words leave of 1.5 MB, where a run has about 45 kB
 * of words, and among many 7 kB. Of more runs the page packs them: to about a quarter.
 */
function budgetOf({ runs }: Result): number {
	const many = runs.length > RUNS_WITH_DETAILS;
	const words = runs.length * (many ? 7000 : 45_000);
	const left = 1_300_000 - pageScript().length - words;
	return left > 300_000 ? Math.min(600_000, left) : 1_300_000;
}

/** "2026-01-01 00:00 UTC" */
function startedAt({ environment: e }: Result): string {
	return e === null ? "" : `${e.startedAt.slice(0, 16).replace("T", " ")} UTC`;
}
