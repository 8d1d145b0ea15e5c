import { secondsOf } from "../model/line-seconds.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import { TALLIES, Tally } from "../model/tallies.ts";
import { messagesBefore } from "../plan/offset.ts";
import { say } from "../text/say.ts";
import { formatCount, formatDuration } from "../units.ts";
import { standsFor } from "../verdict/repeats.ts";
import type { Outcome } from "./outcomes.ts";
import { offenderText } from "./words.ts";
import { runsOf, worstRun } from "./worst-repeat.ts";

/**
 * When a gate broke: "worst in the second that began 4s after the window opened: p99 490ms, max 500ms", "first lost: producer 0, ...",
 * "by the kill of node 2 (the leader), 4s after the window opened".
 * Of one that compares, which is about all repeats at once, the worst second of them all, with its repeat. null: not known.
 */
export function timeText(outcome: Outcome, result: Result): string | null {
	if (outcome.of.kind !== "gate") return null;
	const { gate } = outcome.of;
	if (gate.verdict === "interrupted" || gate.verdict === "error") return null;
	if (gate.compares) return comparedText(gate, result);
	const run = worstRun(outcome, result);
	if (run === null) return null;
	if (gate.metric !== null) {
		if (gate.metric !== run.main) return null;
		// The first message says more than its second does.
		return standsFor(gate.repeats)?.censored
			? (offenderText("lost", run) ?? offenderText("failed", run))
			: text(slowest(run));
	}
	const name = gate.tally?.name ?? "";
	const { fault, atNs } = standsFor(gate.repeats)?.values ?? {};
	if (typeof fault === "string" && typeof atNs === "number")
		return say("by-fault", { fault, atNs }).text;
	return text(fewest(run, name)) ?? offenderText(name, run);
}

// --- internal ---

type Second = Run["series"]["seconds"][number];

/** A second of a run, and what was bad in it. */
interface Found {
	readonly kind: "worst" | "fewest";
	/** From the opening of the window. */
	readonly second: number;
	readonly seconds: number;
	/** The larger the worse, among seconds of the same gate. */
	readonly badness: number;
	readonly figures: readonly string[];
}

function text(worst: Found | null, where = ""): string | null {
	return worst === null ? null : say("worst-second", { ...worst, where }).text;
}

function comparedText(gate: Gate, result: Result): string | null {
	const all = runsOf(gate, result);
	const worstOfRuns = all.filter(counts).flatMap((run) => {
		const worstSecond =
			gate.metric === null
				? fewest(run, gate.comparison?.metric ?? "")
				: gate.metric === run.main
					? slowest(run)
					: null;
		return worstSecond === null ? [] : [{ one: worstSecond, repeat: run.repeat }];
	});
	const worst = most(worstOfRuns, ({ one }) => one.badness);
	if (worst === null) return null;
	return text(worst.one, all.length > 1 ? `repeat ${worst.repeat} of ${all.length}, ` : "");
}

/** Of a run that does not, no second is worth a name. */
function counts(run: Run): boolean {
	return run.state === "complete" && run.verdict !== "invalid";
}

/** Of the main metric, by intended time: where p99 is largest, without one the largest message. */
function slowest(run: Run): Found | null {
	const worst = most(
		run.series.seconds.filter((s) => s.second >= 0),
		sizeOf,
	);
	if (worst === null) return null;
	const { second, count, missing, p99, max } = worst;
	// Where some never completed the largest of the others is no maximum.
	const figures = [
		...(p99 === null ? [] : [`p99 ${formatDuration(p99)}`]),
		...(missing
			? [`${formatCount(missing)} of ${formatCount(count + missing)} never completed`]
			: max === null
				? []
				: [`max ${formatDuration(max)}`]),
	];
	return figures.length === 0
		? null
		: { kind: "worst", second, seconds: secondsOf(worst), badness: sizeOf(worst), figures };
}

/** What never completed is worse than any time, and more of it worse than less. */
function sizeOf({ p99, max, missing }: Second): number {
	if (p99 === null && missing) return Number.MAX_SAFE_INTEGER * (1 + missing);
	return p99 ?? max ?? -1;
}

/** Of the whole seconds within the window, by real time, where least came through of what was due. In an idle step nothing was. */
function fewest({ series, window, load }: Run, name: string): Found | null {
	const tally = Tally.safeParse(name).data;
	const { tick: field, label } = tally ? TALLIES[tally] : {};
	// A closed load runs as fast as it can: its slowest second is no event.
	if (field === undefined || load.schedule.kind === "closed") return null;
	const within = series.ticks
		.map((tick) => ({ ...tick, from: tick.at - secondsOf(tick) }))
		.filter(({ at, from }) => from * 1e9 >= window.startNs && at * 1e9 <= window.endNs)
		.map((tick) => ({
			second: tick.from - window.startNs / 1e9,
			seconds: secondsOf(tick),
			count: tick[field],
			due:
				messagesBefore(load.schedule, tick.at * 1e9) -
				messagesBefore(load.schedule, tick.from * 1e9),
		}))
		.filter((t): t is typeof t & { count: number } => t.count !== null && t.due > 0);
	const worst = most(within, ({ count, due }) => -count / due);
	return (
		worst && {
			kind: "fewest" as const,
			second: worst.second,
			seconds: worst.seconds,
			badness: -worst.count,
			figures: [`${formatCount(worst.count)} ${label}`],
		}
	);
}

/** The first of the largest; null: there are none. */
function most<T>(all: readonly T[], size: (one: T) => number): T | null {
	const [first, ...others] = all;
	return first === undefined ? null : others.reduce((a, b) => (size(b) > size(a) ? b : a), first);
}
