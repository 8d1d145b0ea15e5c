import type { Plan } from "../model/plan.ts";
import { formatCount, formatDurationExact, formatRate } from "../units.ts";

export type Load = Pick<Plan, "phases" | "inFlight"> & { readonly schedule: Plan["schedule"] };

export const QUICK_MEANS =
	"shortened by --quick to see that the scenario works: the figures are not a result, though a breached SLA still gives exit code 99";

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
export function warmupText({
	steady,
	warmupNs,
}: Pick<Plan["schedule"], "steady" | "warmupNs">): string {
	if (steady === null) return `${formatDurationExact(warmupNs)} warm-up`;
	return warmupNs < steady.toNs
		? `${formatDurationExact(warmupNs)} warm-up until steady`
		: `warm-up until steady (${formatDurationExact(steady.fromNs)} to ${formatDurationExact(steady.toNs)})`;
}
