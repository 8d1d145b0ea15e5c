import type { Chart } from "./chart.ts";

/** A click on a point of a trend, or Enter at the pointer, opens the report of its run. Other figures stay as they are. */
export function opensReports(chart: Chart, block: HTMLElement): void {
	const { figure } = chart;
	if (figure.kind !== "trend") return;
	const reports = new Map(
		figure.lines.flatMap((line) =>
			line.points.flatMap(({ at, href }) =>
				href === null ? [] : [[at, href] as const],
			),
		),
	);
	if (reports.size === 0) return;
	const canvas = block.querySelector(".canvas");
	canvas?.setAttribute(
		"aria-label",
		`${canvas.getAttribute("aria-label")} Enter opens the report.`,
	);
	chart.chosen = (x) => {
		const href = reports.get(x);
		if (href !== undefined) location.assign(href);
	};
}
