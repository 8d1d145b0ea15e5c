import type { Unit } from "../units.ts";

/** A chart before it is drawn, on a page or for `--svg`. Times are ns, seconds count from the window's start (below 0: warm-up). */
export interface Figure {
	/** Unique in its page, and the name of its .svg: letters, digits and dashes. */
	readonly id: string;
	readonly title: string;
	/** Measured quantity, durability and machine: they go wherever the chart goes. */
	readonly facts: string;
	readonly x: Axis;
	/** Over seconds below each other with one cursor, else small multiples. */
	readonly panels: readonly Panel[];
	readonly spans: readonly Span[];
}

export interface Axis {
	/** nines are percentiles below 100, with the same width for each nine; seconds are a run's; names by index; date is ms since 1970. */
	readonly scale: "linear" | "log" | "nines" | "seconds" | "names" | "date";
	/** As tables call it: "second", "size of a message". */
	readonly title: string;
	/** For linear and log; null if the scale implies it. */
	readonly unit: Unit | null;
	readonly names: readonly string[] | null;
	/** null if the data set the limit. */
	readonly from: number | null;
	readonly to: number | null;
	/** Seconds whose middle a datum is; 0 for other scales. */
	readonly step: number;
}

export interface Panel {
	/** The name of its values; a small multiple's case, "" if it is the only one. */
	readonly title: string;
	readonly unit: Unit;
	/** By powers of ten; null chooses it above a factor of 20. A reader may switch, unless it is false. */
	readonly log: boolean | null;
	readonly series: readonly Series[];
	readonly limits: readonly Limit[];
}

export interface Series {
	/** "nats, repeat 2": unique in its panel. */
	readonly name: string;
	/** The name in its switch and in the legend, shared by its group ("nats"); "" if it has no switch and is only read. */
	readonly group: string;
	/** Colour and mark: a system's position on the page, on every chart. -1 is grey, for all but a main line; -2 is coordinated omission. */
	readonly color: number;
	/** 0 is a full line. By system where systems are compared, by metric in a run's charts: colour is never the only difference. */
	readonly dash: number;
	/** A repeat that does not decide. */
	readonly thin: boolean;
	/** line is joined, step constant over a stretch, dots apart; cells are areas by number, a band is between two bounds. */
	readonly draw: "line" | "step" | "dots" | "cells" | "band";
	/** Ascending by x. */
	readonly data: readonly Datum[];
	/** A percentile curve's maximum, joined dotted. y is null beyond every value, "12 never completed: > 30s". */
	readonly end?: Datum;
}

export interface Datum {
	readonly x: number;
	/** null if not measured (a gap, never 0), or longer than the timeout, as `text` shows. */
	readonly y: number | null;
	/** A cell goes from y to here, as wide as a step. */
	readonly y2?: number;
	/** Messages in the cell. */
	readonly n?: number;
	/** Interval of y, or ends of a band; null without such a bound. */
	readonly low?: number | null;
	readonly high?: number | null;
	/** The value as text; default: y in the panel's unit. On percentile curves only named points have it. */
	readonly text?: string;
	/** The point's report, relative to the page. */
	readonly href?: string;
	/** A verdict, which has its own form. */
	readonly look?: string;
}

export interface Span {
	readonly from: number;
	readonly to: number;
	readonly text: string;
	readonly kind: "warmup" | "phase" | "fault" | "missing";
}

export interface Limit {
	readonly text: string;
	readonly y: number;
	/** Default: every x, or the maximum. */
	readonly x?: number;
}

export interface View {
	readonly theme: "light" | "dark";
	readonly width: number;
	readonly height: number;
	/** null if the values decide. */
	readonly logarithmic: boolean | null;
	/** Groups that are switched off. The drawing library keeps the zoom. */
	readonly off: ReadonlySet<string>;
	/** With title, facts and legend, as an .svg; otherwise the page has them. */
	readonly alone?: boolean;
}
