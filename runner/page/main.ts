import type { Figure } from "../chart/figure.ts";
import type { Chart } from "./client/chart.ts";
import { fillBlock } from "./client/figure-block.ts";
import { sortTables } from "./client/sort.ts";
import { onPaper, watchTheme } from "./client/theme.ts";

/** The script of every page: it draws the figures whose data the page holds, each when it is nearly seen, and makes tables sort. */

const figures = new Map(
	(
		JSON.parse(document.querySelector("[data-packed=figures]")?.textContent ?? "[]") as Figure[]
	).map((figure) => [figure.id, figure]),
);
const blocks = [...document.querySelectorAll<HTMLElement>("figure[data-figure]")];
const charts = new Map<HTMLElement, Chart>();

const seen = new IntersectionObserver(
	(entries) => {
		for (const { target, isIntersecting } of entries)
			if (isIntersecting) draw(target as HTMLElement);
	},
	{ rootMargin: "1500px" },
);
const widths = new ResizeObserver((entries) => {
	for (const { target } of entries)
		if (target.clientWidth > 0 && !onPaper()) charts.get(target as HTMLElement)?.refresh();
});
/** Tables that are wider than their place can be reached by key. */
const tables = new ResizeObserver((entries) => {
	for (const { target } of entries)
		if (target.scrollWidth > target.clientWidth + 1) target.setAttribute("tabindex", "0");
		else target.removeAttribute("tabindex");
});

sortTables();
for (const wide of document.querySelectorAll(".wide")) tables.observe(wide);
watchTheme(drawAgain);
drawAgain();
openTarget();
addEventListener("hashchange", openTarget);

// --- internal ---

/** Draws it if it is not drawn yet, or not as the page is now. */
function draw(block: HTMLElement): void {
	seen.unobserve(block);
	const before = charts.get(block);
	const data = figures.get(block.dataset.figure ?? "");
	if (before !== undefined || data === undefined) return void before?.refresh();
	charts.set(block, fillBlock(block, data));
	widths.observe(block);
}

/** What is seen is drawn as the page is now, the rest when it is seen. Paper has no reader who could scroll or open anything. */
function drawAgain(): void {
	// Tables of charts stay folded: the charts are there. Of many runs those are printed that the reader has opened.
	if (onPaper())
		for (const details of document.querySelectorAll<HTMLDetailsElement>(
			"details:not(.numbers,.run)",
		))
			details.open = true;
	for (const block of blocks)
		if (onPaper() && block.clientWidth > 0) draw(block);
		else seen.observe(block);
}

/** A link into what is folded opens it. */
function openTarget(): void {
	const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
	for (let at = target?.closest("details"); at; at = at.parentElement?.closest("details"))
		at.open = true;
	target?.scrollIntoView();
}
