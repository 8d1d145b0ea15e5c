import type { Figure } from "../../chart/figure.ts";
import { groupsOf } from "../../chart/option.ts";
import { csvOf } from "../../chart/read.ts";
import { markup } from "../markup.ts";
import { Chart } from "./chart.ts";
import { swatchOf } from "./tip.ts";

/** Draws a figure into its block, with its legend and its tools above it. */
export function liveChart(block: HTMLElement, figure: Figure): Chart | null {
	const plot = block.querySelector<HTMLElement>(".plot");
	if (plot === null) return null;
	const tools = document.createElement("div");
	tools.className = "tools";
	plot.before(tools);
	const chart = new Chart(plot, figure);
	// Switches that are the legend as well: a piece of each line, and its name. One line needs none.
	const groups = groupsOf(figure);
	const actions = ACTIONS.filter(({ has }) => has?.(chart) ?? true);
	tools.innerHTML = markup`${
		groups.length > 1 &&
		markup`<fieldset class="legend"><legend class="unseen">Lines</legend>${groups.map((key, i) => markup`<button type="button" class="switch" value="${i}" aria-pressed="true">${swatchOf(key)}${key.group}</button>`)}</fieldset>`
	}<div class="actions">${actions.map(({ name, label, pressed }) => markup`<button type="button"${pressed !== undefined && markup` class="switch" aria-pressed="${String(pressed(chart))}"`}${label !== undefined && markup` aria-label="${label(figure)}" title="${label(figure)}"`}>${name}</button>`)}</div>`.text;
	tools.addEventListener("click", ({ target }) => {
		const button = (target as Element).closest("button");
		if (button === null) return;
		const group = groups[Number(button.value || "-1")]?.group;
		const action = actions.find(({ name }) => name === button.textContent);
		const on = group === undefined ? action?.act(chart) : chart.toggle(group);
		if (typeof on === "boolean") button.setAttribute("aria-pressed", `${on}`);
	});
	return chart;
}

// --- internal ---

interface Action {
	readonly name: string;
	readonly label?: (figure: Figure) => string;
	/** Left out: for every figure. */
	readonly has?: (chart: Chart) => boolean;
	/** Of a switch. */
	readonly pressed?: (chart: Chart) => boolean;
	/** A switch returns whether it is on. */
	readonly act: (chart: Chart) => unknown;
}

const ACTIONS: readonly Action[] = [
	{
		name: "Reset zoom",
		label: () => "Reset zoom: show all of the axis",
		has: (chart) => chart.zooms,
		act: (chart) => chart.showAll(),
	},
	{
		name: "Logarithmic",
		// Areas have a scale of their own.
		has: ({ figure }) => !figure.panels[0]?.series.some(({ draw }) => draw === "cells"),
		pressed: (chart) => chart.isLogarithmic,
		act: (chart) => chart.toggleScale(),
	},
	{
		name: "Copy CSV",
		label: () => "Copy CSV: the numbers of this chart",
		act: ({ figure }) => copy(csvOf(figure)),
	},
	{
		name: "Copy SVG",
		label: ({ id }) => `Copy SVG: as mqbench report --svg --only ${id} writes it`,
		act: (chart) => copy(chart.svg()),
	},
	{
		name: "PNG",
		label: () => "Download this chart as PNG",
		act: (chart) => download(chart.figure, "png", chart.png()),
	},
	{
		name: "SVG",
		label: () => "Download this chart as SVG",
		act: (chart) =>
			download(
				chart.figure,
				"svg",
				`data:image/svg+xml;charset=utf-8,${encodeURIComponent(chart.svg())}`,
			),
	},
];

async function copy(text: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		// A file: page may have no clipboard; an area that is selected always has one.
		const area = document.createElement("textarea");
		area.className = "unseen";
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
}

/** A data: link, as a page that may load nothing has no other way to hand over a file everywhere. */
function download({ id }: Figure, ending: string, href: string): void {
	// "quickstart-percentiles": of which scenario a file is that has left its page.
	const scenario = (document.querySelector("h1")?.textContent ?? "")
		.replaceAll(/[^A-Za-z0-9]+/g, "-")
		.slice(0, 60)
		.replaceAll(/^-+|-+$/g, "");
	const link = document.createElement("a");
	link.download = `${[scenario, id].filter((part) => part !== "").join("-")}.${ending}`;
	link.href = href;
	link.click();
}
