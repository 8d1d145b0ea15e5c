import type { Plan } from "../model/plan.ts";
import { plainText } from "../terminal/columns.ts";
import { formatCount, formatDuration } from "../units.ts";
import {
	drainText,
	lastSecond,
	limits,
	phaseText,
	silentText,
	soFar,
	worstOf,
} from "./live-figures.ts";
import type { LiveRun } from "./live-lines.ts";

/** A second of a run as one line, for logs: "  7s/15s measuring  3 000/s  p50 60us  p99 1.5ms  in flight 2". */
export function plainLine({
	plan,
	several,
	tick,
	stopping,
}: Pick<LiveRun, "plan" | "several" | "tick" | "stopping">): string {
	const { kind, warmupNs, durationNs } = plan.schedule;
	const atNs = tick.at * 1e9;
	const endNs = warmupNs + durationNs;
	const phase = stopping ? "stopping" : phaseText(plan, tick);
	// Not by the word: a backlog has a part of its window that is called so.
	const draining = kind !== "closed" && !stopping && atNs > endNs;
	const { metric } = tick;
	const [first = "", ...others] = lastSecond(plan, tick);
	// A closed load is through when it is through.
	const time = draining
		? [drainText(plan, atNs - endNs)]
		: [
				// Who has stopped it waits neither for the end of the schedule nor for a whole drain.
				stopping
					? `${formatDuration(atNs)} ${phase}`
					: kind === "closed"
						? formatDuration(atNs)
						: `${formatDuration(atNs)}/${formatDuration(endNs)} ${phase}`,
				`${formatCount(tick.sent)}/s`,
				`${metric && metric !== "response" && tick.p50 !== null ? `${metric} ` : ""}${first}`,
				...others.map((text) => `${text}${worstOf(tick)}`),
			];
	const silent = silentText(tick);
	const worst = tick.merged ? "worst " : "";
	const broken = limits({ plan, several }, tick).flatMap(({ text, broken }) =>
		broken ? [text] : [],
	);
	return `  ${[
		...time,
		`in flight ${formatCount(tick.inFlight)}`,
		...(tick.failed > 0 ? [`failed ${formatCount(tick.failed)}`] : []),
		...(tick.duplicated > 0 ? [`duplicated ${formatCount(tick.duplicated)}`] : []),
		...(tick.window
			? [`so far ${worst}${soFar(tick.window, [99, 99.9], tick.merged?.fewest).join(", ")}`]
			: []),
		...(typeof tick.windowLagP99 === "number"
			? [`${worst}lag p99 ${formatDuration(tick.windowLagP99)}`]
			: []),
		...(silent === null ? [] : [silent]),
		...broken,
		...(tick.error ? [`CANNOT WRITE RESULTS: ${plainText(tick.error)}`] : []),
	].join("  ")}`;
}

/** Every how many seconds such a line is worth it: a log of an hour is read by nobody. */
export function plainEvery({ schedule }: Plan): number {
	const seconds = (schedule.warmupNs + schedule.durationNs) / 1e9;
	if (seconds <= 60 || schedule.kind === "closed") return 1;
	return seconds <= 600 ? 5 : 30;
}
