import { largestOf, smallestOf } from "../extremes.ts";
import { formatDuration } from "../units.ts";
import type { Datum, Figure, Series, Span } from "./figure.ts";
import { joined, missingAt, missingText, shareText, valueWords } from "./missing.ts";
import type * as old from "./old-figure.ts";

/** A figure of the old kinds in the new grammar: as long as both are there. */
export function fromOld(figure: old.Figure): Figure {
	const { id, title, facts, description } = figure;
	return { id, title, facts, alt: description, ...kindOf(figure) };
}

// --- internal ---

type Rest = Omit<Figure, "id" | "title" | "facts" | "alt">;

function kindOf(figure: old.Figure): Rest {
	switch (figure.kind) {
		case "percentiles":
			return percentiles(figure);
		case "time":
			return time(figure);
		case "heat":
			return heat(figure);
		case "rate":
			return rate(figure);
		case "ratios":
			return ratios(figure);
		case "trend":
			return trend(figure);
	}
}

const AXIS = { unit: null, names: null, from: null, to: null, step: 0 };

function keyOf(
	of: old.SeriesKey,
): Pick<Series, "key" | "name" | "group" | "color" | "dash" | "thin"> {
	const { key, name, group, colour, dash, thin = false } = of;
	return { key, name, group, color: colour, dash, thin };
}

/** What is no line: it has no switch. */
function bare(
	key: string,
	name: string,
): Pick<Series, "key" | "name" | "group" | "color" | "dash" | "thin"> {
	return { key, name, group: "", color: -1, dash: 0, thin: false };
}

function interval(
	low: number | null = null,
	high: number | null = null,
): Pick<Datum, "low" | "high"> {
	return low === null && high === null ? {} : { low, high };
}

function percentiles(figure: old.PercentileFigure): Rest {
	const limits = figure.limits.map(({ text, value, p }) => ({
		text,
		y: value,
		...(p === null ? {} : { x: p }),
	}));
	return {
		x: { ...AXIS, scale: "nines", title: "percentile" },
		layout: "grid",
		panels: figure.panels.map(({ title }, panel) => ({
			title,
			unit: "ns",
			log: null,
			limits,
			series: figure.curves
				.filter((curve) => curve.panel === panel)
				.map((curve) => {
					const last = curve.points.at(-1)?.[0] ?? 0;
					const marks = new Map(curve.marks.map((mark) => [mark.p, mark]));
					const line = new Set(curve.points.map(([p]) => p));
					const named = (p: number): Pick<Datum, "text" | "low" | "high"> => {
						const mark = marks.get(p);
						return mark === undefined
							? {}
							: { text: `${mark.text} ${mark.interval}`.trim(), ...interval(mark.low, mark.high) };
					};
					const data: Datum[] = [
						...curve.points.map(([x, y]) => ({ x, y, ...named(x) })),
						...curve.marks
							.filter(({ p }) => !line.has(p))
							.map(({ p, value }): Datum => ({ x: p, y: value, ...named(p), loose: true })),
					].sort((a, b) => a.x - b.x);
					return {
						...keyOf(curve),
						draw: "line",
						data,
						...(curve.max !== null
							? {
									end: {
										x: curve.max.p,
										y: curve.max.value,
										text: formatDuration(curve.max.value),
									},
								}
							: curve.censored !== null
								? { end: { x: last, y: null, text: curve.censored } }
								: {}),
					};
				}),
		})),
		spans: [],
		...(figure.hidden.length > 0 ? { between: figure.hidden } : {}),
	};
}

function limitsOf(limits: readonly { readonly text: string; readonly value: number }[]) {
	return limits.map(({ text, value }) => ({ text, y: value }));
}

/** Where messages never completed: first of all series, as tables have it. */
function neverCompleted({ stretches }: old.Unfinished): Series[] {
	return stretches.length === 0
		? []
		: [
				{
					...bare("missing", "never completed"),
					draw: "words",
					data: stretches.map((s) => ({ x: (s.from + s.to) / 2, y: null, text: shareText(s) })),
				},
			];
}

function missingSpans({ stretches }: old.Unfinished): Span[] {
	return joined(stretches).map((s) => ({
		from: s.from,
		to: s.to,
		text: missingText(s),
		kind: "missing",
	}));
}

