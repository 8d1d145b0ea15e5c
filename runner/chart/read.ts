import { largestOf } from "../extremes.ts";
import { formatCount, formatDuration } from "../units.ts";
import { briefOf } from "./alt.ts";
import { placeOf } from "./axes.ts";
import { csvCell } from "./csv-cell.ts";
import type { Datum, Figure, Panel, Series, View } from "./figure.ts";
import { axisText, secondText, unitText } from "./units.ts";

/** The numbers of a figure as words; the first cell of a row names it. */
export interface FigureTable {
	readonly head: readonly string[];
	readonly rows: readonly (readonly string[])[];
}

/** What a pointer tells, in the words of the tables: for those who point, who tap, and who use keys. */
export interface Reading {
	/** Where it has snapped to, in the axis' own numbers. */
	readonly x: number;
	readonly title: string;
	readonly rows: readonly ReadingRow[];
}

export interface ReadingRow {
	/** null: not of a line. */
	readonly key: Series | null;
	readonly name: string;
	readonly text: string;
	/** Where it stands: position of its panel and its value. null: nowhere, or at every height. */
	readonly at: { readonly panel: number; readonly value: number } | null;
	/** The report that it leads to. */
	readonly href?: string | undefined;
}

type Shown = Pick<View, "off">;

/** Where a pointer can stand, ascending, in the axis' own numbers: what arrow keys go through. Beside a forest plot all of it stands. */
export function stopsOf(figure: Figure, view: Shown): number[] {
	return stops(figure, view).map((x) => placeOf(figure.x, x));
}

/**
 * What a pointer at `at` (in the axis' own numbers) tells: of the nearest stop. `panel`: where several stand beside each other, the one
 * that is pointed at. null: nothing is there.
 */
export function readingAt(figure: Figure, view: Shown, at: number, panel = 0): Reading | null {
	const { x: axis, panels, layout } = figure;
	const all = stops(figure, view);
	const far = (x: number) => Math.abs(placeOf(axis, x) - at);
	const [first] = all;
	if (first === undefined) return null;
	const x = all.reduce((a, b) => (far(b) < far(a) ? b : a), first);
	const on = panels.map(({ series }) => series.filter(isOn(view)));
	const maximum = axis.scale === "nines" && !on.flat().flatMap(namesOf).includes(x);
	const rows = on.flatMap((list, i) =>
		layout === "grid" && i !== panel
			? []
			: list.flatMap((series) =>
					series.draw === "cells"
						? cellRows(series, x - axis.step / 2)
						: rowsOf(
								figure,
								i,
								series,
								maximum ? [series.end ?? []].flat() : dataAt(series, x, axis),
							),
				),
	);
	return {
		x: placeOf(axis, x),
		title: maximum ? titled("maximum") : titled(axisText(axis, x)),
		rows,
	};

	function titled(text: string): string {
		const span = figure.spans.findLast(
			({ kind, from, to }) => kind !== "missing" && x >= from && x < Math.max(to, from + 1e-9),
		);
		const names = [text, layout === "grid" ? panels[panel]?.title : span?.text];
		return names.filter((name) => name).join(", ");
	}
}

/** Every number of a figure, also of curves that are switched off: what those read who do not see the picture. */
export function tablesOf(figure: Figure): FigureTable[] {
	if (figure.x.scale === "nines") return [curveTable(figure)];
	if (figure.x.scale === "date") return [runTable(figure)];
	const cells = figure.turned ? undefined : cellsIn(figure);
	return cells === undefined ? placeTables(figure) : [cellTable(figure, cells)];
}

/** The same as CSV, for a spreadsheet; tables after each other with an empty line between them. */
export function csvOf(figure: Figure): string {
	return tablesOf(figure)
		.map(({ head, rows }) =>
			[head, ...rows].map((row) => `${row.map(csvCell).join(",")}\n`).join(""),
		)
		.join("\n");
}

// --- internal ---

const NONE = "n/a";

function isOn(view: Shown): (series: Series) => boolean {
	return ({ group }) => !view.off.has(group);
}

function cellsIn({ panels }: Figure): Series | undefined {
	return panels[0]?.series.find(({ draw }) => draw === "cells");
}

