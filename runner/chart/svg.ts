import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
	GridComponent,
	LegendComponent,
	MarkAreaComponent,
	MarkLineComponent,
	MarkPointComponent,
	TitleComponent,
} from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { Figure, View } from "./figure.ts";
import { shown } from "./head.ts";
import { optionOf } from "./option.ts";
import { altOf } from "./read.ts";

/** With a name and a description for screen readers. Works in a browser and in Node. */
export function svgOf(figure: Figure, view: View): string {
	const { width, height } = view;
	const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
	try {
		chart.setOption(optionOf(figure, { ...view, alone: true }));
		return named(cleaned(chart.renderToSVGString(), figure), figure);
	} finally {
		chart.dispose();
	}
}

/** For drawing into a page, which adds its own parts of ECharts. */
export { init, use };

// --- internal ---

use([
	CustomChart,
	GridComponent,
	LegendComponent,
	LineChart,
	MarkAreaComponent,
	MarkLineComponent,
	MarkPointComponent,
	SVGRenderer,
	ScatterChart,
	TitleComponent,
]);

/** Without mouse handlers, and with the figure's ids instead of a counter's: the same chart each time, and several in one page. */
function cleaned(svg: string, { id }: Figure): string {
	// Quotes in texts are escaped: only attributes match.
	return svg
		.replaceAll(/<style\b[^>]*>.*?<\/style>\s*/gs, "")
		.replaceAll(/ class="zr[\w-]*"| pointer-events="\w+"| ecmeta_\w+="\w+"/g, "")
		.replaceAll(/ stroke="[^"]*" stroke-width="0"/g, "")
		.replaceAll(/( id="|"url\(#)zr\d+-/g, `$1${id}-`);
}

function named(svg: string, figure: Figure): string {
	const { id, title } = figure;
	const name = `<title id="${id}-t">${xml(title)}</title><desc id="${id}-d">${xml(altOf(figure))}</desc>`;
	return svg.replace(
		/^<svg([^>]*)>/,
		(_, attributes: string) =>
			`<svg${attributes} role="img" aria-labelledby="${id}-t ${id}-d">\n${name}`,
	);
}

function xml(text: string): string {
	return shown(text).replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