function time(figure: old.TimeFigure): Rest {
	const { unfinished } = figure;
	return {
		x: {
			...AXIS,
			scale: "seconds",
			title: "second",
			from: figure.from,
			to: figure.to,
			step: figure.width,
		},
		layout: "stack",
		panels: figure.panels.map((panel, i) => ({
			title: panel.title,
			unit: panel.unit,
			log: panel.unit === "ns" ? panel.logarithmic || null : false,
			limits: limitsOf(panel.limits),
			series: [
				...(i === 0 ? neverCompleted(unfinished) : []),
				...panel.lines.map((line): Series => {
					const [first] = line.points;
					return {
						...keyOf(line),
						draw: line.steps ? "step" : "line",
						data:
							line.throughout && first !== undefined
								? [{ x: first[0], y: first[1], x2: line.points.at(-1)?.[0] ?? first[0] }]
								: line.points.map(([x, y]) =>
										missingAt(unfinished, x)?.beyond.includes(line.key)
											? { x, y, text: valueWords(unfinished, { key: line.key, second: x }, null) }
											: { x, y },
									),
					};
				}),
			],
		})),
		spans: [
			...figure.marks.map(
				({ from, to, text }): Span => ({
					from,
					to,
					text,
					kind: text === "warm-up" ? "warmup" : from === to ? "phase" : "fault",
				}),
			),
			...missingSpans(unfinished),
		],
	};
}

function heat(figure: old.HeatFigure): Rest {
	const { bins, end, width, unfinished } = figure;
	return {
		x: {
			...AXIS,
			scale: "seconds",
			title: width === 1 ? "second" : `${width} seconds from`,
			from: figure.from,
			to: figure.to,
			step: width,
		},
		layout: "stack",
		panels: [
			{
				title: "latency",
				unit: "ns",
				log: true,
				limits: limitsOf(figure.limits),
				series: [
					{
						...bare("cells", "samples"),
						draw: "cells",
						data: figure.cells.map(([second, bin, n]) => ({
							x: second,
							y: bins[bin] ?? 0,
							x2: second + width,
							y2: bins[bin + 1] ?? end,
							n,
						})),
					},
					...neverCompleted(unfinished),
					...(unfinished.stretches.length === 0
						? []
						: [
								{
									...bare("slowest", "slowest"),
									draw: "words" as const,
									data: unfinished.stretches.map((s) => {
										const x = (s.from + s.to) / 2;
										return {
											x,
											y: null,
											text: valueWords(unfinished, { key: "max", second: x }, null),
										};
									}),
								},
							]),
				],
			},
		],
		spans: [
			...(figure.from < 0
				? [{ from: figure.from, to: 0, text: "warm-up", kind: "warmup" } as const]
				: []),
			...missingSpans(unfinished),
		],
	};
}

function rate(figure: old.RateFigure): Rest {
	const { axis } = figure;
	const all = figure.lines.flatMap(({ points }) => points.map(({ x }) => x));
	const powers = smallestOf(all) > 0 && largestOf(all) / smallestOf(all) > 20;
	return {
		x: {
			...AXIS,
			scale: axis.names !== null ? "names" : powers ? "log" : "linear",
			title: axis.title,
			unit: axis.unit === "cases" ? null : axis.unit,
			names: axis.names,
		},
		layout: "stack",
		panels: [
			{
				title: figure.unit === "ns" ? "latency" : "messages per second",
				unit: figure.unit,
				log: figure.unit === "ns" ? null : false,
				limits: limitsOf(figure.limits),
				series: figure.lines.map((line) => ({
					...keyOf(line),
					draw: axis.names === null ? "line" : "dots",
					data: line.points.map(({ x, value, low, high, text }) => ({
						x,
						y: value,
						text,
						...interval(low, high),
					})),
				})),
			},
		],
		spans: [],
	};
}

function ratios({ rows }: old.RatioFigure): Rest {
	return {
		x: { ...AXIS, scale: "names", title: "figure", names: rows.map(({ name }) => name) },
		layout: "stack",
		turned: true,
		panels: [
			{
				title: "ratio with its 95 % interval; the band: what the margin allows",
				unit: "times",
				log: true,
				limits: [],
				series: [
					{
						...bare("margin", "margin"),
						draw: "cells",
						data: rows.map(({ margin }, i) => ({
							x: i - 0.5,
							y: 1 / (1 + margin),
							x2: i + 0.5,
							y2: 1 + margin,
						})),
					},
					{
						...bare("ratio", "ratio"),
						draw: "dots",
						data: rows.map(({ ratio, low, high, text, look }, x) => ({
							x,
							y: ratio,
							...interval(low, high),
							text,
							look,
						})),
					},
					{
						...bare("verdict", "verdict"),
						draw: "words",
						data: rows.map(({ word }, x) => ({ x, y: null, text: word })),
					},
				],
			},
		],
		spans: [],
	};
}

function trend(figure: old.TrendFigure): Rest {
	return {
		x: { ...AXIS, scale: "date", title: "started" },
		layout: "stack",
		panels: [
			{
				title: figure.unit === "ns" ? "latency" : "messages per second",
				unit: figure.unit,
				log: figure.unit === "ns" ? null : false,
				limits: [],
				series: figure.lines.map((line) => ({
					...keyOf(line),
					draw: "line",
					data: line.points.map(({ at, value, text, verdict, href }) => ({
						x: at,
						y: value,
						text,
						look: verdict,
						...(href === null ? {} : { href }),
					})),
				})),
			},
		],
		spans: [],
	};
}
