import { largestOf } from "../extremes.ts";
import { sum } from "../stats/sum.ts";
import { formatCount, formatIn } from "../units.ts";
import { isGrid, placeOf } from "./axes.ts";
import { csvCell } from "./csv-cell.ts";
import type { Datum, Figure, Panel, Series, View } from "./figure.ts";
import { axisText } from "./units.ts";

export type FigureTable = ReturnType<typeof tableOf>;

/** The text for pointing and tapping, in the table's words. */
export type Reading = NonNullable<ReturnType<typeof readingAt>>;
export type ReadingRow = Reading["rows"][number];

type Shown = Pick<View, "off">;

/** Positions of a pointer, ascending, in the axis' own numbers. */
export function stopsOf(figure: Figure, view: Shown): number[] {
	return stops(figure, view).map(({ x }) => placeOf(figure.x, x));
}

/** The stop nearest to `at` (in the axis' own numbers). `panel` is the one pointed at among small multiples. */
export function readingAt(figure: Figure, view: Shown, at: number, panel = 0) {
	const { x: axis, panels, spans } = figure;
	const grid = isGrid(figure);
	const all = stops(figure, view);
	const far = ({ x }: { readonly x: number }) => Math.abs(placeOf(axis, x) - at);
	const [first] = all;
	if (first === undefined) return null;
	const stop = all.reduce((a, b) => (far(b) < far(a) ? b : a), first);
	const span = spans.findLast(
		({ kind, from, to }) => kind !== "missing" && stop.x >= from && stop.x < to,
	);
	const where = grid ? panels[panel]?.title : span?.text;
	const rows = columnsOf(figure)
		.filter(({ series, at: i }) => !view.off.has(series.group) && (!grid || i === panel))
		.flatMap(({ series, name, brief, unit, at: i }) =>
			stop.of(series).map((datum) => ({
				key: series.group === "" ? null : series,
				name: grid ? brief : name,
				text: textOf(datum, unit),
				at: datum.y === null ? null : { panel: i, value: datum.y },
				href: datum.href,
			})),
		);
	const title = [stop.name, where].filter((text) => text).join(", ");
	// `x`: where it has snapped to, in the axis' own numbers.
	return { x: placeOf(axis, stop.x), title, rows };
}

/**
 * Every number, also from hidden curves: a row for each place, which its first cell names, and a column for each series. Percentiles have a
 * row for each curve.
 */
export function tableOf(figure: Figure) {
	const columns = columnsOf(figure);
	const places = stops(figure, { off: new Set() });
	const head = [figure.x.title, ...columns.map(({ name }) => name)];
	const rows = places.map((stop) => [
		stop.name,
		...columns.map(({ series, unit }) => {
			const texts = stop.of(series).map((datum) => textOf(datum, unit));
			// Series that only sometimes have data, and runs, which have a date each.
			const none = series.group === "" || figure.x.scale === "date" ? "" : NONE;
			return texts.length === 0 ? none : texts.join("; ");
		}),
	]);
	if (figure.x.scale !== "nines") return { head, rows };
	const [names = [], ...curves] = head.map((_, i) => [head, ...rows].map((row) => row[i] ?? ""));
	return { head: names, rows: curves };
}

export function csvOf(figure: Figure): string {
	const { head, rows } = tableOf(figure);
	return [head, ...rows].map((row) => `${row.map(csvCell).join(",")}\n`).join("");
}

/** For screen readers: the largest value of lines over time; for other charts the table's numbers. */
export function altOf(figure: Figure): string {
	const { x: axis } = figure;
	const all = stops(figure, { off: new Set() });
	const parts = columnsOf(figure).flatMap(({ series, name, unit }) => {
		if (series.draw === "cells") {
			const [slowest] = series.data.toSorted((a, b) => (b.y ?? 0) - (a.y ?? 0));
			const n = formatCount(sum(series.data.map((cell) => cell.n ?? 0)));
			return slowest === undefined ? [] : `${n} ${name}, the slowest ${textOf(slowest, unit)}`;
		}
		if (axis.scale === "seconds" && series.group !== "") {
			const beyond = series.data.find(({ y, text }) => y === null && text !== undefined);
			const values = series.data.flatMap(({ y }) => y ?? []);
			if (beyond === undefined && values.length === 0) return [];
			return `${name} ${beyond?.text ?? `at most ${formatIn(unit, largestOf(values))}`}`;
		}
		const texts = all.flatMap((stop) =>
			stop.of(series).map((datum) => `${stop.name} ${textOf(datum, unit)}`),
		);
		// Over calendar time only the newest.
		const told = axis.scale === "date" ? texts.slice(-1) : texts.slice(0, MOST);
		return told.length === 0 ? [] : `${name}: ${told.join(", ")}`;
	});
	const more = parts.length > MOST ? [`And ${parts.length - MOST} more`] : [];
	return [...parts.slice(0, MOST), ...more].map((part) => `${part}.`).join(" ");
}

// --- internal ---

const NONE = "n/a";
/** Items of each kind in an alternative text. */
const MOST = 40;

/** From the series that are on, else from all. Curves are read at named percentiles and at their maximum. */
function stops({ x: axis, panels }: Figure, { off }: Shown) {
	const all = panels.flatMap(({ series }) => series);
	const on = all.filter(({ group }) => group !== "" && !off.has(group));
	const some = on.length > 0 || axis.scale !== "seconds" ? on : all;
	const names = axis.scale === "nines";
	const of = ({ data }: Series) => (names ? data.filter(({ text }) => text !== undefined) : data);
	const places = new Set(some.flatMap((series) => of(series).map((datum) => datum.x)));
	const ends = names ? some.flatMap(({ end }) => end ?? []) : [];
	const found = [...places]
		.sort((a, b) => a - b)
		.map((x) => ({
			x,
			name: axisText(axis, x),
			of: (series: Series) => of(series).filter((datum) => datum.x === x),
		}));
	if (ends.length === 0) return found;
	const max = { x: largestOf(ends.map(({ x }) => x)), name: "max" };
	return [...found, { ...max, of: ({ end }: Series) => (end === undefined ? [] : [end]) }];
}

/** `name`: with its panel's title if several panels have it. */
function columnsOf({ panels }: Figure) {
	return panels.flatMap((panel, at) =>
		panel.series
			.filter(({ draw }) => draw !== "band")
			.map((series) => {
				const { name: whole, group } = series;
				// "response" of "response: from the intended send time".
				const brief = (whole === group ? whole.split(": ")[0] : null) ?? whole;
				const shared = panels.some(
					(other) => other !== panel && other.series.some(({ name }) => name === whole),
				);
				const name = shared ? `${panel.title}: ${brief}` : brief;
				return { series, brief, name, unit: panel.unit, at };
			}),
	);
}

function textOf({ text, y, y2, n, look = "" }: Datum, unit: Panel["unit"]): string {
	if (y2 !== undefined && y !== null)
		return `${formatIn(unit, y)} to ${formatIn(unit, y2)}: ${n ?? 0}`;
	return `${text ?? (y === null ? NONE : formatIn(unit, y))} ${look.toUpperCase()}`.trim();
}
