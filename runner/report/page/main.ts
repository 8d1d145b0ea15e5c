import type { Figure } from "../charts/figure.ts";
import type { Chart } from "./client/chart.ts";
import { filterOf } from "./client/filter.ts";
import { watchWide } from "./client/scroll.ts";
import { fill } from "./client/tables.ts";
import { onPaper, setPrinting, themeSwitch } from "./client/theme.ts";
import { liveChart } from "./client/tools.ts";

/** The script of every page: it draws the figures whose data the page holds, each when it is first seen. */

const charts = new Map<HTMLElement, Chart>();
/** Figures of about 8 runs. */
const MOST_AT_ONCE = 40;
/** Charts whose colours are those of before. */
const stale = new Set<HTMLElement>();
const data = new Map(
	[...document.scripts].map((script) => [script.dataset.of, script]),
);
const blocks = [
	...document.querySelectorAll<HTMLElement>("figure[data-figure]"),
].filter((block) => data.has(block.dataset.figure));

document.documentElement.classList.remove("plain");
themeSwitch(drawn);
watchWide(document);
filterOf(document);

const seen = new IntersectionObserver(
	(entries) => {
		for (const { target, isIntersecting } of entries)
			if (isIntersecting) draw(target as HTMLElement);
	},
	{ rootMargin: "400px" },
);
const widths = new ResizeObserver((entries) => {
	for (const { target } of entries) {
		const block = target.closest<HTMLElement>("figure[data-figure]");
		const chart = block && charts.get(block);
		if (chart && target.clientWidth > 0 && !onPaper()) chart.fit();
	}
});
for (const block of blocks) seen.observe(block);
if (blocks.length <= MOST_AT_ONCE) drawRest([...blocks]);

// A page on paper has no reader who could scroll or open anything.
addEventListener("beforeprint", () => {
	setPrinting(true);
	for (const details of closed()) {
		details.open = true;
		details.dataset.printed = "1";
	}
	drawn();
});
addEventListener("afterprint", () => {
	setPrinting(false);
	for (const details of document.querySelectorAll<HTMLDetailsElement>(
		"details[data-printed]",
	)) {
		details.open = false;
		delete details.dataset.printed;
	}
	drawn();
});
openTarget();
addEventListener("hashchange", openTarget);

// --- internal ---

/** Whoever jumps down the page, or takes a picture of all of it, finds charts: one after the other when there is nothing else to do. */
function drawRest([block, ...rest]: HTMLElement[]): void {
	if (block === undefined) return;
	idle(() => {
		// Within what is folded there is no width yet.
		if (!charts.has(block) && block.clientWidth > 0) draw(block);
		drawRest(rest);
	});
}

function idle(act: () => void): void {
	if ("requestIdleCallback" in window) requestIdleCallback(act);
	else setTimeout(act, 50);
}

function draw(block: HTMLElement): void {
	seen.unobserve(block);
	const before = charts.get(block);
	if (before !== undefined) {
		if (stale.delete(block)) before.draw();
		return;
	}
	const figure = figureOf(block);
	fill(block, figure);
	const chart = liveChart(block, figure);
	if (chart === null) return;
	charts.set(block, chart);
	const plot = block.querySelector(".plot");
	if (plot) widths.observe(plot);
}

/** Colours or paper have changed: what is seen is drawn anew, the rest when it is seen. On paper all is. */
function drawn(): void {
	for (const block of charts.keys()) stale.add(block);
	for (const block of blocks)
		if (onPaper()) draw(block);
		else seen.observe(block);
}

/** Tables of charts stay folded on paper: the charts are there. */
function closed(): NodeListOf<HTMLDetailsElement> {
	return document.querySelectorAll("details:not([open]):not(.numbers)");
}

/** A link into what is folded opens it. */
function openTarget(): void {
	if (location.hash.length < 2) return;
	const target = document.getElementById(
		decodeURIComponent(location.hash.slice(1)),
	);
	for (
		let at = target?.closest("details") ?? null;
		at !== null;
		at = at.parentElement?.closest("details") ?? null
	)
		at.open = true;
	target?.scrollIntoView();
}

function figureOf(block: HTMLElement): Figure {
	return JSON.parse(data.get(block.dataset.figure)?.textContent ?? "null");
}
