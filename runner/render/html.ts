import { pageScript } from "../chart/draw.ts";
import type { Figure } from "../chart/old-figure.ts";
import { type Chart, shownIn } from "../document/blocks.ts";
import { contentsOf, type Document, documentOf } from "../document/document.ts";
import { RUNS_WITH_DETAILS } from "../document/run.ts";
import { sentence } from "../document/sentence.ts";
import { figuresOf, listOf, type ReportFigures } from "../figures/figures.ts";
import type { Result } from "../model/result.ts";
import { type LivePart, renderPage } from "../page/html-page.ts";
import { type Markup, markup } from "../page/markup.ts";
import { formatUtc } from "../units.ts";
import { badgeMarkup } from "./html/badge.ts";
import { blockMarkup, sectionMarkup, type Writing } from "./html/blocks.ts";

/**
 * `report.html`: one file that needs no network, below 1.5 MB. `scenario`: the text of scenario.yaml, null: not known. `live`: what the page has
 * besides while its command goes on.
 */
export function renderHtml(
	result: Result,
	scenario: string | null = null,
	live?: LivePart,
): string {
	const document = documentOf(result, scenario);
	const sections = shownIn(document.sections, "page");
	const runs = sections.filter(({ run }) => run !== undefined);
	const at = runs[0] === undefined ? sections.length : sections.indexOf(runs[0]);
	const figures = figuresOf(result, budgetOf(runs.length));
	const later = new Map<string, string>();
	const writing: Writing = {
		names: document.names,
		figures: (chart) => chartsIn(figures, chart),
		...(runs.length > RUNS_IN_FULL ? { later } : {}),
	};
	const all = (some: typeof sections) => some.map((section) => sectionMarkup(section, writing));
	return renderPage({
		title: `${document.title}: ${document.word} - mqbench`,
		header: head(document, result),
		main: markup`${verdict(document, writing)}
${contents(document, result)}
${all(sections.slice(0, at))}
${
	runs.length > RUNS_WITH_DETAILS
		? markup`<section id="runs"><div class="head"><h2>Each of the ${runs.length} runs</h2></div>${all(runs)}</section>`
		: all(runs)
}
${all(sections.slice(at + runs.length))}`,
		figures: listOf(figures),
		later,
		live,
	});
}

// --- internal ---

/** The contents stay at the top of the window: many are folded there. */
const MOST_LINKS_OPEN = 8;

/** Of more, what is folded is packed: without JavaScript it cannot be read then. */
const RUNS_IN_FULL = 60;

function head(
	{ title, verdict: look, word, quick, where, names }: Document,
	{ environment: e }: Result,
): Markup {
	const [first, ...others] = where;
	const started = e === null ? "" : `, ${formatUtc(e.startedAt)} UTC`;
	return markup`<div class="head"><h1>${title}</h1>${badgeMarkup(look, word)}</div>
${quick !== null && markup`<p class="warn">${sentence(quick)}</p>`}
${first !== undefined && markup`<p class="soft">${sentence(`${first}${started}`, names)}</p>`}
${others.map((text) => markup`<p class="soft">${sentence(text, names)}</p>`)}`;
}

/** What was judged and how it came out, what broke by how much, and what to do: the first thing that a reader sees. */
function verdict(document: Document, writing: Writing): Markup {
	const { verdict: look, lead, names, explain } = document;
	const said = [...document.broken, ...document.warnings];
	return markup`<section id="verdict" aria-label="Verdict"><div class="box ${look}"><p class="lead">${sentence(lead, names)}</p>${blockMarkup(document.judged, writing)}</div>
${blockMarkup(document.answer, writing)}
${said.length > 0 && markup`<div class="box ${look === "pass" ? "warn" : look}">${blockMarkup(said, writing)}${explain !== "" && markup`<p class="soft">What the words mean: ${explain}.</p>`}</div>`}
${blockMarkup(document.gates, writing)}</section>`;
}

function contents(document: Document, result: Result): Markup | null {
	const links = contentsOf(document, result);
	return links.length === 0
		? null
		: markup`<nav class="toc" aria-label="Contents"><details${links.length <= MOST_LINKS_OPEN && markup` open`}><summary>Contents</summary><ul>${links.map(({ to, text }) => markup`<li><a href="#${to}">${text}</a></li>`)}</ul></details></nav>`;
}

function chartsIn(figures: ReportFigures, chart: Chart): readonly Figure[] {
	switch (chart.of) {
		case "overview":
			return figures.overview;
		case "search":
			return figures.searches.filter(({ id }) => id === `search-${chart.number}`);
		case "comparison":
			return [];
		default: {
			const figure = figures.runs.get(chart.run)?.[chart.of] ?? null;
			return figure === null ? [] : [figure];
		}
	}
}

/**
 * What the pictures' data may take, in characters: what script, style and words leave of 1.5 MB, where a run has about 45 kB
 * of words, and among many 7 kB. Of more runs the page packs them: to about a quarter.
 */
function budgetOf(runs: number): number {
	if (runs > RUNS_IN_FULL) return 500_000;
	const words = runs * (runs > RUNS_WITH_DETAILS ? 7000 : 45_000);
	const left = 1_300_000 - pageScript().length - words;
	return left > 300_000 ? Math.min(600_000, left) : 1_300_000;
}
