import type { Unit } from "../units.ts";

/**
 * A picture before it is drawn: plain data, the same for the page in a browser and for `mqbench report --svg`. Times are ns, seconds
 * count from the window's start (below 0: warm-up), rates are messages per second. What stands in tables, tooltips, CSV and voice is
 * read from the same data.
 */
export interface Figure {
	/** Unique in its page, and name of its .svg: letters, digits and dashes. */
	readonly id: string;
	readonly title: string;
	/** Whoever shows the picture elsewhere takes along what was measured, with which durability, and on what machine. */
	readonly facts: string;
	/** Shared by all panels. */
	readonly x: Axis;
	/** One or more: over seconds below each other with one cursor, else small multiples beside each other. */
	readonly panels: readonly Panel[];
	/** In all panels. */
	readonly spans: readonly Span[];
}

export interface Axis {
	/**
	 * "nines": percentiles below 100, each nine takes the same width. "seconds": of a run. "names": x is the position in `names`.
	 * "date": ms since 1970.
	 */
	readonly scale: "linear" | "log" | "nines" | "seconds" | "names" | "date";
	/** What x is, as tables call it: "second", "size of a message". */
	readonly title: string;
	/** Of linear and log; null: the scale says it. */
	readonly unit: Unit | null;
	readonly names: readonly string[] | null;
	/** null: as far as the data go. */
	readonly from: number | null;
	readonly to: number | null;
	/** Seconds that a datum stands for, it is the middle of them; of other scales 0. */
	readonly step: number;
}

export interface Panel {
	/** What its values are; of small multiples their case, "" where there is one. */
	readonly title: string;
	readonly unit: Unit;
	/** By powers of ten; null: where the values span more than a factor of 20. A reader may choose, except where it is false. */
	readonly log: boolean | null;
	readonly series: readonly Series[];
	readonly limits: readonly Limit[];
}

/** A line, and the switch that turns it on and off. */
export interface Series {
	/** "nats, repeat 2": unique in its panel. */
	readonly name: string;
	/** What its switch and the legend call it, with all that share it: "nats". "": it has none, and is read only where it has data. */
	readonly group: string;
	/**
	 * Which colour, and which mark: position of the system among all of the page, so that it keeps both on every chart. In pictures of
	 * one run its main line has it. -1: grey, for what is no measure of the system or stands beside the main line. -2: what
	 * coordinated omission hides.
	 */
	readonly color: number;
	/** Which dashes, 0 is a full line: where systems are compared by system, in a picture of one run by metric. Never colour alone. */
	readonly dash: number;
	/** One of several repeats that does not decide: drawn thin. */
	readonly thin: boolean;
	/** Joined; the same all over its stretch; apart; areas by number; between two bounds. */
	readonly draw: "line" | "step" | "dots" | "cells" | "band";
	/** x ascends. */
	readonly data: readonly Datum[];
	/** Of a curve of percentiles: its maximum, joined dotted. y null: beyond every value, "12 never completed: > 30s". */
	readonly end?: Datum;
}

export interface Datum {
	readonly x: number;
	/** null: not measured, a gap, never 0; or beyond what was waited for, as `text` says. */
	readonly y: number | null;
	/** Of a cell, which is as wide as a step: it goes from y to here. */
	readonly y2?: number;
	/** Messages in it. */
	readonly n?: number;
	/** The interval of y, or the ends of a band; null: no such bound. */
	readonly low?: number | null;
	readonly high?: number | null;
	/** What is read of it; left out: y in the unit of the panel, "n/a" for null. Of a curve of percentiles: it has a name. */
	readonly text?: string;
	/** Report that the point opens, relative to the page. */
	readonly href?: string;
	/** A verdict: drawn in a form of its own. */
	readonly look?: string;
}

/** A stretch of the x axis with a name. */
export interface Span {
	readonly from: number;
	readonly to: number;
	readonly text: string;
	readonly kind: "warmup" | "phase" | "fault" | "missing";
}

export interface Limit {
	readonly text: string;
	readonly y: number;
	/** At this x; left out: at every one, or of the maximum. */
	readonly x?: number;
}

/** How a person looks at a figure at the moment. */
export interface View {
	readonly theme: "light" | "dark";
	readonly width: number;
	readonly height: number;
	/** The value axis: null as the values suggest. */
	readonly logarithmic: boolean | null;
	/** Groups that are switched off. What is zoomed is the drawing library's to know. */
	readonly off: ReadonlySet<string>;
	/** True: the picture stands on its own, as an .svg does, with title, facts and legend in it. Else those are in the page around it. */
	readonly alone?: boolean;
}
