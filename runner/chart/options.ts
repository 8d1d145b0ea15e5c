import type { Part } from "./axes.ts";
import { groupsOf } from "./frame.ts";
import { heatHeight, heatOption } from "./heat-chart.ts";
import type { Figure, SeriesKey, View } from "./old-figure.ts";
import { percentileHeight, percentileOption } from "./percentile-chart.ts";
import { rateHeight, rateOption } from "./rate-chart.ts";
import { ratioHeight, ratioOption } from "./ratio-chart.ts";
import { timeHeight, timeLines, timeOption } from "./time-chart.ts";
import { trendHeight, trendOption } from "./trend-chart.ts";

export type { Part } from "./axes.ts";

/** What ECharts draws of a figure: for the page in a browser and for pictures on their own alike. Given again it updates in place. */
export function optionOf(figure: Figure, view: View): Part {
	return kindOf(figure).option(figure, view);
}

/** The height in which a figure reads well. */
export function heightOf(figure: Figure, view: Omit<View, "height">): number {
	return kindOf(figure).height(figure, view);
}

/** The lines of a figure, in the order of its legend. */
export function keysOf(figure: Figure): readonly SeriesKey[] {
	return kindOf(figure).keys(figure);
}

/** Is the first value axis logarithmic, by choice or by itself? */
export function isLogarithmic(figure: Figure, view: View): boolean {
	const { yAxis } = optionOf(figure, view);
	return (yAxis as readonly Part[])[0]?.type === "log";
}

/** The groups that are off at first: those of which no line is shown. */
export function offAtFirst(figure: Figure): Set<string> {
	const keys = keysOf(figure);
	return new Set(
		groupsOf(keys)
			.map(({ group }) => group)
			.filter((group) => keys.every((key) => key.group !== group || key.hidden)),
	);
}

/** A figure on its own as it is at first, in a width that fits most pages. */
export function firstView(figure: Figure, theme: View["theme"], width = 720): View {
	const view = { theme, width, off: offAtFirst(figure), logarithmic: null, alone: true };
	return { ...view, height: heightOf(figure, view) };
}

// --- internal ---

interface Kind<F> {
	readonly option: (figure: F, view: View) => Part;
	readonly height: (figure: F, view: Omit<View, "height">) => number;
	readonly keys: (figure: F) => readonly SeriesKey[];
}

const KINDS: {
	readonly [K in Figure["kind"]]: Kind<Extract<Figure, { kind: K }>>;
} = {
	percentiles: { option: percentileOption, height: percentileHeight, keys: ({ curves }) => curves },
	time: { option: timeOption, height: timeHeight, keys: timeLines },
	heat: { option: heatOption, height: heatHeight, keys: () => [] },
	rate: { option: rateOption, height: rateHeight, keys: ({ lines }) => lines },
	ratios: { option: ratioOption, height: ratioHeight, keys: () => [] },
	trend: { option: trendOption, height: trendHeight, keys: ({ lines }) => lines },
};

/** The functions of a kind take figures of that kind: the table above says so. */
function kindOf(figure: Figure): Kind<Figure> {
	return KINDS[figure.kind] as unknown as Kind<Figure>;
}
