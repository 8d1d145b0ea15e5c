import type { Metric, Plan } from "../model/plan.ts";
import { type Measured, samplesPerMessage } from "../plan/samples.ts";
import { formatCount, formatDuration, ratePerSecond } from "../units.ts";

/** What says how fast samples come: a plan, or the load of a result. */
interface Sending extends Measured {
	readonly schedule: Pick<
		Plan["schedule"],
		"kind" | "rate" | "durationNs" | "warmupMessages" | "messages"
	>;
}

/** Messages per second that the schedule means to send in the window, on average; null: a closed load means to send none. */
export function meanRate({ schedule }: Pick<Sending, "schedule">): number | null {
	const { kind, rate, messages, warmupMessages, durationNs } = schedule;
	if (kind === "closed" || rate === null || durationNs === 0) return null;
	// Exact, where the count of a window is off by its edges.
	return kind === "stages" ? ((messages - warmupMessages) * 1e9) / durationNs : ratePerSecond(rate);
}

/** "34s at this rate", "34s at this mean rate", "messages: 100000": what carries so many samples of the metric. */
export function windowFor(samples: number, of: Sending, metric: Metric): string {
	const messages = Math.ceil(samples / Math.max(1, samplesPerMessage(of, metric)));
	const perSecond = meanRate(of);
	if (perSecond === null || perSecond === 0) return `${formatCount(messages)} messages`;
	const seconds = Math.ceil(messages / perSecond);
	const mean = of.schedule.kind === "stages" ? "mean " : "";
	return `${formatDuration(seconds * 1e9)} at this ${mean}rate`;
}
