import type { Part } from "./axes.ts";
import type { View } from "./old-figure.ts";
import { COLOURS } from "./theme.ts";

/** How a reader moves along an axis. */

/** Wheel with Ctrl, pinch: a page that is scrolled stays where it is. */
export function insideZoom(xAxisIndex: readonly number[]): Part {
	return {
		type: "inside",
		xAxisIndex,
		filterMode: "none",
		zoomOnMouseWheel: "ctrl",
		moveOnMouseMove: false,
		moveOnMouseWheel: false,
		preventDefaultMouseMove: false,
	};
}

/** A slider below the axis, for fingers and for those who do not know that a drag zooms. */
export function slider(xAxisIndex: readonly number[], left: number, view: View): Part {
	const colours = COLOURS[view.theme];
	return {
		type: "slider",
		xAxisIndex,
		filterMode: "none",
		left,
		right: RIGHT,
		bottom: 4,
		height: 16,
		showDetail: false,
		showDataShadow: false,
		brushSelect: false,
		borderColor: colours.grid,
		fillerColor: "rgba(127,140,160,.22)",
		handleStyle: { color: colours.page, borderColor: colours.soft },
		moveHandleSize: 4,
	};
}

/** Pixels to the right of the curves. */
export const RIGHT = 24;
