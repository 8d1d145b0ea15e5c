import type { Figure } from "../../chart/figure.ts";
import { groupsOf } from "../../chart/option.ts";
import { altOf, csvOf, type FigureTable, tableOf } from "../../chart/read.ts";
import { type Markup, markup } from "../markup.ts";
import { Chart } from "./chart.ts";
import { swatchOf } from "./tip.ts";

/** Fills a figure's block: title, legend, tools, chart, its description and its numbers. Everything is escaped. */
export function fillBlock(block: HTMLElement, figure: Figure): Chart {
	const { id, title, facts } = figure;
	block.innerHTML =
		markup`<figcaption><b>${title}</b><a class="anchor" href="#figure-${id}" aria-label="Link to: ${title}">#</a>${facts !== "" && markup` <small>${facts}</small>`}</figcaption>
<div class="tools"></div><div class="plot"></div><p class="unseen" id="${id}-alt">${altOf(figure)}</p>
<details class="numbers"><summary>As a table<span class="unseen">: ${title}</span></summary></details>`.text;
	block.style.minHeight = "";
	const [tools, plot, details] = [".tools", ".plot", "details"].map((what) =>
		block.querySelector<HTMLElement>(what),
	) as [HTMLElement, HTMLElement, HTMLElement];
	const chart = new Chart(plot, figure);
	fillTools(tools, chart);
	const table = () => details.insertAdjacentHTML("beforeend", tableBlock(tableOf(figure)).text);
	details.addEventListener("toggle", table, { once: true });
	return chart;
}

// --- internal ---

const FILES: Readonly<Record<string, (chart: Chart) => string>> = {
	csv: ({ figure }) => `data:text/csv;charset=utf-8,${encodeURIComponent(csvOf(figure))}`,
	png: (chart) => chart.png(),
	svg: (chart) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(chart.svg())}`,
};

const LONG = 60;

/** The switches are the legend as well: a piece of each line and its name. A single line needs none. */
function fillTools(tools: HTMLElement, chart: Chart): void {
	const { figure } = chart;
	const groups = groupsOf(figure);
	const hasCells = figure.panels[0]?.series.some(({ draw }) => draw === "cells");
	const button = (value: string, name: string | Markup, pressed?: boolean) =>
		markup`<button type="button" value="${value}"${pressed !== undefined && markup` class="switch" aria-pressed="${String(pressed)}"`}>${name}</button>`;
	tools.innerHTML = markup`${
		groups.length > 1 &&
		markup`<fieldset class="legend"><legend class="unseen">Lines</legend>${groups.map((key, i) => button(`${i}`, markup`${swatchOf(key)}${key.group}`, true))}</fieldset>`
	}<div class="actions">${chart.zooms && button("zoom", "Reset zoom")}${!hasCells && button("scale", "Logarithmic", chart.isLogarithmic)}${Object.keys(FILES).map((ending) => button(ending, markup`<span class="unseen">Download this chart as </span>${ending.toUpperCase()}`))}</div>`.text;
	tools.addEventListener("click", ({ target }) => {
		const pressed = (target as Element).closest("button");
		if (pressed === null) return;
		const { value } = pressed;
		const file = FILES[value];
		if (file !== undefined) download(`${figure.id}.${value}`, file(chart));
		else if (value === "zoom") chart.showAll();
		else
			pressed.ariaPressed = `${value === "scale" ? chart.toggleScale() : chart.toggle(groups[Number(value)]?.group ?? "")}`;
	});
}

/** A data: link, because a page that may load nothing has no other way to save a file in every browser. */
function download(name: string, href: string): void {
	const link = document.createElement("a");
	// The scenario's name, for a file that has left its page.
	link.download = `${document.querySelector("h1")?.textContent ?? ""}-${name}`.replaceAll(
		/[^A-Za-z0-9.]+/g,
		"-",
	);
	link.href = href;
	link.click();
}

function tableBlock({ head, rows }: FigureTable): Markup {
	return markup`<div class="wide" tabindex="0"><table><thead><tr>${head.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows.map(
		([name, ...cells]) =>
			markup`<tr><th scope="row">${name ?? ""}</th>${cells.map((cell) => markup`<td${cell.length > LONG && markup` class="long"`}>${cell}</td>`)}</tr>`,
	)}</tbody></table></div>`;
}
