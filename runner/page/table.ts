import { csvCell } from "../chart/csv-cell.ts";
import { missingAt, shareText, valueWords } from "../chart/missing.ts";
import type {
	Figure,
	HeatFigure,
	PercentileFigure,
	RateFigure,
	RatioFigure,
	TimeFigure,
	TrendFigure,
} from "../chart/old-figure.ts";
import { dateText, placeText, secondText, stretchText, unitText } from "../chart/units.ts";
import { formatDuration } from "../units.ts";

/** The numbers of a figure as words; the first cell of a row names it. */
export interface FigureTable {
	readonly caption: string | null;
	readonly head: readonly string[];
	readonly rows: readonly (readonly string[])[];
}

/** Every number of a figure, also of curves that are switched off: what those read who do not see the picture. */
export function tablesOf(figure: Figure): FigureTable[] {
	switch (figure.kind) {
		case "percentiles":
			return [percentiles(figure)];
		case "time":
			return time(figure);
		case "heat":
			return [heat(figure)];
		case "rate":
			return [rate(figure)];
		case "ratios":
			return [ratios(figure)];
		case "trend":
			return [trend(figure)];
	}
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

function percentiles({ curves }: PercentileFigure): FigureTable {
	const named = [...new Set(curves.flatMap((c) => c.marks.map((m) => m.p)))].sort((a, b) => a - b);
	return {
		caption: null,
		// A page may have a hundred curves, and never so many percentiles.
		head: ["curve", ...named.map((p) => `p${p}`), "max"],
		rows: curves.map((c) => [
			c.name,
			...named.map((p) => {
				const mark = c.marks.find((m) => m.p === p);
				return mark === undefined ? "n/a" : `${mark.text} ${mark.interval}`.trim();
			}),
			c.censored ?? (c.max === null ? "n/a" : formatDuration(c.max.value)),
		]),
	};
}

type Panel = TimeFigure["panels"][number];

/** Panels whose points lie at the same seconds share a table. */
function time({ panels, unfinished, width }: TimeFigure): FigureTable[] {
	// Where the first panel has a row, it says also what has no latency.
	const rows = new Set(secondsOf(panels.slice(0, 1)));
	const groups = new Map<string, Panel[]>();
	for (const panel of panels) {
		if (panel.lines.length === 0) continue;
		const seconds = secondsOf([panel]).join();
		groups.set(seconds, [...(groups.get(seconds) ?? []), panel]);
	}
	return [...groups.values()].map((group) => {
		const lines = group.flatMap((panel) =>
			panel.lines.map((line) => ({
				key: line.key,
				name: `${panel.title}: ${line.name}`,
				unit: panel.unit,
				values: new Map(line.points),
			})),
		);
		const counts = unfinished.stretches.length > 0 && group.includes(panels[0] as Panel);
		return {
			caption: null,
			head: ["second", ...(counts ? ["never completed"] : []), ...lines.map((line) => line.name)],
			rows: secondsOf(group).map((second) => {
				const missing = missingAt(unfinished, second);
				const none = rows.has(second) ? "0" : "n/a";
				return [
					// Other panels have points of their own stretches.
					rows.has(second) ? stretchText(second, width) : secondText(second),
					...(counts ? [rows.has(second) && missing ? shareText(missing) : none] : []),
					...lines.map(({ key, unit, values }) => {
						const value = values.get(second);
						const text = value == null ? null : unitText(unit, value);
						return value === undefined ? "n/a" : valueWords(unfinished, { key, second }, text);
					}),
				];
			}),
		};
	});
}

function secondsOf(panels: TimeFigure["panels"]): number[] {
	const seconds = panels.flatMap((panel) =>
		panel.lines.flatMap((line) => line.points.map(([second]) => second)),
	);
	return [...new Set(seconds)].sort((a, b) => a - b);
}

function heat(figure: HeatFigure): FigureTable {
	const { bins, end, cells, width, unfinished } = figure;
	const columns = new Map<number, HeatFigure["cells"][number][]>();
	for (const cell of cells) columns.set(cell[0], [...(columns.get(cell[0]) ?? []), cell]);
	for (const { from } of unfinished.stretches) if (!columns.has(from)) columns.set(from, []);
	const counts = unfinished.stretches.length > 0;
	const range = (bin: number) =>
		`${formatDuration(bins[bin] ?? 0)} to ${formatDuration(bins[bin + 1] ?? end)}`;
	return {
		caption: null,
		head: [
			width === 1 ? "second" : `${width} seconds from`,
			"samples",
			...(counts ? ["never completed"] : []),
			"slowest",
			"samples by latency",
		],
		rows: [...columns]
			.sort(([a], [b]) => a - b)
			.map(([second, values]) => {
				const sorted = [...values].sort((a, b) => b[1] - a[1]);
				const [first] = sorted;
				const missing = missingAt(unfinished, second);
				return [
					secondText(second),
					unitText(
						"messages",
						values.reduce((n, c) => n + c[2], 0),
					),
					...(counts ? [missing ? shareText(missing) : "0"] : []),
					missing === undefined
						? range(first?.[1] ?? 0)
						: valueWords(unfinished, { key: "max", second }, null),
					sorted.map(([, bin, n]) => `${range(bin)}: ${n}`).join(", "),
				];
			}),
	};
}

function rate({ axis, lines }: RateFigure): FigureTable {
	const all = lines.flatMap((line) => line.points.map(({ x }) => x));
	return {
		caption: null,
		head: [axis.title, ...lines.map((line) => line.name)],
		rows: [...new Set(all)]
			.sort((a, b) => a - b)
			.map((x) => [
				placeText(axis, x),
				...lines.map((line) => {
					const texts = line.points.filter((p) => p.x === x).map((p) => p.text);
					return texts.length === 0 ? "n/a" : texts.join("; ");
				}),
			]),
	};
}

function ratios({ rows }: RatioFigure): FigureTable {
	return {
		caption: null,
		head: ["figure", "ratio", "verdict"],
		rows: rows.map(({ name, text, word }) => [name, text, word]),
	};
}

function trend({ lines }: TrendFigure): FigureTable {
	return {
		caption: null,
		head: ["started", "of", "value", "verdict"],
		rows: lines
			.flatMap((line) => line.points.map((point) => ({ line, point })))
			.sort((a, b) => a.point.at - b.point.at)
			.map(({ line, point }) => [dateText(point.at), line.name, point.text, point.verdict]),
	};
}
