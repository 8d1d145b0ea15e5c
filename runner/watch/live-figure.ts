import type { TimeFigure } from "../report/charts/figure.ts";
import { joinedBy, worst } from "../report/charts/points.ts";
import type { CurrentRun, Second } from "./state.ts";

/** More points than this a line does not show: of a longer run each stands for several seconds. */
const MOST_POINTS = 600;
/** The axis of a long run is not wider than this much more than what there is of it, from so many seconds on. */
const WIDER = 1.5;
const SHORT_S = 60;

/** The seconds of the run so far as a picture. `place`: of its system among all. null: there are none yet. */
export function liveFigure(
	{ frame, seconds }: CurrentRun,
	{ place }: { readonly place: number },
): TimeFigure | null {
	const last = seconds.at(-1);
	if (last === undefined) return null;
	const elapsed = last.at - frame.startS;
	const whole = frame.closed ? elapsed : frame.to;
	const most = Math.max(SHORT_S - frame.startS, elapsed * WIDER);
	const size = Math.max(1, Math.ceil(seconds.length / MOST_POINTS));
	const lines = new Lines(seconds, frame.startS, size);
	const panels = PANELS.map((panel) => panel(lines, frame))
		.filter((panel) => panel.lines.length > 0)
		.map((panel) => ({
			...panel,
			lines: panel.lines.map(({ offset, ...line }, i) => ({
				group: line.name,
				hidden: false,
				steps: false,
				dash: i,
				...line,
				colour: offset === 0 ? place : -1,
			})),
		}));
	return {
		kind: "time",
		id: "seconds",
		title: `${frame.metric} and rates by second`,
		// The heading above it says which run it is.
		facts: "",
		description: `${frame.title}, ${last.at} s`,
		width: size,
		from: frame.from,
		// The drain is behind the window's end.
		to: Math.max(Math.min(whole, most), elapsed),
		panels,
		marks: frame.marks,
		unfinished: { stretches: [], beyond: "", unplaced: null },
		slowest: [],
	};
}

// --- internal ---

type Panel = TimeFigure["panels"][number];
type Line = Pick<Panel["lines"][number], "key" | "name" | "points"> & {
	/** From the colour of the system; -1: grey. */
	readonly offset: number;
	readonly steps?: boolean;
	readonly dash?: number;
};
type Draft = Omit<Panel, "lines"> & { readonly lines: readonly Line[] };
type Frame = CurrentRun["frame"];

const PANELS: readonly ((lines: Lines, frame: Frame) => Draft)[] = [
	(lines, { metric, limits }) => {
		const of = (key: "p50" | "p99", offset: number, dash: number) =>
			lines.worst(key, `${key}${lines.whose}`, offset, (s) => s[key], dash);
		return {
			title: `${metric} by second${lines.stretch("worst")}`,
			unit: "ns",
			logarithmic: lines.wide(),
			lines: [...of("p99", 0, 0), ...of("p50", 1, 2)],
			limits,
		};
	},
	(lines) => ({
		title: `messages per second${lines.stretch("mean")}`,
		unit: "messages/s",
		logarithmic: false,
		limits: [],
		lines: lines
			.names("rates")
			.flatMap((name) => lines.mean(name, RATE_COLOURS[name] ?? 1, (s) => named(s.rates, name))),
	}),
	(lines) => ({
		title: `messages in flight${lines.stretch("worst")}`,
		unit: "messages",
		logarithmic: false,
		limits: [],
		lines: [
			...lines.worst("in-flight", "in flight", 0, (s) => s.inFlight),
			...(lines.some((s) => (s.held ?? 0) > 0)
				? lines.worst("held", "held by the library", 1, (s) => s.held)
				: []),
		],
	}),
	(lines) => ({
		title: `cores in use${lines.stretch("mean")}`,
		unit: "cores",
		logarithmic: false,
		limits: [],
		lines: lines
			.names("cores")
			.flatMap((name) => lines.mean(name, CORE_COLOURS[name] ?? 1, (s) => named(s.cores, name))),
	}),
];

/** From the colour of the system, as the report has them. */
const RATE_COLOURS: Readonly<Record<string, number>> = { offered: -1, sent: 0 };
const CORE_COLOURS: Readonly<Record<string, number>> = { machine: -1, broker: 0 };

/** Lines over the seconds of a run; those without any value are left out. */
class Lines {
	readonly #seconds: readonly Second[];
	readonly #startS: number;
	readonly #size: number;

	constructor(seconds: readonly Second[], startS: number, size: number) {
		this.#seconds = seconds;
		this.#startS = startS;
		this.#size = size;
	}

	/** Behind the names of percentiles. */
	get whose(): string {
		return this.#seconds.at(-1)?.whose ?? "";
	}

	/** ", worst of 6 s": what a point stands for, if that is more than its second. */
	stretch(how: "worst" | "mean"): string {
		return this.#size > 1 ? `, ${how} of ${this.#size} s` : "";
	}

	/** Do latencies span more than a factor of 20? */
	wide(): boolean {
		const all = this.#seconds
			.flatMap(({ p50, p99 }) => [p50, p99])
			.filter((v) => v !== null && v > 0) as number[];
		const [low, high] = all.reduce(
			([a, b], v) => [Math.min(a, v), Math.max(b, v)],
			[Number.POSITIVE_INFINITY, 0],
		);
		return high / low > 20;
	}

	some(is: (second: Second) => boolean): boolean {
		return this.#seconds.some(is);
	}

	/** All names of one kind of numbers, in their order. */
	names(of: "rates" | "cores"): string[] {
		return [...new Set(this.#seconds.flatMap((s) => s[of].map(([name]) => name)))];
	}

	/** The largest of each stretch. */
	worst(
		key: string,
		name: string,
		offset: number,
		of: (second: Second) => number | null,
		dash = offset,
	): Line[] {
		const points = worst(
			this.#seconds.map((s) => [s.at - 1 - this.#startS, of(s)]),
			this.#size,
		);
		return shown({ key, name, offset, dash, points });
	}

	/** The mean of each stretch. */
	mean(name: string, offset: number, of: (second: Second) => number | null): Line[] {
		const known = this.#seconds.flatMap((s) => {
			const value = of(s);
			return value === null ? [] : [{ at: s.at - 0.5 - this.#startS, value }];
		});
		const points = joinedBy(
			known,
			({ at }) => Math.floor(at / this.#size),
			(part) => [mean(part.map(({ at }) => at)), mean(part.map(({ value }) => value))],
		);
		const dash = offset < 0 ? 1 : offset * 2;
		return shown({ key: name, name, offset, dash, steps: true, points });
	}
}

function shown(line: Line): Line[] {
	return line.points.some(([, value]) => value !== null) ? [line] : [];
}

function named(
	values: readonly (readonly [name: string, n: number])[],
	name: string,
): number | null {
	return values.find(([one]) => one === name)?.[1] ?? null;
}

function mean(values: readonly number[]): number {
	return values.reduce((a, b) => a + b, 0) / values.length;
}
