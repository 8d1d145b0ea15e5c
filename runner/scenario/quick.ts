import { smallestOf } from "../extremes.ts";
import { CATCH_UP, type Times, windowPieces } from "../model/load.ts";
import { sum } from "../stats/sum.ts";
import { type Rate, ratePerSecond } from "../units.ts";
import { phasesBeside } from "./background.ts";
import type { Case, Fault, Scenario } from "./scenario.ts";
import { backlogTimes, heldBack, phasesOf } from "./schedule.ts";

/** Shows that a scenario works. Nothing gets longer; a search becomes one run, because three probes would look like an answer. */
export function shorten(scenario: Scenario): Scenario {
	const cases = scenario.cases.map(withShortened);
	return {
		...scenario,
		quick: true,
		// One short run carries neither deep percentiles nor a comparison.
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
/** Limits the time of its messages. */
const CLOSED_NS = 10 * SECOND;
const MESSAGES = 2000;

/** All keep their share of the window that shrank most, so they stay in order and end in time. */
function faults({ faults: all, cases: long }: Scenario, short: readonly Case[]): Fault[] {
	const ratios = long.map(
		({ schedule }, i) => (short[i]?.schedule.durationNs ?? 0) / schedule.durationNs,
	);
	const ratio = Math.min(1, smallestOf(ratios));
	return all.map(({ atNs, forNs, ...fault }) => ({
		...fault,
		atNs: Math.floor(atNs * ratio),
		forNs: forNs === null ? null : Math.ceil(forNs * ratio),
	}));
}

/** A load that began later begins a second after the window does. */
function withShortened(one: Case): Case {
	const main = shortened(one);
	const { warmupNs, durationNs } = main.schedule;
	const background = one.background.map((load) => {
		const short = shortened(load);
		const lateNs = load.startNs > one.schedule.warmupNs ? SECOND : 0;
		const startNs = load.startNs > 0 ? warmupNs + lateNs : 0;
		const { kind } = load.schedule;
		// It reads the main load's messages.
		if (load.pattern === CATCH_UP) return { ...load, startNs, schedule: main.schedule };
		if (kind === "stages" || kind === "closed") return { ...short, startNs };
		const ns = Math.min(short.schedule.durationNs, durationNs - lateNs);
		return { ...short, startNs, schedule: { ...short.schedule, durationNs: ns } };
	});
	return { ...main, ...phasesBeside(main, background), background };
}

function shortened(one: Case): Case {
	const { schedule, backlog } = one;
	const { kind, rate, durationNs } = schedule;
	if (kind === "closed") {
		const { messages, warmupMessages } = schedule;
		// A producer without a message would be another topology.
		const measured = Math.min(messages - warmupMessages, Math.max(MESSAGES, one.producers));
		const warmup = Math.min(warmupMessages, Math.ceil(measured / 10));
		return {
			...one,
			schedule: {
				...schedule,
				durationNs: Math.min(durationNs, CLOSED_NS),
				warmupMessages: warmup,
				messages: warmup + measured,
			},
		};
	}
	const warmupNs = Math.min(schedule.warmupNs, WARMUP_NS);
	const open = (windowNs: number, pieces: Times["pieces"] = []): Case => ({
		...one,
		find: null,
		schedule: { ...schedule, pieces, warmupNs, steady: null, durationNs: windowNs },
	});
	if (kind === "stages" || rate === null) {
		const window = windowPieces(schedule);
		const short = shorterPieces(window);
		const before = schedule.pieces.slice(0, -window.length);
		const warmup = before.map((piece) => ({ ...piece, durationNs: warmupNs }));
		return {
			...open(sum(short.map((piece) => piece.durationNs)), [...warmup, ...short]),
			phases: one.phases.length === 0 ? [] : phasesOf(short),
		};
	}
	if (backlog === null) return open(Math.min(durationNs, Math.max(WINDOW_NS, untilDue(rate, 1))));
	// The backlog shrinks with the window, to at most a second's messages, which leaves as long to drain as before.
	const scaled = Math.min((backlog.messages * WINDOW_NS) / durationNs, ratePerSecond(rate));
	const fewer = Math.min(backlog.messages, Math.max(1, Math.floor(scaled)));
	const windowNs = Math.max(WINDOW_NS, backlogTimes(WINDOW_NS, rate, fewer).neededNs);
	const whole = durationNs <= windowNs;
	const short = open(whole ? durationNs : windowNs);
	return { ...short, ...heldBack(short.schedule, whole ? backlog.messages : fewer) };
}

/** Keeps the proportions, in whole seconds, each long enough for two messages. */
function shorterPieces(long: Times["pieces"]): Times["pieces"] {
	const ratio = Math.min(1, WINDOW_NS / sum(long.map((piece) => piece.durationNs)));
	return long.map((piece) => {
		const whole = Math.floor((piece.durationNs * ratio) / SECOND) * SECOND;
		const due = piece.to.messages === 0 ? 0 : untilDue(piece.to, 2);
		return { ...piece, durationNs: Math.min(piece.durationNs, Math.max(whole, SECOND, due)) };
	});
}

function untilDue({ messages, perNs }: Rate, count: number): number {
	return Math.ceil((count * perNs) / messages / SECOND) * SECOND;
}
