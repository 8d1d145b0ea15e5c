import { lines, longStep, NINES, type Part, percentText } from "./axes.ts";
import type { View } from "./figure.ts";
import { COLOURS } from "./theme.ts";
import { secondText } from "./units.ts";

/** Seconds from the window's start. */
export function secondAxis(
	grid: number,
	{ from, to }: { readonly from: number; readonly to: number },
	{ view, labels }: { view: View; labels: boolean },
): Part {
	const long = to - from >= 600;
	return {
		...lines(grid, view),
		type: "value",
		min: from,
		max: to,
		axisLine: { lineStyle: { color: COLOURS[view.theme].grid } },
		axisTick: { show: false },
		axisLabel: {
			show: labels,
			color: COLOURS[view.theme].soft,
			hideOverlap: true,
			formatter: (second: number) =>
				// The warm-up may begin anywhere: its first moment needs no label.
				second === from && second < 0 ? "" : secondText(second, long),
			showMaxLabel: false,
		},
		...(long ? { interval: longStep((to - from) / 8) } : {}),
	};
}

/** An axis of percentiles, in nines: each takes the same width. See `depthOf`. */
export function percentileAxis(grid: number, deepest: number, view: View) {
	return {
		...lines(grid, view),
		type: "value",
		min: 0,
		max: deepest,
		axisLine: { lineStyle: { color: COLOURS[view.theme].grid } },
		axisTick: { show: false, customValues: NINES },
		splitLine: { show: true, lineStyle: { color: COLOURS[view.theme].grid } },
		axisLabel: {
			color: COLOURS[view.theme].soft,
			customValues: NINES.filter((depth) => depth <= deepest),
			hideOverlap: true,
			formatter: (depth: number) => percentText(depth),
		},
	};
}
