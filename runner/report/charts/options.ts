import type { Figure, SeriesKey, View } from "./figure.ts";
import {
	heatHeight,
	heatKeys,
	heatOption,
	heatReading,
	heatStops,
} from "./heat-option.ts";
import {
	percentileHeight,
	percentileKeys,
	percentileOption,
	percentileReading,
	percentileStops,
} from "./percentile-option.ts";
import type { Part, Reading } from "./pieces.ts";
import {
	rateHeight,
	rateKeys,
	rateOption,
	rateReading,
	rateStops,
} from "./rate-option.ts";
import {
	timeHeight,
	timeKeys,
	timeOption,
	timeReading,
	timeStops,
} from "./time-option.ts";
import {
	trendHeight,
	trendKeys,
	trendOption,
	trendReading,
	trendStops,
} from "./trend-option.ts";

export type { Reading } from "./pieces.ts";

/** What ECharts draws of a figure: for the page in a browser and for pictures on their own alike. Give it with `notMerge`. */
export function optionOf(figure: Figure, view: View): Part {
	return kindOf(figure).option(figure, view);
}

/** The height in which a figure reads well. */
export function heightOf(figure: Figure, view: Omit<View, "height">): number {
	return kindOf(figure).height(figure, view);
}

/** Is the value axis that people look at logarithmic, by choice or by itself? */
export function isLogarithmic(figure: Figure, view: View): boolean {
	const { yAxis } = optionOf(figure, view);
	return (yAxis as readonly Part[])[0]?.logarithmic === true;
}

/** The switches of a figure, in the order of its legend. Panels may share a key: it is there once. */
export function keysOf(figure: Figure): readonly SeriesKey[] {
	return kindOf(figure).keys(figure);
}

/** Where a pointer can stand, ascending, in the axis' own numbers: what arrow keys go through. */
export function stopsOf(figure: Figure, view: View): readonly number[] {
	return kindOf(figure).stops(figure, view);
}

/** What a pointer at `x` (in the axis' own numbers, as `zoom` has them) tells: of the nearest stop. null: nothing is there. */
export function readingAt(
	figure: Figure,
	view: View,
	x: number,
): Reading | null {
	const [first, ...rest] = stopsOf(figure, view);
	if (first === undefined) return null;
	const stop = rest.reduce(
		(a, b) => (Math.abs(b - x) < Math.abs(a - x) ? b : a),
		first,
	);
	return kindOf(figure).reading(figure, view, stop);
}

/** A figure on its own as it is at first: all that is not hidden, in a width that fits most pages. */
export function firstView(
	figure: Figure,
	theme: View["theme"],
	width = 720,
): View {
	const off = new Set(
		keysOf(figure)
			.filter(({ hidden }) => hidden)
			.map(({ key }) => key),
	);
	const view = {
		theme,
		width,
		off,
		zoom: null,
		logarithmic: null,
		alone: true,
	};
	return { ...view, height: heightOf(figure, view) };
}

// --- internal ---

interface Kind<F> {
	readonly option: (figure: F, view: View) => Part;
	readonly height: (figure: F, view: Omit<View, "height">) => number;
	readonly keys: (figure: F) => readonly SeriesKey[];
	readonly stops: (figure: F, view: View) => readonly number[];
	readonly reading: (figure: F, view: View, stop: number) => Reading;
}

const KINDS: {
	readonly [K in Figure["kind"]]: Kind<Extract<Figure, { kind: K }>>;
} = {
	percentiles: {
		option: percentileOption,
		height: percentileHeight,
		keys: percentileKeys,
		stops: percentileStops,
		reading: percentileReading,
	},
	time: {
		option: timeOption,
		height: timeHeight,
		keys: timeKeys,
		stops: timeStops,
		reading: timeReading,
	},
	heat: {
		option: heatOption,
		height: heatHeight,
		keys: heatKeys,
		stops: heatStops,
		reading: heatReading,
	},
	rate: {
		option: rateOption,
		height: rateHeight,
		keys: rateKeys,
		stops: rateStops,
		reading: rateReading,
	},
	trend: {
		option: trendOption,
		height: trendHeight,
		keys: trendKeys,
		stops: trendStops,
		reading: trendReading,
	},
};

/** The functions of a kind take figures of that kind: the table above says so. */
function kindOf(figure: Figure): Kind<Figure> {
	return KINDS[figure.kind] as unknown as Kind<Figure>;
}
