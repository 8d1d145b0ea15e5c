import { type Rate, ratePerSecond } from "../units.ts";
import { backlogTimes } from "./backlog.ts";
import type { Case, Fault, Load, Scenario } from "./scenario.ts";

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
function faults(
	{ faults: all, cases: long }: Scenario,
	short: readonly Case[],
): Fault[] {
	const ratio = Math.min(
		1,
		...long.map((one, i) => (short[i]?.durationNs ?? 0) / one.durationNs),
	);
	return all.map(({ atNs, forNs, ...fault }) => ({
		...fault,
		atNs: Math.floor(atNs * ratio),
		forNs: forNs === null ? null : Math.ceil(forNs * ratio),
	}));
}

function shortened(one: Case): Case {
	const { load } = one;
	if (load.kind === "closed") return closed(one, load);
	if (load.kind === "stages") {
		const stages = parts(load.stages, ({ target }) => target);
		return open(one, { ...load, stages }, sum(stages));
	}
	if (load.kind === "steps") {
		const steps = parts(load.steps, ({ rate }) => rate);
		return open(one, { ...load, steps }, sum(steps));
	}
	const windowNs = Math.max(WINDOW_NS, untilDue(load.rate, 1));
	return one.backlog === null
		? open(one, load, Math.min(one.durationNs, windowNs))
		: backlog(one, load.rate, one.backlog);
}

function open(one: Case, load: Load, durationNs: number): Case {
	return {
		...one,
		load,
		find: null,
		warmupNs: Math.min(one.warmupNs, WARMUP_NS),
		durationNs,
	};
}

function closed(one: Case, load: Extract<Load, { kind: "closed" }>): Case {
	const { producers } = one;
	const most = one.messageBytes >= LARGE_BYTES ? LARGE_MESSAGES : MESSAGES;
	// A producer without a message would be another topology.
	const messages = Math.min(load.messages, Math.max(most, producers));
	const share = Math.ceil(messages / producers);
	return {
		...one,
		load: {
			...load,
			messages,
			warmupMessages: Math.min(load.warmupMessages, Math.ceil(messages / 10)),
		},
		durationNs: Math.min(one.durationNs, CLOSED_NS),
		inFlight: one.inFlight === null ? null : Math.min(one.inFlight, share),
	};
}

/** What piles up shrinks as the window does; at most a second's worth, so that there is as long to drain as before. */
function backlog(one: Case, rate: Rate, messages: number): Case {
	const scaled = Math.floor((messages * WINDOW_NS) / one.durationNs);
	const second = Math.floor(ratePerSecond(rate));
	const fewer = Math.min(messages, Math.max(1, Math.min(scaled, second)));
	const { neededNs } = backlogTimes(WINDOW_NS, rate, fewer);
	const windowNs = Math.max(WINDOW_NS, neededNs);
	return one.durationNs <= windowNs
		? open(one, one.load, one.durationNs)
		: { ...open(one, one.load, windowNs), backlog: fewer };
}

/** Stages or steps in the same proportions, each of whole seconds, and long enough for two messages. */
function parts<Part extends { readonly durationNs: number }>(
	all: readonly Part[],
	rateOf: (part: Part) => Rate,
): Part[] {
	const ratio = Math.min(1, WINDOW_NS / sum(all));
	return all.map((part) => {
		const whole = Math.floor((part.durationNs * ratio) / SECOND) * SECOND;
		const rate = rateOf(part);
		const due = rate.messages === 0 ? 0 : untilDue(rate, 2);
		return {
			...part,
			durationNs: Math.min(part.durationNs, Math.max(whole, SECOND, due)),
		};
	});
}

/** Whole seconds in which so many messages are due. */
function untilDue({ messages, perNs }: Rate, count: number): number {
	return Math.ceil((count * perNs) / messages / SECOND) * SECOND;
}

function sum(all: readonly { readonly durationNs: number }[]): number {
	return all.reduce((total, { durationNs }) => total + durationNs, 0);
}
