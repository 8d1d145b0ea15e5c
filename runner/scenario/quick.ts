import { smallestOf } from "../extremes.ts";
import { type Times, windowPieces } from "../model/load.ts";
import { type Rate, ratePerSecond } from "../units.ts";
import { backlogTimes } from "./backlog.ts";
import type { Case, Fault, Scenario } from "./scenario.ts";
import { heldBack, phasesOf } from "./schedule.ts";

/**
 * `--quick`: the same scenario, so short that it only shows that it works. Systems, cases, their names and their topology
 * stay as they are; warm-up, window, messages and backlog shrink, faults move with the window, each case is run once, and
 * `find: max-rate` becomes one run at the rate where the search would begin: three probes would look like an answer. Nothing
 * becomes longer than it was. `strict` is left aside, as no percentile can be deep, and baselines, as one run is not compared.
 */
export function shorten(scenario: Scenario): Scenario {
	const cases = scenario.cases.map(shortened);
	return {
		...scenario,
		quick: true,
		strict: false,
		repeat: 1,
		baselineSla: [],
		baseline: null,
		cases,
		faults: faults(scenario, cases),
	};
}

// --- internal ---

const SECOND = 1e9;
const WARMUP_NS = SECOND;
const WINDOW_NS = 3 * SECOND;
/** A closed load has its messages, and this long at most. */
const CLOSED_NS = 60 * SECOND;
const MESSAGES = 2000;
const LARGE_MESSAGES = 200;
const LARGE_BYTES = 64 * 1024;

/** Each at the same part of the window that shrank most, and for the same part of it: in their order, and over in time. */
function faults({ faults: all, cases: long }: Scenario, short: readonly Case[]): Fault[] {
	const ratio = Math.min(
		1,
		smallestOf(
			long.map(({ schedule }, i) => (short[i]?.schedule.durationNs ?? 0) / schedule.durationNs),
		),
	);
	return all.map(({ atNs, forNs, ...fault }) => ({
		...fault,
		atNs: Math.floor(atNs * ratio),
		forNs: forNs === null ? null : Math.ceil(forNs * ratio),
	}));
}

function shortened(one: Case): Case {
	const { schedule, backlog } = one;
	const { rate, durationNs } = schedule;
	if (schedule.kind === "closed") return closed(one, schedule);
	if (schedule.kind === "stages" || rate === null) return inPieces(one);
	if (backlog !== null) return heldShorter(one, rate, backlog.messages);
	const windowNs = Math.max(WINDOW_NS, untilDue(rate, 1));
	return open(one, { durationNs: Math.min(durationNs, windowNs) });
}

function open(
	one: Case,
	{ durationNs, pieces = [] }: Pick<Times, "durationNs"> & Partial<Times>,
): Case {
	const warmupNs = Math.min(one.schedule.warmupNs, WARMUP_NS);
	return {
		...one,
		find: null,
		schedule: { ...one.schedule, pieces, warmupNs, steady: null, durationNs },
	};
}

function closed(
	one: Case,
	{ messages, warmupMessages, ...rest }: Extract<Times, { readonly kind: "closed" }>,
): Case {
	const { producers } = one;
	const { size } = one.message;
	const small = typeof size === "number" && size < LARGE_BYTES;
	const most = small ? MESSAGES : LARGE_MESSAGES;
	// A producer without a message would be another topology.
	const measured = Math.min(messages - warmupMessages, Math.max(most, producers));
	const warmup = Math.min(warmupMessages, Math.ceil(measured / 10));
	const share = Math.ceil(measured / producers);
	return {
		...one,
		schedule: {
			...rest,
			durationNs: Math.min(rest.durationNs, CLOSED_NS),
			warmupMessages: warmup,
			messages: warmup + measured,
		},
		inFlight: one.inFlight === null ? null : Math.min(one.inFlight, share),
	};
}

/** What piles up shrinks as the window does; at most a second's worth, so that there is as long to drain as before. */
function heldShorter(one: Case, rate: Rate, messages: number): Case {
	const { durationNs } = one.schedule;
	const scaled = Math.floor((messages * WINDOW_NS) / durationNs);
	const second = Math.floor(ratePerSecond(rate));
	const fewer = Math.min(messages, Math.max(1, Math.min(scaled, second)));
	const { neededNs } = backlogTimes(WINDOW_NS, rate, fewer);
	const windowNs = Math.max(WINDOW_NS, neededNs);
	const whole = durationNs <= windowNs;
	const short = open(one, { durationNs: whole ? durationNs : windowNs });
	return { ...short, ...heldBack(short.schedule, whole ? messages : fewer) };
}

/** Stages or steps in the same proportions, each of whole seconds, and long enough for two messages. */
function inPieces(one: Case): Case {
	const long = windowPieces(one.schedule);
	const ratio = Math.min(1, WINDOW_NS / sum(long));
	const short = long.map((piece) => {
		const whole = Math.floor((piece.durationNs * ratio) / SECOND) * SECOND;
		const due = piece.to.messages === 0 ? 0 : untilDue(piece.to, 2);
		const least = Math.max(whole, SECOND, due);
		return { ...piece, durationNs: Math.min(piece.durationNs, least) };
	});
	const warmup = one.schedule.pieces
		.slice(0, -long.length)
		.map((piece) => ({ ...piece, durationNs: Math.min(piece.durationNs, WARMUP_NS) }));
	return {
		...open(one, { durationNs: sum(short), pieces: [...warmup, ...short] }),
		phases: one.phases.length === 0 ? [] : phasesOf(short),
	};
}

/** Whole seconds in which so many messages are due. */
function untilDue({ messages, perNs }: Rate, count: number): number {
	return Math.ceil((count * perNs) / messages / SECOND) * SECOND;
}

function sum(all: readonly { readonly durationNs: number }[]): number {
	return all.reduce((total, { durationNs }) => total + durationNs, 0);
}
