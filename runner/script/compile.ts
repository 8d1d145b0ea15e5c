import type { Plan } from "../plan/plan.ts";
import {
	formatBytesExact,
	formatCount,
	formatDurationExact,
	formatRate,
	ratePerSecond,
} from "../units.ts";
import { comment, js, raw } from "./js.ts";
import { options } from "./options.ts";

/** What k6 needs for one run: a script that a person can read, and the `plan.json` that it opens. */
export interface Compiled {
	readonly script: string;
	readonly planJson: string;
}

/** Writes the k6 script of a run. Both files belong into one folder. */
export function compile(plan: Plan): Compiled {
	return {
		script: script(plan),
		planJson: `${JSON.stringify(plan, null, 2)}\n`,
	};
}

// --- internal ---

function script(plan: Plan): string {
	const { schedule } = plan;
	const warmup =
		schedule.warmupNs === 0
			? "no warm-up"
			: `${formatDurationExact(schedule.warmupNs)} of warm-up`;
	const what = `${plan.pattern}, ${formatBytesExact(plan.message.bytes)} messages, ${formatRate(schedule.rate)} for ${formatDurationExact(schedule.durationNs)} after ${warmup}`;
	const perSecond = rounded(ratePerSecond(schedule.rate));
	const perSlot = rounded(
		ratePerSecond(schedule.rate) / plan.heartbeat.slotsPerSecond,
	);
	const driver = raw(identifier(plan.broker));
	return js`${comment(`${plan.scenario}: ${plan.system}, case "${plan.case}", repeat ${plan.repeat} of ${plan.repeats}`)}
${comment(what)}
import mqbench from 'k6/x/mqbench';
import ${driver} from ${`k6/x/mqbench/${plan.broker}`};

export const messagesPerSecond = ${perSecond}; ${comment(`= ${plan.heartbeat.slotsPerSecond} slots/s x ${perSlot} messages`)}

// plan.json has the exact time of each of the ${raw(formatCount(schedule.messages))} messages, warm-up included. k6 only hands out
// slots, stretches of that schedule; a pacer sends every message at its own time and makes up for ticks that
// k6 drops.
const run = mqbench.load(${driver}, open('./plan.json'));

// The same for every load: the heartbeat lasts 2 s longer than the schedule, then waits for the drain.
export const options = ${options(plan)};

export default () => run.slot();
`;
}

/** The driver's name as a variable: brokers' names are words, a dash at most. */
function identifier(broker: string): string {
	return broker.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string = "") =>
		next.toUpperCase(),
	);
}

/** For a reader; the exact ratio is in plan.json. */
function rounded(value: number): number {
	return Number(value.toPrecision(8));
}
