import { CATCH_UP } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";
import { percent } from "../text/percent.ts";
import {
	formatBytes,
	formatBytesExact,
	formatCount,
	formatDurationExact,
	formatRate,
	plural,
} from "../units.ts";

/** "fan-out of 256B, 1000/s for 10s after 5s warm-up; 4 producers on 4 connections, ..." */
export function describe(plan: Plan): string {
	// A search's durations follow from its rates and the SLA.
	const load =
		plan.search?.role === "start"
			? `${rateText(plan)} at first, ${afterText(plan.schedule)}`
			: `${rateText(plan)} ${timeText(plan)}`;
	if (plan.pattern === CATCH_UP) {
		const after = formatDurationExact(plan.beside?.startNs ?? 0);
		return `catch-up: from ${after} after the run's start on, ${plural(plan.consumerConnections, "connection")} read ${plural(plan.topics.length, "topic")} of the run from the beginning`;
	}
	return [
		`${plan.pattern} of ${sizesText(plan.message)}, ${load}`,
		topology(plan),
		...pieces(plan),
		...backlog(plan),
		...extras(plan),
	].join("; ");
}

export type Load = Pick<Plan, "phases" | "inFlight"> & { readonly schedule: Plan["schedule"] };

/** "3000/s", "3000/s at random times", "4 steps from 1000/s to 8000/s", "stages up to 5000/s", "100 000 messages". */
export function rateText({ schedule, phases }: Load): string {
	const { kind, rate, pieces, messages, warmupMessages } = schedule;
	if (kind === "closed" || rate === null)
		return `${formatCount(messages - warmupMessages)} messages`;
	if (kind === "poisson") return `${formatRate(rate)} at random times`;
	if (kind === "constant") return formatRate(rate);
	const steps =
		phases.length > 1 &&
		pieces.every(({ from, to }) => from.messages === to.messages && from.perNs === to.perNs);
	const measured = steps ? pieces.slice(-phases.length) : [];
	const [first, last] = [measured[0], measured.at(-1)];
	return first && last
		? `${phases.length} steps from ${formatRate(first.to)} to ${formatRate(last.to)}`
		: `stages up to ${formatRate(rate)}`;
}

/** "for 10s after 1s warm-up"; for a closed load its longest duration. */
export function timeText({ schedule }: Pick<Load, "schedule">): string {
	const { kind, durationNs, warmupMessages } = schedule;
	if (kind === "closed")
		return `in a closed loop ${warmupMessages === 0 ? "without warm-up" : `after ${formatCount(warmupMessages)} to warm up`}, at most ${formatDurationExact(durationNs)}`;
	return `for ${formatDurationExact(durationNs)} ${afterText(schedule)}`;
}

export function afterText(schedule: Load["schedule"]): string {
	return schedule.warmupNs === 0 ? "without warm-up" : `after ${warmupText(schedule)}`;
}

/** "5s warm-up"; "warm-up until steady (14s to 1min)", and when the window has opened "14s warm-up until steady". */
export function warmupText(schedule: Pick<Plan["schedule"], "steady" | "warmupNs">): string {
	const { steady, warmupNs } = schedule;
	if (steady === null) return `${formatDurationExact(warmupNs)} warm-up`;
	return warmupNs < steady.toNs
		? `${formatDurationExact(warmupNs)} warm-up until steady`
		: `warm-up until steady (${formatDurationExact(steady.fromNs)} to ${formatDurationExact(steady.toNs)})`;
}

/** "80% 256B, 20% 4KiB (mean 1.02KiB)", with the shares that a distribution's bounds changed. */
export function sizesText({ sizes, bytes }: Plan["message"]): string {
	if (sizes === null) return formatBytesExact(bytes);
	const all = sum(sizes.runs.map(([, count]) => count));
	const clamped = (n: number, how: string) => (n > 0 ? `, ${percent(n / all)} ${how}` : "");
	const { below, above } = sizes.clamped;
	const least = formatBytesExact(sizes.runs[0]?.[0] ?? 0);
	return `${sizes.text} (mean ${formatBytes(sizes.meanBytes)}${clamped(below, `raised to ${least}`)}${clamped(above, `cut to ${formatBytesExact(bytes)}`)})`;
}

// --- internal ---

function topology(plan: Plan): string {
	if (plan.pattern === "connect")
		return `each on a new connection, ${plan.hold === 0 ? "closed afterwards" : `of which the newest ${formatCount(plan.hold)} stay open`}`;
	const { consumers, subscriptions, consumerConnections, partitions, bystanders } = plan;
	const noun = plan.pattern === "request-reply" ? "responder" : "consumer";
	const group = consumers > 0 ? plural(consumers, noun) : null;
	const receivers = plan.pattern === "fan-out" ? plural(subscriptions, "subscriber") : group;
	return [
		`${plural(plan.producers, "producer")} on ${plural(plan.connections, "connection")}`,
		`${plural(plan.topics.length, "topic")}${partitions > 1 ? ` of ${partitions} partitions` : ""}`,
		...(receivers === null ? [] : [`${receivers} on ${plural(consumerConnections, "connection")}`]),
		...(plan.wildcard ? ["subscribed by a wildcard"] : []),
		...(bystanders > 0 ? [plural(bystanders, "bystander")] : []),
	].join(", ");
}

function pieces({ schedule, phases }: Plan): string[] {
	if (schedule.kind !== "stages") return [];
	const [first] = schedule.pieces;
	const rest = schedule.pieces.slice(schedule.warmupNs > 0 ? 1 : 0);
	const steps = phases.length > 0;
	const parts = rest.map(({ durationNs, to }) =>
		steps
			? `${formatRate(to)} for ${formatDurationExact(durationNs)}`
			: `to ${formatRate(to)} in ${formatDurationExact(durationNs)}`,
	);
	const shown = parts.length > 12 ? [...parts.slice(0, 6), "...", ...parts.slice(-2)] : parts;
	return [`${steps || !first ? "" : `from ${formatRate(first.from)} `}${shown.join(", ")}`];
}

function backlog({ backlog: held, schedule }: Plan): string[] {
	if (held === null) return [];
	const pause = held.pauseNs - schedule.warmupNs;
	const build = held.resumeNs - held.pauseNs;
	const drain = schedule.durationNs - pause - build;
	return [
		`consumers pause after ${formatDurationExact(pause)} for ${formatDurationExact(build)} while ${plural(held.messages, "message")} pile up, and have ${formatDurationExact(drain)} to drain them`,
	];
}

function extras(plan: Plan): string[] {
	const { inFlight, keys, work, message } = plan;
	const { randomRatio, file } = message;
	const startNs = plan.beside?.startNs ?? 0;
	return [
		startNs > 0 && `begins ${formatDurationExact(startNs)} after the run`,
		inFlight !== null && `at most ${formatCount(inFlight)} in flight per producer`,
		work !== null &&
			`${formatDurationExact(work.meanNs)} of work per message${work.distribution === "exponential" ? " on average, exponential" : ""}`,
		keys !== null && `${formatCount(keys.count)} keys, ${keys.distribution}`,
		file !== null && "payload from a file",
		message.payload === "zeros" && "payload of zeros",
		randomRatio < 1 && `${percent(randomRatio, 6)} of payload random`,
	].filter((part) => part !== false);
}
