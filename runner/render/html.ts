import { at, type Document, sentence } from "../document/blocks.ts";
import { type LivePart, renderPage } from "../page/html-page.ts";
import { type Markup, markup } from "../page/markup.ts";
import { badgeMarkup, blocksMarkup, type Writing } from "./html/blocks.ts";

/** One file that needs no network. `live` is added to the page while its command goes on. */
export function renderHtml(document: Document, live?: LivePart): string {
	const { title, word, names } = document;
	const figures = document.figures();
	const writing: Writing = { names, figures };
	return renderPage({
		title: `${title}${word === "" ? "" : `: ${word}`} - mqbench`,
		header: head(document, writing),
		main: markup`${verdict(document, writing)}
${contents(document)}
${blocksMarkup(at(document.sections, 3), writing, 2)}
${blocksMarkup(at(document.foot, 3), writing)}`,
		figures,
		live,
	});
}

// --- internal ---

/** If there are more, they are folded: contents stay at the top of the window. */
const MOST_LINKS_OPEN = 8;

function head({ title, look, word, head }: Document, writing: Writing): Markup {
	return markup`<div class="head"><h1>${title}</h1>${word !== "" && badgeMarkup(look, word)}</div>
${blocksMarkup(at(head, 3), writing)}`;
}

function verdict({ look, lead, names, answer }: Document, writing: Writing): Markup {
	return markup`<section id="verdict" aria-label="Verdict"><div class="box ${look}"><p class="lead">${sentence(lead, names)}</p></div>
${blocksMarkup(at(answer, 3), writing)}</section>`;
}

function contents({ contents: links }: Document): Markup | null {
	return links.length === 0
		? null
		: markup`<nav class="toc" aria-label="Contents"><details${links.length <= MOST_LINKS_OPEN && markup` open`}><summary>Contents</summary><ul>${links.map(({ to, text }) => markup`<li><a href="#${to}">${text}</a></li>`)}</ul></details></nav>`;
}
