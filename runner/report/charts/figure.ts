/**
 * A picture before it is drawn: plain data, the same for the page in a browser and for `mqbench report --svg`. Times are ns,
 * seconds count from the window's start (below 0: warm-up), rates are messages per second. null: not measured, a gap, never 0.
 */
export type Figure =
	| PercentileFigure
	| TimeFigure
	| HeatFigure
	| RateFigure
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

/** What a switch turns on and off. Lines of several panels may share one. Dashes are by metric or case; never colour alone. */
export interface SeriesKey {
	/** Unique in the figure; but panels share those of the same process. */
	readonly key: string;
	/** "nats response", in a legend. */
	readonly name: string;
	readonly system: string;
	readonly case: string;
	/**
	 * Which colour: position of the system among all of the page, so that it keeps its colour on every chart. In pictures of one
	 * run its main line has it, the others have those that follow. -1: grey, for what is no measure of the system.
	 */
	readonly colour: number;
	/** Which dashes, 0 is a full line. */
	readonly dash: number;
	/** Off until switched on. */
	readonly hidden: boolean;
	/** Which of several runs that are otherwise alike, "median run": the name of its switch. Left out: their number. */
	readonly run?: string;
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
	readonly curves: readonly (SeriesKey & {
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
		readonly verdict: string;
	}[];
}

/** Everything of one run over time, panels below each other on one axis of seconds. */
export interface TimeFigure extends Base {
	readonly kind: "time";
	readonly from: number;
	readonly to: number;
	readonly panels: readonly {
		readonly title: string;
		readonly unit:
			| "ns"
			| "messages"
			| "messages/s"
			| "cores"
			| "bytes"
			| "bytes/s";
		readonly logarithmic: boolean;
		readonly lines: readonly (SeriesKey & {
			/** By second: the middle of the stretch that it stands for. */
			readonly points: readonly (readonly [
				second: number,
				value: number | null,
			])[];
			/** Counts are the same all over their stretch; percentiles are joined. */
			readonly steps: boolean;
			/** The same value from its first point to its last: a rate as it is scheduled. Left out: no. */
			readonly throughout?: boolean;
		})[];
		readonly limits: readonly {
			readonly text: string;
			readonly value: number;
		}[];
	}[];
	/** Warm-up, phases, faults: a stretch (or, from == to, a moment) with a name. */
	readonly marks: readonly {
		readonly from: number;
		readonly to: number;
		readonly text: string;
	}[];
	readonly unfinished: Unfinished;
}

/** Samples by second of intended time and latency. */
export interface HeatFigure extends Base {
	readonly kind: "heat";
	readonly system: string;
	readonly case: string;
	/** Lower bounds of the latency bins, ns, ascending; the last bin ends at `end`. */
	readonly bins: readonly number[];
	readonly end: number;
	/** Seconds that a column stands for. */
	readonly width: number;
	readonly from: number;
	readonly to: number;
	readonly cells: readonly (readonly [
		second: number,
		bin: number,
		count: number,
	])[];
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

/** How a person looks at a figure at the moment. */
export interface View {
	readonly theme: "light" | "dark";
	readonly width: number;
	readonly height: number;
	/** Keys of lines and curves that are switched off. */
	readonly off: ReadonlySet<string>;
	/** The stretch of the x axis that is shown, in the axis' own numbers; null: all of it. */
	readonly zoom: readonly [from: number, to: number] | null;
	/** The value axis: null as the figure says. */
	readonly logarithmic: boolean | null;
	/** True: the picture stands on its own, as an .svg does, with title, facts and legend in it. Else those are in the page around it. */
	readonly alone?: boolean;
}
