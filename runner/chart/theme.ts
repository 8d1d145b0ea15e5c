import type { View } from "./figure.ts";

type Theme = View["theme"];

/** Text has at least 4.5:1 against the page and its cards, lines 3:1. */
export const COLOURS = {
	light: {
		page: "#ffffff",
		ink: "#1b1f24",
		soft: "#57606a",
		grid: "#e4e8ec",
		/** Warm-up, and the range within a margin. */
		band: "#eef0f3",
		/** SLA limits, worse values, and messages that never completed. */
		limit: "#b3261e",
		/** Time hidden by coordinated omission, and faults. */
		hidden: "#8b2f7d",
		/** Numbers that do not measure a system: the maximum, the schedule. */
		grey: "#6e7781",
	},
	dark: {
		page: "#12161c",
		ink: "#e6edf3",
		soft: "#9aa7b4",
		grid: "#28313b",
		band: "#1d242d",
		limit: "#ff8a80",
		hidden: "#e39ad6",
		grey: "#8b97a3",
	},
} as const;

/** After Okabe and Ito, distinguishable for the colour-blind; light ones are darkened for contrast. */
export const SERIES: Readonly<Record<Theme, readonly string[]>> = {
	light: ["#0072b2", "#c4500a", "#007a5a", "#b0488a", "#946200", "#2a83b8", "#766a00", "#5b4bb5"],
	dark: ["#56b4e9", "#f0a13c", "#2fc79f", "#e08fbd", "#f0e442", "#7f9ff5", "#ff8a5c", "#b9a7ff"],
};

/** One hue, lightness in even steps; the first is one message, the last the most. */
export const HEAT: Readonly<Record<Theme, readonly string[]>> = {
	light: "#a9cbe8 #8fb8dd #76a6d2 #5e93c6 #4681b9 #306eab #1d5b99 #114983 #08376b".split(" "),
	dark: "#2a5279 #35658f #4178a6 #508bbb #639fcf #7ab2de #97c5ea #b7d8f3 #dbecfb".split(" "),
};

const MARKS = ["circle", "diamond", "rect", "triangle", "pin", "arrow"];
const DASHES = [[], [9, 3], [3, 3], [9, 3, 2, 3], [14, 4], [6, 2, 2, 2, 2, 2]];

/** Without quotes, because the names go into SVG attributes. */
export const FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif";

/** "#0072b2", at least 3:1 against the background; -1 is grey, -2 hidden. */
export function colourOf(colour: number, theme: Theme): string {
	if (colour < 0) return COLOURS[theme][colour === -1 ? "grey" : "hidden"];
	const all = SERIES[theme];
	return all[colour % all.length] as string;
}

/** One of ECharts' symbols: systems differ without colour. */
export function markOf(colour: number): string {
	return MARKS[Math.max(0, colour) % MARKS.length] as string;
}

/** As in stroke-dasharray; empty for a full line. */
export function dashesOf(dash: number): readonly number[] {
	return DASHES[dash % DASHES.length] as readonly number[];
}
