import type { Figure } from "../chart/figure.ts";
import type { Chart } from "./client/chart.ts";
import { fillBlock } from "./client/figure-block.ts";
import { onPaper, watchTheme } from "./client/theme.ts";

/** The script of every page: draws each figure when it is nearly in view. */
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
/** Tables wider than their place become reachable by keyboard. */
const tables = new ResizeObserver((entries) => {
	for (const { target } of entries)
		if (target.scrollWidth > target.clientWidth + 1) target.setAttribute("tabindex", "0");
		else target.removeAttribute("tabindex");
});

for (const wide of document.querySelectorAll(".wide")) tables.observe(wide);
watchTheme(drawAgain);
drawAgain();
openTarget();
addEventListener("hashchange", openTarget);

// --- internal ---

function draw(block: HTMLElement): void {
	seen.unobserve(block);
	const before = charts.get(block);
	const data = figures.get(block.dataset.figure ?? "");
	if (before !== undefined || data === undefined) return void before?.refresh();
	charts.set(block, fillBlock(block, data));
	widths.observe(block);
}

/** Draws the charts in view now and the rest when they are; on paper everything, because a reader cannot scroll there. */
function drawAgain(): void {
	// Chart tables stay folded, because the charts are printed. Among many runs, those that the reader has opened are printed.
	if (onPaper())
		for (const details of document.querySelectorAll<HTMLDetailsElement>(
			"details:not(.numbers,.run)",
		))
			details.open = true;
	for (const block of blocks)
		if (onPaper() && block.clientWidth > 0) draw(block);
		else seen.observe(block);
}

/** Opens the folded parts around the target of a link. */
function openTarget(): void {
	const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
	for (let at = target?.closest("details"); at; at = at.parentElement?.closest("details"))
		at.open = true;
	target?.scrollIntoView();
}
