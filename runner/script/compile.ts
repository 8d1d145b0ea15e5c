import type { Plan } from "../model/plan.ts";
import { describe } from "../plan/load-text.ts";
import { formatCount, formatDurationExact, ratePerSecond } from "../units.ts";
import { comment, js, raw } from "./js.ts";

/** Both files belong in one folder, unless the script contains the plan (`inline`). */
export function compile(plan: Plan, { inline = false } = {}) {
	return { script: script(plan, inline), planJson: `${JSON.stringify(plan, null, 2)}\n` };
}

/** The heartbeat that hands out slots, the same for every load; plan.json has the load's shape. */
export function options({ heartbeat }: Plan) {
	return {
		scenarios: {
			heartbeat: {
				executor: "constant-arrival-rate",
				rate: heartbeat.slotsPerSecond,
				timeUnit: "1s",
				duration: k6Duration(heartbeat.durationNs),
				preAllocatedVUs: heartbeat.vus,
				maxVUs: heartbeat.vus,
				gracefulStop: k6Duration(heartbeat.gracefulStopNs),
			},
		},
	};
}

// --- internal ---

function script(plan: Plan, inline: boolean): string {
	const { schedule, heartbeat, client } = plan;
	const { rate, warmupNs, durationNs } = schedule;
	const longerMs = Math.floor((heartbeat.durationNs - warmupNs - durationNs) / 1e6);
	const who = client.count === 1 ? "" : " of so many clients";
	const slots = `${heartbeat.slotsPerSecond} slots/s`;
	const perSlot = rate && ratePerSecond(rate) / heartbeat.slotsPerSecond;
	const amount = raw(formatCount(schedule.messages));
	const load =
		rate === null || perSlot === null
			? js`export const messages = ${schedule.messages}; ${comment("warm-up included; a closed load, as fast as inFlight allows")}

${comment("Closed loop: once the first slot comes, every producer sends as fast as it may. k6 keeps the time, at most")}
${comment(`${formatDurationExact(schedule.durationNs)}, and the plan says how many messages there are.`)}`
			: js`export const messagesPerSecond = ${rounded(ratePerSecond(rate))}; ${comment(`${QUALITY[schedule.kind] ?? ""}= ${slots} x ${rounded(perSlot)} messages`)}

// ${raw(inline ? "The plan" : "plan.json")} has the exact time of each of the ${amount} messages, warm-up included. k6 only hands out
// slots, stretches of that schedule; a pacer sends every message at its own time and makes up for ticks that
// k6 drops.`;
	// Brokers' names are words with at most a dash.
	const camel = (_: string, next = "") => next.toUpperCase();
	const driver = raw(plan.broker.replaceAll(/[^A-Za-z0-9]+(.)?/g, camel));
	return js`${comment(`${plan.scenario}: ${plan.system}, case "${plan.case}", repeat ${plan.repeat} of ${plan.repeats}`)}
${comment(describe(plan))}
import mqbench from 'k6/x/mqbench';
import ${driver} from ${`k6/x/mqbench/${plan.broker}`};

${raw(load)}${raw(clients(plan))}
const run = mqbench.load(${driver}, ${raw(inline ? js`JSON.stringify(${JSON.parse(JSON.stringify(plan))})` : "open('./plan.json')")});

${comment(`The same for every load${who}: the heartbeat lasts ${longerMs / 1000} s longer than the schedule, then waits for the drain.`)}
export const options = ${options(plan)};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
`;
}

function clients({ client: { count } }: Plan): string {
	if (count === 1) return "";
	return js`
//
${comment(`${count} clients run this script, each with its own part of the heartbeat (--execution-segment). Who sends which`)}
// message follows from plan.json, and T0 is handed out once all are ready: together they send what one would.`;
}

const QUALITY: Readonly<Partial<Record<Plan["schedule"]["kind"], string>>> = {
	poisson: "on average; ",
	stages: "at most; ",
};

function rounded(value: number): number {
	return Number(value.toPrecision(8));
}

/** k6 reads whole seconds best; it has no "min". */
function k6Duration(ns: number): string {
	return ns % 1e9 === 0 ? `${ns / 1e9}s` : `${Math.ceil(ns / 1e6)}ms`;
}