function stops(figure: Figure, view: Shown): number[] {
	const { scale, step } = figure.x;
	if (figure.turned) return [];
	// Panels over time have different stretches: those of the first one are what a step is.
	const all = (scale === "seconds" ? figure.panels.slice(0, 1) : figure.panels).flatMap(
		({ series }) => series,
	);
	const lines = all.filter(({ draw }) => draw !== "words");
	const some = lines.filter(isOn(view));
	const on = some.length > 0 || scale !== "seconds" ? some : lines;
	if (scale === "nines") {
		const ends = on.flatMap(({ end }) => (end == null || end.y === null ? [] : [end.x]));
		return unique([...on.flatMap(namesOf), ...(ends.length === 0 ? [] : [largestOf(ends)])]);
	}
	const words = all.filter(({ draw }) => draw === "words");
	const cells = on.filter(({ draw }) => draw === "cells").flatMap(({ data }) => data);
	return unique(
		cells.length === 0 ? xsOf(on) : [...cells.map(({ x }) => x + step / 2), ...xsOf(words)],
	);
}

/** What holds over a stretch has no place of its own. */
function xsOf(series: readonly Series[]): number[] {
	return series.flatMap(({ data }) => data.flatMap(({ x, x2 }) => (x2 === undefined ? [x] : [])));
}

/** Percentiles that have a name. */
function namesOf({ data }: Series): number[] {
	return data.filter(({ text }) => text !== undefined).map(({ x }) => x);
}

function unique(places: readonly number[]): number[] {
	return [...new Set(places)].sort((a, b) => a - b);
}

function textOf({ text, y }: Pick<Datum, "text" | "y">, { unit }: Pick<Panel, "unit">): string {
	return text ?? (y === null ? NONE : unitText(unit, y));
}

function rowsOf(figure: Figure, i: number, series: Series, data: readonly Datum[]): ReadingRow[] {
	const { x: axis, panels, layout } = figure;
	const panel = panels[i] as Panel;
	// What is only sometimes there, and runs, which each have a date of their own.
	if (data.length === 0 && (series.draw === "words" || axis.scale === "date")) return [];
	const alike = panels.filter((one) => one.series.some(({ group }) => group === series.group));
	const shared = layout === "stack" && alike.length > 1;
	return (data.length === 0 ? [{ x: 0, y: null }] : data).map((datum: Datum) => ({
		key: series.group === "" ? null : series,
		name: shared ? `${panel.title}: ${series.name}` : briefOf(series),
		text: `${textOf(datum, panel)} ${datum.look?.toUpperCase() ?? ""}`.trim(),
		at: datum.y === null ? null : { panel: i, value: datum.y },
		href: datum.href,
	}));
}

/** Over time a stop stands for a stretch, else for itself. */
function dataAt({ data, draw }: Series, x: number, { scale, step }: Figure["x"]): readonly Datum[] {
	const exact = data.filter(
		(datum) => datum.x === x && (scale !== "nines" || datum.text !== undefined),
	);
	if (step === 0 || draw === "words" || exact.some(({ text }) => text !== undefined)) return exact;
	return [{ x, y: valueAt(data, x, step / 2) }];
}

/** The largest value of the stretch; where it has none the nearest one, but none from the other side of a gap. */
function valueAt(data: readonly Datum[], x: number, half: number): number | null {
	const [first] = data;
	const last = data.at(-1);
	if (first === undefined || last === undefined) return null;
	if (first.x2 !== undefined) return x >= first.x && x <= first.x2 ? first.y : null;
	const inside = data.filter((datum) => datum.x > x - half && datum.x <= x + half);
	if (inside.length > 0)
		return inside.reduce<number | null>(
			(most, { y }) => (y === null ? most : Math.max(most ?? y, y)),
			null,
		);
	const near = data.reduce((a, b) => (Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a));
	const step = data.length > 1 ? (last.x - first.x) / (data.length - 1) : 1;
	return Math.abs(near.x - x) > step ? null : near.y;
}

function rangeText({ y, y2 }: Datum): string {
	return `${formatDuration(y ?? 0)} to ${formatDuration(y2 ?? 0)}`;
}

/** The cells of a column, the slowest first. */
function columnOf({ data }: Series, from: number): Datum[] {
	return data.filter(({ x }) => x === from).sort((a, b) => (b.y ?? 0) - (a.y ?? 0));
}

function sumOf(cells: readonly Datum[]): string {
	return formatCount(cells.reduce((sum, { n = 0 }) => sum + n, 0));
}

function cellRows(series: Series, from: number): ReadingRow[] {
	const cells = columnOf(series, from);
	const [slowest] = cells;
	const [most] = cells.toSorted((a, b) => (b.n ?? 0) - (a.n ?? 0));
	const row = (name: string, text: string) => ({ key: null, name, text, at: null });
	return [
		row("messages", sumOf(cells)),
		...(slowest === undefined
			? []
			: [row("slowest that completed", `${rangeText(slowest)}: ${formatCount(slowest.n ?? 0)}`)]),
		...(most === undefined ? [] : [row("most", `${rangeText(most)}: ${formatCount(most.n ?? 0)}`)]),
	];
}

