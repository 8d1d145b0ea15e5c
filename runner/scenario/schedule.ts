import { type Load, type Times, windowPieces } from "../model/load.ts";
import { ceilDiv } from "../stats/support.ts";
import { formatRate, type Rate, ratePerSecond } from "../units.ts";
import type { WrittenWorkload } from "./workload-schema.ts";

type Fields = Partial<WrittenWorkload>;
type Pieces = Times["pieces"];

/** The times of a workload whose fields are right by themselves; null when one that they need isn't. */
export function scheduleOf(fields: Fields): Times | null {
	const { rate, stages, steps, messages, warmup } = fields;
	const durationNs = durationOf(fields);
	if (durationNs === null) return null;
	const warmupNs = warmupOf(fields);
	if (messages !== undefined) {
		const warmupMessages = messagesToWarmUp(messages, warmup);
		return {
			kind: "closed",
			rate: null,
			seed: 0,
			pieces: [],
			warmupNs,
			steady: null,
			durationNs,
			warmupMessages,
			messages: warmupMessages + messages,
		};
	}
	const poisson = fields.arrivals === "poisson" && !steps && !stages;
	const first = steps ? steps[0]?.rate : rate;
	if (!first) return null;
	const pieces = steps
		? steps.flatMap((step) => flat(step.rate, step.duration))
		: (stages ?? []).map(({ target, duration }, index) =>
				piece(duration, stages?.[index - 1]?.target ?? first, target),
			);
	return {
		kind: pieces.length > 0 ? "stages" : poisson ? "poisson" : "constant",
		rate: pieces.map(({ to }) => to).reduce(higher, first),
		seed: poisson ? (fields.seed ?? 1) : 0,
		pieces: pieces.length > 0 ? [...flat(first, warmupNs), ...pieces] : [],
		warmupNs,
		steady: untilSteady(fields) ? STEADY : null,
		durationNs,
	};
}

/** Does the warm-up last until latency is steady? */
export function untilSteady({ warmup }: Fields): boolean {
	return warmup !== undefined && "steady" in warmup;
}

/** The window; of messages the longest that they may take. null: nothing says it, or there is no load. */
export function durationOf(fields: Fields): number | null {
	const { rate, stages, steps, messages, duration } = fields;
	if (messages !== undefined) return duration ?? CLOSED_NS;
	if (steps) return sum(steps);
	if (!rate) return null;
	if (stages) return sum(stages);
	return duration ?? (fields.find === undefined ? null : SEARCH_NS);
}

/** Warm-up of a load with a rate; that of messages is counted in messages. */
export function warmupOf(fields: Fields): number {
	const { messages, warmup } = fields;
	if (messages !== undefined) return 0;
	if (untilSteady(fields)) return STEADY.toNs;
	return warmup !== undefined && "ns" in warmup ? warmup.ns : WARMUP_NS;
}

/** A phase for each step of a load. */
export function phasesOf(steps: Pieces): Load["phases"] {
	let toNs = 0;
	return steps.map(({ to, durationNs }, index) => {
		const fromNs = toNs;
		toNs += durationNs;
		return { name: `step ${index + 1}: ${formatRate(to)}`, fromNs, toNs };
	});
}

/** When the consumers of a backlog of so many messages pause, and what the window goes through. */
export function heldBack(
	{ rate, warmupNs, durationNs }: Times,
	messages: number | null,
): Pick<Load, "backlog" | "phases"> {
	if (messages === null || rate === null) return { backlog: null, phases: [] };
	const { pauseNs, resumeNs } = backlogTimes(durationNs, rate, messages);
	return {
		backlog: { pauseNs: warmupNs + pauseNs, resumeNs: warmupNs + resumeNs, messages },
		phases: [
			{ name: "before", fromNs: 0, toNs: pauseNs },
			{ name: "build", fromNs: pauseNs, toNs: resumeNs },
			{ name: "drain", fromNs: resumeNs, toNs: durationNs },
		],
	};
}

/** Messages that pile up; null: the pattern has no backlog, or its size is not known. */
export function backlogOf(fields: Fields): number | null {
	const { pattern, backlog, message } = fields;
	if (pattern !== "backlog" || backlog === undefined) return null;
	if (typeof backlog === "number") return backlog;
	return typeof message === "number" ? Math.ceil(backlog.bytes / message) : null;
}

/** Messages due per second of the window, on average; null: the load has no rate. */
export function meanPerSecond(times: Times): number | null {
	const { kind, rate, durationNs } = times;
	if (kind === "closed" || rate === null) return null;
	if (kind !== "stages") return ratePerSecond(rate);
	const due = windowPieces(times).map(
		({ from, to, durationNs: ns }) => ((ratePerSecond(from) + ratePerSecond(to)) / 2) * ns,
	);
	return due.reduce((all, one) => all + one, 0) / durationNs;
}

/** When the consumers of a backlog pause and resume, in ns from the window's start: whole seconds, so that reports can tell the phases apart. */
interface BacklogTimes {
	readonly pauseNs: number;
	readonly resumeNs: number;
	/** A duration, in whole seconds, from which on there is at least as much time after the resumption as before the pause. */
	readonly neededNs: number;
}

/**
 * `before` is a fifth of the duration, at least 1 s; `build` lasts until `messages` are due: ceil(messages / rate) s; the
 * rest drains.
 */
export function backlogTimes(durationNs: number, rate: Rate, messages: number): BacklogTimes {
	const before = beforeSeconds(durationNs / SECOND);
	const build = Number(
		ceilDiv(BigInt(messages) * BigInt(rate.perNs), BigInt(rate.messages) * BigInt(SECOND)),
	);
	// Two fifths go to both ends, so that it lies near 5/3 of the build. From above: 15 s may be too short where 14 s are not.
	let needed = Math.ceil((5 * build) / 3) + 5;
	while (needed - 1 >= 2 * beforeSeconds(needed - 1) + build) needed--;
	return {
		pauseNs: before * SECOND,
		resumeNs: (before + build) * SECOND,
		neededNs: needed * SECOND,
	};
}

// --- internal ---

const SECOND = 1e9;
function beforeSeconds(seconds: number): number {
	return Math.max(1, Math.floor(seconds / 5));
}

const WARMUP_NS = 5e9;
/** 12 s to judge by and 2 s to tell the generator (run/warm-up.ts). On two cores a Kafka was as fast as it gets after 35 to 65 s. */
const STEADY = { fromNs: 14e9, toNs: 90e9 };
const CLOSED_NS = 600e9;
/** A step of the search measures 15 s at least (reports/README.md, "Searches"). */
const SEARCH_NS = 15e9;

function messagesToWarmUp(messages: number, warmup: Fields["warmup"]): number {
	if (warmup === undefined) return Math.ceil(messages / 10);
	return "messages" in warmup ? warmup.messages : 0;
}

function flat(rate: Rate, durationNs: number): Pieces {
	return durationNs === 0 ? [] : [piece(durationNs, rate, rate)];
}

function piece(durationNs: number, from: Rate, to: Rate): Pieces[number] {
	return { durationNs, from, to };
}

function higher(a: Rate, b: Rate): Rate {
	return ratePerSecond(b) > ratePerSecond(a) ? b : a;
}

function sum(parts: readonly { readonly duration: number }[]): number {
	return parts.reduce((total, { duration }) => total + duration, 0);
}
