import type { Figure } from "../../charts/figure.ts";
import {
	offKeys,
	pressed,
	type SwitchState,
	stateAtFirst,
	switchGroups,
} from "../switches.ts";
import { Chart, type Look } from "./chart.ts";
import { action, element, swatch, toggle } from "./elements.ts";
import { opensReports } from "./open.ts";
import { theme } from "./theme.ts";

/** Draws a figure into its block, with its switches, zoom, scale and download above it. */
export function liveChart(block: HTMLElement, figure: Figure): Chart | null {
	const plot = block.querySelector<HTMLElement>(".plot");
	if (plot === null) return null;
	const groups = switchGroups(figure);
	let state: SwitchState = stateAtFirst(figure, groups);
	const look: Look = {
		off: offKeys(figure, groups, state),
		zoom: null,
		logarithmic: null,
	};
	const tools = element("div", "tools");
	plot.before(tools);
	const chart = new Chart(plot, figure, look);

	const rows: (() => void)[] = [];
	for (const { title, switches } of groups) {
		const row = fieldset(title);
		for (const one of switches) {
			const button = toggle(one.value, state.on.has(one), () => {
				state = pressed(state, one);
				look.off = offKeys(figure, groups, state);
				button.setAttribute("aria-pressed", `${state.on.has(one)}`);
				chart.draw();
			});
			let drawn: SVGElement | null = null;
			rows.push(() => {
				if (one.colour === null && one.dash === null) return;
				drawn?.remove();
				drawn = swatch(one, theme());
				button.append(drawn);
			});
			row.append(button);
		}
		tools.append(row);
	}
	const actions = element("div", "actions");
	actions.append(zoomTools(chart));
	if (figure.kind !== "heat") {
		const [button, show] = scaleTool(chart);
		actions.append(button);
		rows.push(show);
	}
	actions.append(downloadTool(chart));
	tools.append(actions);
	chart.changed = () => {
		for (const row of rows) row();
	};
	chart.changed();
	opensReports(chart, block);
	return chart;
}

// --- internal ---

function fieldset(title: string): HTMLFieldSetElement {
	const row = element("fieldset", "");
	row.append(element("legend", "", title));
	return row;
}

function zoomTools(chart: Chart): HTMLElement {
	const row = fieldset("Zoom");
	row.append(
		action("+", "Zoom in", () => chart.zoomBy(0.5)),
		action("\u2212", "Zoom out", () => chart.zoomBy(2)),
		action("\u2190", "Move left", () => chart.pan(-0.25)),
		action("\u2192", "Move right", () => chart.pan(0.25)),
		action("All", "Show all", () => chart.showAll()),
	);
	return row;
}

function scaleTool(chart: Chart): [HTMLElement, show: () => void] {
	const button = toggle("Logarithmic", chart.logarithmic, () => {
		chart.look.logarithmic = !chart.logarithmic;
		chart.draw();
	});
	return [
		button,
		() => button.setAttribute("aria-pressed", `${chart.logarithmic}`),
	];
}

/** A data: link, as a page that may load nothing has no other way to hand over a file everywhere. */
function downloadTool(chart: Chart): HTMLElement {
	return action("SVG", "Download this chart as SVG", () => {
		const link = element("a", "");
		link.download = fileName(chart.figure);
		link.href = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(chart.svg())}`;
		link.click();
	});
}

/** "quickstart-percentiles.svg": of which scenario a file is that has left its page. */
function fileName({ id }: Figure): string {
	const scenario = (document.querySelector("h1")?.textContent ?? "")
		.replaceAll(/[^A-Za-z0-9]+/g, "-")
		.slice(0, 60)
		.replaceAll(/^-+|-+$/g, "");
	return `${[scenario, id].filter((part) => part !== "").join("-")}.svg`;
}
