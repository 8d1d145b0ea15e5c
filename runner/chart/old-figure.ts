export type { View } from "./figure.ts";

/**
 * A picture before it is drawn: plain data, the same for the page in a browser and for `mqbench report --svg`. Times are ns,
 * seconds count from the window's start (below 0: warm-up), rates are messages per second. null: not measured, a gap, never 0.
 */
export type Figure =
	| PercentileFigure
	| TimeFigure
	| HeatFigure
	| RateFigure
	| RatioFigure
	| TrendFigure;

interface Base {
	/** Unique in its page, and name of its .svg: letters, digits and dashes. */
	readonly id: string;
	readonly title: string;
	/** Whoever shows the picture elsewhere takes along what was measured, with which durability, and on what machine. */
	readonly facts: string;
	/** What the picture says, in words, for those who do not see it. */
	readonly description: string;
}

/** A line, and the switch that turns it on and off. Lines of the same group share a switch: panels, repeats. */
export interface SeriesKey {
	/** Unique in the figure; but panels share those of the same process. */
	readonly key: string;
	/** "nats, repeat 2", where it is told apart from all others. */
	readonly name: string;
	/** What its switch and the legend call it, with all that share it: "nats". */
	readonly group: string;
	/**
	 * Which colour, and which mark: position of the system among all of the page, so that it keeps both on every chart. In pictures of
	 * one run its main line has it. -1: grey, for what is no measure of the system or stands beside the main line.
	 */
	readonly colour: number;
	/** Which dashes, 0 is a full line: where systems are compared by system, in a picture of one run by metric. Never colour alone. */
	readonly dash: number;
	/** Off until switched on. */
	readonly hidden: boolean;
	/** One of several repeats that does not decide: drawn thin. */
	readonly thin?: boolean;
}

/** A stretch of seconds, from the window's start, in which samples were due that never came. */
export interface Missing {
	readonly from: number;
	readonly to: number;
	/** Never completed, of how many that were due. */
	readonly count: number;
	readonly due: number;
	/** Keys of the lines whose value lies there among those that never completed: "max", and "p99" where they reach so far. */
	readonly beyond: readonly string[];
	/** The longest that one took which completed, ns; null: none did. */
	readonly longest: number | null;
}

export interface Unfinished {
	/** Ascending; empty: all completed, or nobody knows when those were due that did not. */
	readonly stretches: readonly Missing[];
	/** What such a value is: "> 30s". */
	readonly beyond: string;
	/** "12 never completed, not known in which second"; null: there are none, or it is known. */
	readonly unplaced: string | null;
}

/** HDR curves: latency over percentile, the axis stretched towards 100 % (each nine takes the same room). */
export interface PercentileFigure extends Base {
	readonly kind: "percentiles";
	/** Small multiples with the same axes, one for each case; a single one needs no title. */
	readonly panels: readonly { readonly title: string }[];
	readonly curves: readonly (SeriesKey & {
		/** Position of its panel. */
		readonly panel: number;
		readonly metric: string;
		/** Percentile (0 .. below 100) and value; each value holds until the next. Ends where the samples end to carry. */
		readonly points: readonly (readonly [p: number, value: number])[];
		/** From the last point to the maximum of n samples, dotted; null: some never completed, or nothing was measured. */
		readonly max: { readonly p: number; readonly value: number } | null;
		/** Percentiles with a name, for marks, hover and the table: text as in every other table ("1.2ms", "~ 3ms", "> 30s"). */
		readonly marks: readonly {
			readonly p: number;
			readonly value: number;
			readonly text: string;
			readonly interval: string;
			/** Of the interval; null: no such bound. Left out: not told. */
			readonly low?: number | null;
			readonly high?: number | null;
		}[];
		/** "12 never completed: > 30s"; null: all did. */
		readonly censored: string | null;
	})[];
	/** The area between two curves: what counting from the actual send would have hidden. */
	readonly hidden: readonly {
		readonly upper: string;
		readonly lower: string;
		/** "hidden by coordinated omission: p99 420ms instead of 1.2ms" */
		readonly text: string;
	}[];
	readonly limits: readonly {
		readonly text: string;
		readonly value: number;
		/** null: of the maximum. */
		readonly p: number | null;
	}[];
}