/** A row for each column of cells, with what else is known of it. */
function cellTable({ x: axis, panels }: Figure, cells: Series): FigureTable {
	const words = (panels[0]?.series ?? []).filter(({ draw }) => draw === "words");
	const missing = words.find(({ key }) => key === "missing");
	const slowest = words.find(({ key }) => key === "slowest");
	const said = (series: Series | undefined, from: number) =>
		series?.data.find(({ x }) => x === from + axis.step / 2)?.text;
	const from = unique([
		...cells.data.map(({ x }) => x),
		...(missing?.data ?? []).map(({ x }) => x - axis.step / 2),
	]);
	return {
		head: [
			axis.title,
			cells.name,
			...(missing ? [missing.name] : []),
			"slowest",
			"samples by latency",
		],
		rows: from.map((x) => {
			const column = columnOf(cells, x);
			return [
				secondText(x),
				sumOf(column),
				...(missing ? [said(missing, x) ?? "0"] : []),
				said(slowest, x) ?? (column[0] ? rangeText(column[0]) : NONE),
				column.map((cell) => `${rangeText(cell)}: ${cell.n}`).join(", "),
			];
		}),
	};
}

/** A row for each curve: a page may have a hundred, and never so many percentiles. */
function curveTable({ panels }: Figure): FigureTable {
	const all = panels.flatMap((panel) => panel.series.map((series) => ({ panel, series })));
	const named = unique(all.flatMap(({ series }) => namesOf(series)));
	return {
		head: ["curve", ...named.map((p) => `p${p}`), "max"],
		rows: all.map(({ panel, series: { name, data, end } }) => [
			panels.length === 1 ? name : `${panel.title}: ${name}`,
			...named.map((p) => data.find(({ x, text }) => x === p && text !== undefined)?.text ?? NONE),
			end === undefined ? NONE : textOf(end, panel),
		]),
	};
}

/** A row for each run: each has a date of its own. */
function runTable({ x: axis, panels }: Figure): FigureTable {
	const all = panels.flatMap((panel) =>
		panel.series.flatMap(({ name, data }) => data.map((datum) => ({ panel, name, datum }))),
	);
	return {
		head: [axis.title, "of", "value", "verdict"],
		rows: all
			.sort((a, b) => a.datum.x - b.datum.x)
			.map(({ panel, name, datum }) => [
				axisText(axis, datum.x),
				name,
				textOf(datum, panel),
				datum.look ?? "",
			]),
	};
}

/** A row for each place on the axis. Panels whose data lie at the same places share a table. */
function placeTables({ x: axis, panels }: Figure): FigureTable[] {
	const first = new Set(placesOf(panels[0]));
	const groups = new Map<string, Panel[]>();
	for (const panel of panels) {
		const places = placesOf(panel).join();
		if (places !== "") groups.set(places, [...(groups.get(places) ?? []), panel]);
	}
	return [...groups.values()].map((group) => {
		const columns = group.flatMap((panel) =>
			panel.series
				.filter(({ draw }) => draw !== "cells")
				.map((series) => ({
					name:
						panels.length === 1 || series.group === ""
							? series.name
							: `${panel.title}: ${series.name}`,
					cell: cellOf(series, panel),
				})),
		);
		return {
			head: [axis.title, ...columns.map(({ name }) => name)],
			rows: placesOf(group[0]).map((x) => [
				// Other panels have data of their own stretches.
				first.has(x) || axis.scale !== "seconds" ? axisText(axis, x) : secondText(x),
				...columns.map(({ cell }) => cell(x)),
			]),
		};
	});
}

function placesOf(panel: Panel | undefined): number[] {
	return unique(
		xsOf(panel?.series.filter(({ draw }) => draw !== "cells" && draw !== "words") ?? []),
	);
}

/** The text of a series at a place; several of them where it has several. */
function cellOf({ data, draw }: Series, panel: Panel): (x: number) => string {
	const texts = new Map<number, string>();
	for (const datum of data) {
		const before = texts.get(datum.x);
		const text = textOf(datum, panel);
		texts.set(datum.x, before === undefined ? text : `${before}; ${text}`);
	}
	const held = data.find(({ x2 }) => x2 !== undefined);
	const none = draw === "words" ? "0" : NONE;
	return (x) =>
		texts.get(x) ??
		(held !== undefined && x > held.x && x <= (held.x2 ?? 0) ? textOf(held, panel) : none);
}
