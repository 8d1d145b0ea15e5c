import { largestOf } from "../extremes.ts";
import { formatCount, formatDuration } from "../units.ts";
import { depthOf } from "./axes.ts";
import { missingAt, shareText, valueWords } from "./missing.ts";
import type {
	Figure,
	HeatFigure,
	PercentileFigure,
	RateFigure,
	SeriesKey,
	TimeFigure,
	TrendFigure,
	View,
} from "./old-figure.ts";
import { dateText, placeText, secondText, stretchText, unitText } from "./units.ts";

/** What a pointer tells, in the words of the tables: for those who point, who tap, and who use keys. */
export interface Reading {
	/** Where it has snapped to, in the axis' own numbers. */
	readonly x: number;
	readonly title: string;
	readonly rows: readonly ReadingRow[];
}

interface ReadingRow {
	/** null: not of a line. */
	readonly key: SeriesKey | null;
	readonly name: string;
	readonly text: string;
	/** Where it stands: position of its panel and its value. null: nowhere, or at every height. */
	readonly at: { readonly panel: number; readonly value: number } | null;
	/** The report that it leads to. */
	readonly href?: string | null;
}

type Shown = Pick<View, "off">;

/** Where a pointer can stand, ascending, in the axis' own numbers: what arrow keys go through. */
export function stopsOf(figure: Figure, view: Shown): number[] {
	return [...new Set(allStops(figure, view))].sort((a, b) => a - b);
}

/**
 * What a pointer at `x` (in the axis' own numbers) tells: of the nearest stop. `panel`: where several stand beside each other, the one
 * that is pointed at. null: nothing is there.
 */
export function readingAt(figure: Figure, view: Shown, x: number, panel = 0): Reading | null {
	const stops = stopsOf(figure, view);
	if (stops.length === 0) return null;
	const stop = nearest(stops, x);
	switch (figure.kind) {
		case "percentiles":
			return percentiles(figure, view, stop, panel);
		case "time":
			return time(figure, view, stop);
		case "heat":
			return heat(figure, stop);
		case "rate":
			return rate(figure, view, stop);
		case "ratios":
			return null;
		case "trend":
			return trend(figure, view, stop);
	}
}

// --- internal ---

function nearest(stops: readonly number[], x: number): number {
	return stops.reduce((a, b) => (Math.abs(b - x) < Math.abs(a - x) ? b : a));
}

function isOn(view: Shown): (key: SeriesKey) => boolean {
	return ({ group }) => !view.off.has(group);
}

function allStops(figure: Figure, view: Shown): number[] {
	switch (figure.kind) {
		// The percentiles with a name, and the maximum: what the tables have.
		case "percentiles": {
			const curves = figure.curves.filter(isOn(view));
			const ends = curves.flatMap(({ max }) => (max === null ? [] : [depthOf(max.p)]));
			return [
				...curves.flatMap((c) => c.marks.map(({ p }) => depthOf(p))),
				...(ends.length === 0 ? [] : [largestOf(ends)]),
			];
		}
		// Panels have different stretches: those of the first one are what a step is.
		case "time": {
			const all = figure.panels[0]?.lines ?? [];
			const on = all.filter(isOn(view));
			return (on.length > 0 ? on : all).flatMap(({ points }) => points.map(([second]) => second));
		}
		case "heat":
			return [
				...figure.cells.map(([second]) => second),
				...figure.unfinished.stretches.map(({ from }) => from),
			].map((second) => second + figure.width / 2);
		case "rate":
			return figure.lines.filter(isOn(view)).flatMap(({ points }) => points.map(({ x }) => x));
		// All of it stands beside the picture.
		case "ratios":
			return [];
		case "trend":
			return figure.lines.filter(isOn(view)).flatMap(({ points }) => points.map(({ at }) => at));
	}
}

function percentiles(figure: PercentileFigure, view: Shown, x: number, panel: number): Reading {
	const on = figure.curves.filter(isOn(view));
	const curves = on.filter((curve) => curve.panel === panel);
	const p = on.flatMap((c) => c.marks).find((mark) => depthOf(mark.p) === x)?.p;
	const place = figure.panels[panel]?.title ?? "";
	return {
		x,
		title: [p === undefined ? "maximum" : `p${p}`, place].filter((text) => text !== "").join(", "),
		rows: curves.map((key) => {
			const mark = key.marks.find((m) => m.p === p);
			const value = p === undefined ? key.max?.value : mark?.value;
			return {
				key,
				name: key.name.startsWith(`${key.metric}: `) ? key.metric : key.name,
				text:
					p === undefined
						? key.max
							? formatDuration(key.max.value)
							: (key.censored ?? "n/a")
						: mark
							? `${mark.text} ${mark.interval}`.trim()
							: "n/a",
				at: value === undefined ? null : { panel, value },
			};
		}),
	};
}