/** Everything of one run over time, panels below each other on one axis of seconds. */
export interface TimeFigure extends Base {
	readonly kind: "time";
	/** Seconds that a point of the first panel stands for: it is the middle of them. */
	readonly width: number;
	readonly from: number;
	readonly to: number;
	readonly panels: readonly {
		readonly title: string;
		readonly unit: "ns" | "messages" | "messages/s" | "cores" | "bytes" | "bytes/s";
		readonly logarithmic: boolean;
		readonly lines: readonly (SeriesKey & {
			/** By second: the middle of the stretch that it stands for. */
			readonly points: readonly (readonly [second: number, value: number | null])[];
			/** Counts are the same all over their stretch; percentiles are joined. */
			readonly steps: boolean;
			/** The same value from its first point to its last: a rate as it is scheduled. Left out: no. */
			readonly throughout?: boolean;
		})[];
		readonly limits: readonly { readonly text: string; readonly value: number }[];
	}[];
	/** Warm-up, phases, faults: a stretch (or, from == to, a moment) with a name. */
	readonly marks: readonly { readonly from: number; readonly to: number; readonly text: string }[];
	readonly unfinished: Unfinished;
}

/** Samples by second of intended time and latency. */
export interface HeatFigure extends Base {
	readonly kind: "heat";
	/** Lower bounds of the latency bins, ns, ascending; the last bin ends at `end`. */
	readonly bins: readonly number[];
	readonly end: number;
	/** Seconds that a column stands for. */
	readonly width: number;
	readonly from: number;
	readonly to: number;
	readonly cells: readonly (readonly [second: number, bin: number, count: number])[];
	readonly limits: readonly { readonly text: string; readonly value: number }[];
	readonly unfinished: Unfinished;
}

/** Latency over a number that is not time: the offered rate of a search, messages in flight, size of a message. */
export interface RateFigure extends Base {
	readonly kind: "rate";
	readonly axis: {
		readonly title: string;
		readonly unit: "messages/s" | "messages" | "bytes" | "cases";
		readonly names: readonly string[] | null;
	};
	/** ns, or messages per second. */
	readonly unit: "ns" | "messages/s";
	readonly lines: readonly (SeriesKey & {
		readonly points: readonly {
			readonly x: number;
			readonly value: number | null;
			readonly low: number | null;
			readonly high: number | null;
			readonly text: string;
		}[];
	})[];
	readonly limits: readonly { readonly text: string; readonly value: number }[];
}

/** One figure of many runs over calendar time: of the index, p99 per scenario and system. */
export interface TrendFigure extends Base {
	readonly kind: "trend";
	readonly unit: "ns" | "messages/s";
	readonly lines: readonly (SeriesKey & {
		readonly points: readonly {
			/** ms since 1970. */
			readonly at: number;
			readonly value: number | null;
			readonly text: string;
			readonly verdict: string;
			/** Report that the point opens, relative to the page; null: none. */
			readonly href: string | null;
		}[];
	})[];
}

/** Ratios of two sides with their intervals, below each other: a forest plot. 1 is no change; above it the second side has more. */
export interface RatioFigure extends Base {
	readonly kind: "ratios";
	readonly rows: readonly {
		/** "response p99" */
		readonly name: string;
		readonly ratio: number;
		/** 95 % interval; null: too few runs for one, or no such bound. */
		readonly low: number | null;
		readonly high: number | null;
		/** Part by which it may be worse, 0.25; it is drawn around 1. */
		readonly margin: number;
		/** "REGRESSED", "shown": as in the table. */
		readonly word: string;
		readonly look: "fail" | "inconclusive" | "pass" | "unknown";
		/** "1.1x [1.02, 1.2]", and the smallest change that such an interval can tell from none. */
		readonly text: string;
	}[];
}
