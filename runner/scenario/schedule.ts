import type { Size } from "../model/field.ts";
import { type Load, type Times, windowPieces } from "../model/load.ts";
import { sum } from "../stats/sum.ts";
import { ceilDiv } from "../stats/support.ts";
import { formatRate, type Rate, ratePerSecond } from "../units.ts";
import type { WrittenWorkload } from "./schema.ts";

type Fields = Omit<Partial<WrittenWorkload>, "message"> & { readonly message?: Size | undefined };
type Pieces = Times["pieces"];

/** Fields must be valid; returns null if a required one is missing. */
export function scheduleOf(fields: Fields): Times | null {
	const { rate, stages, steps, messages, warmup } = fields;
	const durationNs = durationOf(fields);
	if (durationNs === null) return null;
	// Closed loads count their warm-up in messages.
	if (messages !== undefined) {
		const written = warmup && "messages" in warmup ? warmup.messages : 0;
		const warmupMessages = warmup === undefined ? Math.ceil(messages / 10) : written;
		return {
			kind: "closed",
			rate: null,
			seed: 0,
			pieces: [],
			warmupNs: 0,
			steady: null,
			durationNs,
			warmupMessages,
			messages: warmupMessages + messages,
		};
	}
	const steady = warmup && "steady" in warmup ? STEADY : null;
	const warmupNs = steady?.toNs ?? (warmup && "ns" in warmup ? warmup.ns : WARMUP_NS);
	const poisson = fields.arrivals === "poisson" && !steps && !stages;
	const first = steps ? steps[0]?.rate : rate;
	if (!first) return null;
	const pieces = steps
		? steps.flatMap((step) => flat(step.rate, step.duration))
		: (stages ?? []).map(({ target, duration }, index) => ({
				durationNs: duration,
				from: stages?.[index - 1]?.target ?? first,
				to: target,
			}));
	return {
		kind: pieces.length > 0 ? "stages" : poisson ? "poisson" : "constant",
		rate: pieces
			.map(({ to }) => to)
			.reduce((a, b) => (ratePerSecond(b) > ratePerSecond(a) ? b : a), first),
		seed: poisson ? (fields.seed ?? 1) : 0,
		pieces: pieces.length > 0 ? [...flat(first, warmupNs), ...pieces] : [],
		warmupNs,
		steady,
		durationNs,
	};
}

/** Length of the window, or the time limit of a closed load. Null if unknown. */
export function durationOf(fields: Fields): number | null {
	const { rate, stages, steps, messages, duration } = fields;
	if (messages !== undefined) return duration ?? CLOSED_NS;
	if (steps) return sum(steps.map((step) => step.duration));
	if (!rate) return null;
	if (stages) return sum(stages.map((stage) => stage.duration));
	return duration ?? (fields.find === undefined ? null : SEARCH_NS);
}

export function phasesOf(steps: Pieces): Load["phases"] {
	let toNs = 0;
	return steps.map(({ to, durationNs }, index) => {
		const fromNs = toNs;
		toNs += durationNs;
		return { name: `step ${index + 1}: ${formatRate(to)}`, fromNs, toNs };
	});
}

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

/** Null for other patterns, or if the message size is unknown. */
export function backlogOf(fields: Fields): number | null {
	const { pattern, backlog, message } = fields;
	if (pattern !== "backlog" || backlog === undefined) return null;
	if (typeof backlog === "number") return backlog;
	if (message === undefined || (typeof message === "object" && "aboveLimit" in message))
		return null;
	return Math.ceil(backlog.bytes / (typeof message === "number" ? message : message.meanBytes));
}

/** Mean over the window; null without a rate. */
export function meanPerSecond(times: Times): number | null {
	const { kind, rate, durationNs } = times;
	if (kind === "closed" || rate === null) return null;
	if (kind !== "stages") return ratePerSecond(rate);
	const due = windowPieces(times).map(
		({ from, to, durationNs: ns }) => ((ratePerSecond(from) + ratePerSecond(to)) / 2) * ns,
	);
	return sum(due) / durationNs;
}

/**
 * `before` is a fifth of the duration, at least 1 s; `build` takes ceil(messages / rate) s; `drain` is the rest. In ns from the window's
 * start, in whole seconds to separate the phases in reports. `neededNs`: the shortest duration with as much time after the pause as before.
 */
export function backlogTimes(durationNs: number, rate: Rate, messages: number) {
	const before = beforeSeconds(durationNs / SECOND);
	const build = Number(
		ceilDiv(BigInt(messages) * BigInt(rate.perNs), BigInt(rate.messages) * BigInt(SECOND)),
	);
	// The ends take two fifths, so the duration is near 5/3 of the build. Search downwards: 14 s may suffice where 15 s do not.
	let need = Math.ceil((5 * build) / 3) + 5;
	while (need - 1 >= 2 * beforeSeconds(need - 1) + build) need--;
	return { pauseNs: before * SECOND, resumeNs: (before + build) * SECOND, neededNs: need * SECOND };
}

// --- internal ---

const SECOND = 1e9;
function beforeSeconds(seconds: number): number {
	return Math.max(1, Math.floor(seconds / 5));
}

const WARMUP_NS = 5e9;
/** 12 s to judge and 2 s to reach the generator (run/warm-up.ts). Kafka on two cores took 35 to 65 s to reach full speed. */
const STEADY = { fromNs: 14e9, toNs: 90e9 };
const CLOSED_NS = 600e9;
/** A step's (reports/METHOD.md, "Searches"). */
const SEARCH_NS = 15e9;

function flat(rate: Rate, durationNs: number): Pieces {
	return durationNs === 0 ? [] : [{ durationNs, from: rate, to: rate }];
}
