import type { Figure } from "../chart/figure.ts";
import { type Packed, unpacked } from "../chart/packed.ts";
import { tablesOf } from "../chart/read.ts";
import type { Chart } from "./client/chart.ts";
import { filterOf } from "./client/filter.ts";
import { watchWide } from "./client/scroll.ts";
import { sortable } from "./client/sort.ts";
import { onPaper, setPrinting, themeSwitch } from "./client/theme.ts";
import { liveChart } from "./client/tools.ts";
import { figureParts, tableBlock } from "./figure-parts.ts";
import { markup } from "./markup.ts";

/** The script of every page: it draws the figures whose data the page holds, each when it is first seen. */

/** Figures of about 8 runs. */
const MOST_AT_ONCE = 40;
const figures = new Map(allFigures().map((figure) => [figure.id, figure]));
const charts = new Map<HTMLElement, Chart>();
const blocks: HTMLElement[] = [];
let later: Readonly<Record<string, string>> | null = null;

const seen = new IntersectionObserver(
	(entries) => {
		for (const { target, isIntersecting } of entries)
			if (isIntersecting) draw(target as HTMLElement);
	},
	{ rootMargin: "400px" },
);
const widths = new ResizeObserver((entries) => {
	for (const { target } of entries)
		if (target.clientWidth > 0 && !onPaper()) charts.get(target as HTMLElement)?.refresh();
});

themeSwitch(drawn);
adopt(document);
filterOf(document);
for (const folded of document.querySelectorAll<HTMLDetailsElement>("details[data-later]"))
	folded.addEventListener("toggle", () => fillIn(folded));
// Whoever jumps down the page, or takes a picture of all of it, finds charts. Within what is folded there is no width yet.
if (blocks.length <= MOST_AT_ONCE)
	for (const block of blocks)
		idle(() => {
			if (block.clientWidth > 0) draw(block);
		});

// A page on paper has no reader who could scroll or open anything.
addEventListener("beforeprint", () => {
	setPrinting(true);
	// Tables of charts stay folded: the charts are there. Of many runs those are printed that the reader has opened.
	for (const details of document.querySelectorAll<HTMLDetailsElement>(
		"details:not([open], .numbers, .run)",
	)) {
		details.open = true;
		details.dataset.printed = "1";
	}
	drawn();
});
addEventListener("afterprint", () => {
	setPrinting(false);
	for (const details of document.querySelectorAll<HTMLDetailsElement>("details[data-printed]")) {
		details.open = false;
		delete details.dataset.printed;
	}
	drawn();
});
openTarget();
addEventListener("hashchange", openTarget);

// --- internal ---

/** What is below `root` works: tables, and figures when they are seen. */
function adopt(root: ParentNode): void {
	watchWide(root);
	sortable(root);
	for (const block of root.querySelectorAll<HTMLElement>("figure[data-figure]"))
		if (figures.has(block.dataset.figure ?? "")) {
			blocks.push(block);
			seen.observe(block);
		}
}

/** Puts in what a large page holds packed: it was escaped when the page was made. */
function fillIn(folded: HTMLElement): void {
	const { later: id } = folded.dataset;
	if (id === undefined) return;
	delete folded.dataset.later;
	folded.insertAdjacentHTML("beforeend", laterParts()[id] ?? "");
	adopt(folded);
}

function laterParts(): Readonly<Record<string, string>> {
	later ??= JSON.parse(textOf("[data-packed=later]") ?? "{}") as Record<string, string>;
	return later;
}

function idle(act: () => void): void {
	if ("requestIdleCallback" in window) requestIdleCallback(act);
	else setTimeout(act, 50);
}

/** Draws it if it is not drawn yet, or not as the page is now. */
function draw(block: HTMLElement): void {
	seen.unobserve(block);
	const before = charts.get(block);
	const data = figures.get(block.dataset.figure ?? "");
	if (before !== undefined || data === undefined) return void before?.refresh();
	const figure = unpacked(data);
	if (block.firstElementChild === null) fill(block, figure);
	const chart = liveChart(block, figure);
	if (chart === null) return;
	charts.set(block, chart);
	widths.observe(block);
}

/** Fills a block that the page has left empty for want of room; its tables are made when they are opened. All of it is escaped. */
function fill(block: HTMLElement, figure: Figure): void {
	block.innerHTML = figureParts(figure, false).text;
	const details = block.querySelector("details");
	const tables = () => {
		details?.insertAdjacentHTML("beforeend", markup`${tablesOf(figure).map(tableBlock)}`.text);
		watchWide(block);
	};
	details?.addEventListener("toggle", tables, { once: true });
}

/** Colours or paper have changed: what is seen is drawn anew, the rest when it is seen. On paper all is. */
function drawn(): void {
	for (const block of blocks)
		if (onPaper() && block.clientWidth > 0) draw(block);
		else seen.observe(block);
}

/** A link into what is folded opens it; what is packed is filled in before. */
function openTarget(): void {
	const id = decodeURIComponent(location.hash.slice(1));
	if (id === "") return;
	if (document.getElementById(id) === null) {
		const parts = Object.entries(laterParts());
		const place = parts.find(([, html]) => html.includes(` id="${id}"`))?.[0];
		const folded = place === undefined ? null : document.getElementById(place);
		if (folded !== null) fillIn(folded);
	}
	const target = document.getElementById(id);
	for (
		let at = target?.closest("details") ?? null;
		at !== null;
		at = at.parentElement?.closest("details") ?? null
	)
		at.open = true;
	if (target?.dataset.later !== undefined) fillIn(target);
	target?.scrollIntoView();
}

/** The data of a page: of a large one in one list, which has been unpacked. */
function allFigures(): Packed[] {
	const list = textOf("[data-packed=figures]");
	if (list !== null) return JSON.parse(list);
	const each = document.querySelectorAll("script[data-of]");
	return [...each].map(({ textContent }) => JSON.parse(textContent ?? ""));
}

function textOf(place: string): string | null {
	return document.querySelector(place)?.textContent ?? null;
}
