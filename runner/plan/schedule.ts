import type { Plan, Schedule } from "../model/plan.ts";
import { backlogTimes } from "../scenario/backlog.ts";
import type { Case, Load } from "../scenario/scenario.ts";
import { formatRate, type Rate, ratePerSecond } from "../units.ts";
import { messagesBefore } from "./offset.ts";

/** The shape of a case's load, and how many messages that makes. */
export function scheduleOf(one: Case): Schedule {
	const { load, warmupNs, durationNs } = one;
	if (load.kind === "closed")
		return {
			kind: "closed",
			rate: null,
			seed: 0,
			pieces: [],
			warmupNs: 0,
			durationNs,
			warmupMessages: load.warmupMessages,
			messages: load.warmupMessages + load.messages,
		};
	return counted({
		kind: load.kind === "steps" ? "stages" : load.kind,
		rate: copy(highest(load)),
		seed: "seed" in load ? load.seed : 0,
		pieces: pieces(load, warmupNs),
		warmupNs,
		durationNs,
	});
}

/** The same with the messages that are due before and in the window. */
export function counted(
	shape: Omit<Schedule, "warmupMessages" | "messages">,
): Schedule {
	return {
		...shape,
		warmupMessages: messagesBefore(shape, shape.warmupNs),
		messages: messagesBefore(shape, shape.warmupNs + shape.durationNs),
	};
}

/** Stretches of the window that are told apart: steps, and what a backlog goes through. */
export function phasesOf(one: Case): Plan["phases"] {
	const { load } = one;
	if (load.kind === "steps") {
		let fromNs = 0;
		return load.steps.map(({ rate, durationNs }, index) => {
			const phase = {
				name: `step ${index + 1}: ${formatRate(rate)}`,
				fromNs,
				toNs: fromNs + durationNs,
			};
			fromNs = phase.toNs;
			return phase;
		});
	}
	const times = backlogTimesOf(one);
	return times === null
		? []
		: [
				{ name: "before", fromNs: 0, toNs: times.pauseNs },
				{ name: "build", fromNs: times.pauseNs, toNs: times.resumeNs },
				{ name: "drain", fromNs: times.resumeNs, toNs: one.durationNs },
			];
}

/** When consumers pause, in ns since T0. */
export function backlogOf(one: Case): Plan["backlog"] {
	const times = backlogTimesOf(one);
	return times === null || one.backlog === null
		? null
		: {
				pauseNs: one.warmupNs + times.pauseNs,
				resumeNs: one.warmupNs + times.resumeNs,
				messages: one.backlog,
			};
}

// --- internal ---

type OpenLoad = Exclude<Load, { kind: "closed" }>;

function backlogTimesOf({ backlog, load, durationNs }: Case) {
	return backlog === null || load.kind !== "constant"
		? null
		: backlogTimes(durationNs, load.rate, backlog);
}

function highest(load: OpenLoad): Rate {
	if ("rate" in load) return load.rate;
	const rates =
		load.kind === "steps"
			? load.steps.map(({ rate }) => rate)
			: [load.from, ...load.stages.map(({ target }) => target)];
	return rates.reduce((a, b) => (ratePerSecond(b) > ratePerSecond(a) ? b : a));
}

/** From T0 on: the warm-up at the first rate, then the stages or steps. */
function pieces(load: OpenLoad, warmupNs: number): Schedule["pieces"] {
	if (load.kind === "stages") {
		const { from, stages } = load;
		return [
			...flat(from, warmupNs),
			...stages.map(({ target, durationNs }, index) => ({
				durationNs,
				from: copy(stages[index - 1]?.target ?? from),
				to: copy(target),
			})),
		];
	}
	if (load.kind !== "steps") return [];
	const [first] = load.steps;
	return [
		...(first ? flat(first.rate, warmupNs) : []),
		...load.steps.flatMap(({ rate, durationNs }) => flat(rate, durationNs)),
	];
}

function flat(rate: Rate, durationNs: number): Schedule["pieces"] {
	return durationNs === 0
		? []
		: [{ durationNs, from: copy(rate), to: copy(rate) }];
}

function copy({ messages, perNs }: Rate): Rate {
	return { messages, perNs };
}
