import type { Axis, Datum, Figure, Panel, Series } from "./figure.ts";

/** For tests: a figure of one series, nats, in each of its panels. */
export function figureOf(
	x: Partial<Axis>,
	data: readonly Datum[] = [],
	{
		panels = 1,
		panel = {},
		...one
	}: Partial<Series> & { panels?: number; panel?: Partial<Panel> } = {},
): Figure {
	const key = { name: "nats", group: "nats", color: 0, dash: 0, thin: false };
	const series: Series = { ...key, draw: "line", ...one, data };
	const all: Panel = { title: "", unit: "ns", log: null, limits: [], series: [series], ...panel };
	const axis = { title: "x", unit: null, names: null, from: 0, to: 4, step: 1 };
	return {
		id: "f",
		title: "T",
		facts: "F",
		x: { scale: "seconds", ...axis, ...x },
		panels: Array.from({ length: panels }, () => all),
		spans: [],
	};
}