function time(figure: TimeFigure, view: Shown, x: number): Reading {
	const mark = figure.marks.findLast(({ from, to }) => x >= from && x < Math.max(to, from + 1e-9));
	const missing = missingAt(figure.unfinished, x);
	const half = figure.width / 2;
	const shared = (key: SeriesKey) =>
		figure.panels.filter(({ lines }) => lines.some((line) => line.group === key.group)).length > 1;
	return {
		x,
		title: `${stretchText(x, figure.width)}${mark === undefined ? "" : `, ${mark.text}`}`,
		rows: [
			...(missing === undefined
				? []
				: [{ key: null, name: "never completed", text: shareText(missing), at: null }]),
			...figure.panels.flatMap(({ lines, unit, title }, panel) =>
				lines.filter(isOn(view)).map((key) => {
					const value = valueAt(key, x, half);
					return {
						key,
						name: shared(key) ? `${title}: ${key.name}` : key.name,
						text: valueWords(
							figure.unfinished,
							{ key: key.key, second: x },
							value === null ? null : unitText(unit, value),
						),
						at: value === null ? null : { panel, value },
					};
				}),
			),
		],
	};
}

type TimeLine = TimeFigure["panels"][number]["lines"][number];

/** The largest value of the stretch; where it has none the nearest one, but none from the other side of a gap. */
function valueAt({ points, throughout }: TimeLine, x: number, half: number): number | null {
	const [first] = points;
	const last = points.at(-1);
	if (first === undefined || last === undefined) return null;
	if (throughout) return x >= first[0] && x <= last[0] ? first[1] : null;
	const inside = points.filter(([at]) => at > x - half && at <= x + half);
	if (inside.length > 0)
		return inside.reduce<number | null>(
			(most, [, value]) => (value === null ? most : Math.max(most ?? value, value)),
			null,
		);
	const near = points.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a));
	const step = points.length > 1 ? (last[0] - first[0]) / (points.length - 1) : 1;
	return Math.abs(near[0] - x) > step ? null : near[1];
}

function heat(figure: HeatFigure, x: number): Reading {
	const { bins, end, width, unfinished } = figure;
	const column = x - width / 2;
	const cells = figure.cells
		.filter(([second]) => second === column)
		.toSorted((a, b) => b[1] - a[1]);
	const missing = missingAt(unfinished, x);
	const [most] = cells.toSorted((a, b) => b[2] - a[2]);
	const row = (name: string, cell: HeatFigure["cells"][number] | undefined) =>
		cell === undefined
			? []
			: [
					{
						key: null,
						name,
						text: `${formatDuration(bins[cell[1]] ?? 0)} to ${formatDuration(bins[cell[1] + 1] ?? end)}: ${formatCount(cell[2])}`,
						at: null,
					},
				];
	return {
		x,
		title: `from ${secondText(column)} to ${secondText(column + width)}`,
		rows: [
			{
				key: null,
				name: "messages",
				text: formatCount(cells.reduce((n, [, , count]) => n + count, 0)),
				at: null,
			},
			...(missing === undefined
				? []
				: [{ key: null, name: "never completed", text: shareText(missing), at: null }]),
			...row(missing === undefined ? "slowest" : "slowest that completed", cells[0]),
			...row("most", most),
		],
	};
}

function rate(figure: RateFigure, view: Shown, x: number): Reading {
	return {
		x,
		title: placeText(figure.axis, x),
		rows: figure.lines.filter(isOn(view)).map((key) => {
			const point = key.points.find((p) => p.x === x);
			const value = point?.value ?? null;
			return {
				key,
				name: key.name,
				text: point?.text ?? "n/a",
				at: value === null ? null : { panel: 0, value },
			};
		}),
	};
}

function trend(figure: TrendFigure, view: Shown, x: number): Reading {
	return {
		x,
		title: dateText(x),
		rows: figure.lines.filter(isOn(view)).flatMap((key) =>
			key.points
				.filter(({ at }) => at === x)
				.map(({ text, verdict, value, href }) => ({
					key,
					name: key.name,
					text: `${text} ${verdict.toUpperCase()}`.trim(),
					at: value === null ? null : { panel: 0, value },
					href,
				})),
		),
	};
}
