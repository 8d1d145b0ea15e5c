import { groupsOf } from "../../chart/frame.ts";
import type { Figure } from "../../chart/old-figure.ts";
import { keysOf } from "../../chart/options.ts";
import { csvOf } from "../table.ts";
import { Chart } from "./chart.ts";
import { action, element, swatchOf, toggle } from "./elements.ts";
import { theme } from "./theme.ts";

/** Draws a figure into its block, with its legend and its tools above it. */
export function liveChart(block: HTMLElement, figure: Figure): Chart | null {
	const plot = block.querySelector<HTMLElement>(".plot");
	if (plot === null) return null;
	const tools = element("div", "tools");
	plot.before(tools);
	const chart = new Chart(plot, figure);
	const legend = legendOf(chart);
	if (legend !== null) tools.append(legend);
	const actions = element("div", "actions");
	if (hasStretch(figure))
		actions.append(action("Reset zoom", "Reset zoom: show all of the axis", () => chart.showAll()));
	if (figure.kind !== "heat" && figure.kind !== "ratios") actions.append(scaleTool(chart));
	actions.append(
		action("Copy CSV", "Copy CSV: the numbers of this chart", () => copy(csvOf(figure))),
		action("PNG", "Download this chart as PNG", () => download(figure, "png", chart.png())),
		action("SVG", "Download this chart as SVG", () =>
			download(
				figure,
				"svg",
				`data:image/svg+xml;charset=utf-8,${encodeURIComponent(chart.svg())}`,
			),
		),
	);
	tools.append(actions);
	return chart;
}

// --- internal ---

/** Names have no stretch to zoom. */
function hasStretch(figure: Figure): boolean {
	return !(figure.kind === "ratios" || (figure.kind === "rate" && figure.axis.names !== null));
}

/** Switches that are the legend as well: a piece of each line, and its name. One line needs none. */
function legendOf(chart: Chart): HTMLElement | null {
	const groups = groupsOf(keysOf(chart.figure));
	if (groups.length < 2) return null;
	const row = element("fieldset", "legend");
	row.append(element("legend", "unseen", "Lines"));
	const buttons = groups.map((key) => {
		const button = toggle(key.group, !chart.off.has(key.group), () => chart.toggle(key.group));
		row.append(button);
		return button;
	});
	chart.drawn = () => {
		for (const [i, button] of buttons.entries()) {
			button.querySelector(".swatch")?.remove();
			const key = groups[i];
			if (key !== undefined) button.prepend(swatchOf(key, theme()));
		}
	};
	chart.drawn();
	chart.switched = () => {
		for (const [i, button] of buttons.entries())
			button.setAttribute("aria-pressed", `${!chart.off.has(groups[i]?.group ?? "")}`);
	};
	return row;
}

function scaleTool(chart: Chart): HTMLElement {
	const button = toggle("Logarithmic", chart.isLogarithmic, () => {
		chart.logarithmic = !chart.isLogarithmic;
		chart.draw();
		button.setAttribute("aria-pressed", `${chart.isLogarithmic}`);
	});
	return button;
}

async function copy(text: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		// A file: page may have no clipboard; an area that is selected always has one.
		const area = element("textarea", "unseen");
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
}

/** A data: link, as a page that may load nothing has no other way to hand over a file everywhere. */
function download(figure: Figure, ending: string, href: string): void {
	const link = element("a", "");
	link.download = `${fileName(figure)}.${ending}`;
	link.href = href;
	link.click();
}

/** "quickstart-percentiles": of which scenario a file is that has left its page. */
function fileName({ id }: Figure): string {
	const scenario = (document.querySelector("h1")?.textContent ?? "")
		.replaceAll(/[^A-Za-z0-9]+/g, "-")
		.slice(0, 60)
		.replaceAll(/^-+|-+$/g, "");
	return [scenario, id].filter((part) => part !== "").join("-");
}
