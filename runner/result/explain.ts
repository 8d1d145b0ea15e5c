import { largestOf, smallestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import { TALLIES, Tally } from "../model/tallies.ts";
import { messagesBefore } from "../plan/offset.ts";
import { percent } from "../text/percent.ts";
import { formatCount as count, formatDuration as duration, formatTimes } from "../units.ts";
import { standsFor, worstOf } from "../verdict/repeats.ts";
import { adviceOn } from "./advice.ts";
import { NOTHING_JUDGED, type Outcome } from "./outcomes.ts";
import { at } from "./select.ts";
import { showInterval } from "./show.ts";
import { offenderText, searchTitle } from "./words.ts";

/** What a person needs to know of an outcome, without full stops. Every report takes its words from here. */
export interface Explained {
	/** "p99 is 400ms: 40x the limit of 10ms, 390ms above it", "p99 < 20ms is neither met nor breached: 18ms, 1.1x below the limit". Says by itself which line. */
	readonly broke: string;
	/** "3.2ms [3.1ms, 3.4ms]", of several repeats all values; empty: it is no gate. */
	readonly measured: string;
	/** "6.3x below the limit", "40x the limit", of several repeats "6.3x to 6.5x below the limit"; empty for counts. */
	readonly margin: string;
	/** "nats, 256B 1000/s, in repeats 1 and 3 of 3" */
	readonly where: string;
	/** The worst second, or the first message that was lost; null: not known. */
	readonly when: string | null;
	/** null: that is all that `broke` says. */
	readonly why: string | null;
	/** What to do; null: it passed. */
	readonly next: string | null;
}

export function explain(outcome: Outcome, result: Result): Explained {
	const { gate, comparison, verdict, what, why } = outcome;
	const measured = gate ? measuredOf(gate, gate.repeats.length > 1) : "";
	const margin = gate ? marginOf(gate) : "";
	const limited = gate !== undefined && !comparison;
	// What a run measured until it was stopped is no measurement of the line.
	const known = measured !== "n/a" && UNDECIDED[verdict] !== undefined;
	const figures = known ? [measured, margin].filter((part) => part !== "").join(", ") : "";
	const judged = `${what}${UNDECIDED[verdict] ?? " was not judged"}${figures === "" ? "" : `: ${figures}`}`;
	const broke = limited ? (verdict === "fail" && failedText(gate)) || judged : why;
	return {
		broke: comparison ? `${what}: ${why}` : broke,
		measured,
		margin,
		where: whereText(outcome, result),
		when: whenText(outcome),
		why: limited ? why : null,
		next: verdict === "pass" ? null : adviceOn(outcome, result),
	};
}

/** One sentence under the verdict: what it means. */
export function verdictText(result: Result): string {
	const text = meaningOf(result);
	return result.cause === null
		? text
		: `${text}, and no core was free meanwhile: the machine is the cause, or a part of it`;
}

// --- internal ---

// What a verdict means.

const MEANS: Readonly<Record<Result["verdict"], string>> = {
	pass: "every SLA is met",
	fail: "an SLA is breached",
	inconclusive: "the samples do not decide every SLA; measure longer, or repeat",
	invalid: "what is INVALID cannot be trusted, and says nothing about the system",
	interrupted: "the run was stopped; what is shown is partial",
	error: "a run could not be made or finished",
};

/** Where no line has the verdict, but a run by itself. */
const MEANS_OF_RUN: Partial<typeof MEANS> = {
	pass: NOTHING_JUDGED,
	fail: "a queue kept growing, as the system does not carry this rate",
	inconclusive: "what was measured leaves it open",
};

function meaningOf(result: Result): string {
	const { verdict, gates, errorCause, searches, openBaselineOnly } = result;
	if (searches.length > 0 && gates.length === 0 && verdict !== "interrupted")
		return searches
			.map((one) => (searches.length === 1 ? one.answer : `${searchTitle(one)}: ${one.answer}`))
			.join("; ");
	if (openBaselineOnly)
		return "the comparison with the baseline is undecided; all other SLAs are met";
	if (verdict === "error") {
		// The run was made to its end then: it is the question that cannot be answered.
		if (errorCause === "scenario")
			return "the scenario asks for what this run cannot answer: see the gates";
		if (result.damaged) return "a file of the folder is damaged; what is whole is shown";
		if (errorCause === "internal") return "mqbench contradicts itself: a bug of it";
	}
	const ofRun = gates.every((gate) => gate.verdict !== verdict) && MEANS_OF_RUN[verdict];
	return ofRun || MEANS[verdict];
}

// By how much.

/** Left out: a verdict of what was never measured to its end. */
const UNDECIDED: Readonly<Partial<Record<Gate["verdict"], string>>> = {
	pass: "",
	fail: " is breached",
	inconclusive: " is neither met nor breached",
	invalid: " was not judged",
};

/** "p99 is 400ms: 40x the limit of 10ms, 390ms above it"; null: nothing was counted. */
function failedText(gate: Gate): string | null {
	const worst = standsFor(gate.repeats);
	if (worst === null) return null;
	const { tally, beyondNs, valueNs } = worst;
	const measured = measuredOf(worst);
	// What stands before the last operator: "recovered(p99 < 100ms)".
	const subject = gate.sla.replace(/\s*[<>=]+[^<>=]*$/, "");
	const repeat = gate.repeats.length > 1 ? ` in repeat ${worst.repeat}, the worst` : "";
	if (tally?.unit === "messages" && tally.limit === 0)
		return `${measured} ${subject}${repeat}, where none may be`;
	const [value, limit] = tally ? [tally.value, tally.limit] : [valueNs, gate.limitNs ?? 0];
	const beyond = value === null && beyondNs && limit > 0 ? beyondNs / limit : 0;
	const more = beyond > 1 ? `more than ${formatTimes(beyond)}` : "beyond";
	const how =
		value !== null
			? byText(value, limit, tally?.unit ?? "ns", gate.limit, tally !== null)
			: beyond > 0
				? `${more} the limit of ${gate.limit}, as ${tally ? "it had not ended by then" : "messages never completed"}`
				: null;
	return `${subject} is ${measured}${repeat}${how === null ? ` (${gate.sla})` : `: ${how}`}`;
}

/** "40x the limit of 10ms, 390ms above it"; null: too few messages are no part of the limit ("failed == all"). */
function byText(
	value: number,
	limit: number,
	unit: "ns" | "messages" | "messages/s",
	limitText: string,
	counted: boolean,
): string | null {
	if (unit === "messages/s")
		return value < limit
			? `${count(limit - value)}/s (${partText(1 - value / limit)}) below the ${limitText} that it has to reach`
			: null;
	if (limit === 0 || (counted && value < limit)) return null;
	// The counts have decided; the value is as near as the histogram's digits go.
	if (value <= limit) return `at the limit of ${limitText}`;
	const factor = value / limit;
	const above = (unit === "ns" ? duration : count)(value - limit);
	return factor >= 1.5
		? `${formatTimes(factor)} the limit of ${limitText}, ${above} above it`
		: `${partText(factor - 1)} above the limit of ${limitText} (by ${above})`;
}

function partText(part: number): string {
	return part < 0.001 ? "less than 0.1 %" : percent(part);
}

/** With its interval, which counts, a maximum and several repeats have not. */
function measuredOf(
	{ measured, lowNs, highNs }: Pick<Gate, "measured" | "lowNs" | "highNs">,
	several = false,
): string {
	const interval = several ? "" : showInterval({ low: lowNs, high: highNs });
	return interval === "" ? measured : `${measured} ${interval}`;
}

/** The worst first: how far above, then how far below. */
function marginOf({ repeats }: Gate): string {
	const margins = repeats.flatMap(({ margin }) => margin ?? []);
	if (margins.length === 0) return "";
	const [worst, best] = [smallestOf(margins), largestOf(margins)];
	const [from, to] = [marginText(worst), marginText(best)];
	if (from === to) return from;
	if (best < 1) return `${formatTimes(1 / best)} to ${from}`;
	return worst >= 1 && formatTimes(worst) !== "1x"
		? `${formatTimes(worst)} to ${to}`
		: `${from} to ${to}`;
}

/** limit / measured in words: "6.3x below the limit", "40x the limit". */
function marginText(margin: number): string {
	const factor = formatTimes(margin >= 1 ? margin : 1 / margin);
	if (factor === "1x") return margin >= 1 ? "just below the limit" : "just above the limit";
	return `${factor}${margin >= 1 ? " below" : ""} the limit`;
}

// Where.

function whereText(outcome: Outcome, { runs }: Result): string {
	const { kind, system, case: name, what, search, run, gate } = outcome;
	if (kind === "damage") return what;
	const place = (search ? searchTitle(search) : `${system}, ${name}`).replaceAll(/\s+/g, " ");
	if (kind === "run" && run !== null) {
		const all = at(outcome, runs).filter((one) => one.search === null);
		return all.length < 2 ? place : `${place}, repeat ${run.repeat} of ${all.length}`;
	}
	const repeats = gate?.repeats ?? [];
	if (repeats.length < 2) return place;
	const bad = worstOf(repeats).map(({ repeat }) => repeat);
	if (bad.length === repeats.length) return `${place}, in all ${repeats.length} repeats`;
	const numbers = bad.join(", ").replace(/, (\d+)$/, " and $1");
	return `${place}, in ${bad.length === 1 ? "repeat" : "repeats"} ${numbers} of ${repeats.length}`;
}

// When.

/**
 * When a limit broke: "worst in the second that began 4s after the window opened: p99 490ms, max 500ms", "first lost: producer 0, ...",
 * "by the kill of node 2 (the leader), 4s after the window opened". A comparison is about all repeats at once.
 */
function whenText({ gate, verdict, compares, run }: Outcome): string | null {
	if (!gate || run === null || compares || verdict === "interrupted" || verdict === "error")
		return null;
	const worst = standsFor(gate.repeats);
	if (gate.metric !== null) {
		if (gate.metric !== run.main) return null;
		// The first message says more than its second does.
		return worst?.censored
			? (offenderText("lost", run) ?? offenderText("failed", run))
			: slowestText(run);
	}
	const { fault, atNs } = worst?.values ?? {};
	if (typeof fault === "string" && typeof atNs === "number")
		return `by the ${fault}, ${duration(Math.max(0, atNs))} after the window opened`;
	const name = gate.tally?.name ?? "";
	return fewestText(run, name) ?? offenderText(name, run);
}

/** "worst in the second that began 4s after the window opened: ..."; of a long run a second is several. */
function secondText(how: string, second: number, seconds: number, figures: string): string {
	const long = seconds === 1 ? "second" : `${seconds} seconds`;
	const began =
		second === 0 ? "as the window opened" : `${Number(second.toFixed(3))}s after the window opened`;
	return `${how} in the ${long} that began ${began}: ${figures}`;
}

/** Of the main metric, by intended time: where p99 is largest, without one the largest message. */
function slowestText({ series }: Run): string | null {
	// What never completed is worse than any time, and more of it worse than less.
	const worst = most(
		series.seconds.filter(({ second }) => second >= 0),
		({ p99, max, missing }) =>
			p99 === null && missing ? Number.MAX_SAFE_INTEGER * (1 + missing) : (p99 ?? max ?? -1),
	);
	if (worst === null) return null;
	const { second, count: completed, missing, p99, max } = worst;
	const figures = p99 === null ? [] : [`p99 ${duration(p99)}`];
	// Where some never completed the largest of the others is no maximum.
	if (missing) figures.push(`${count(missing)} of ${count(completed + missing)} never completed`);
	else if (max !== null) figures.push(`max ${duration(max)}`);
	return figures.length === 0
		? null
		: secondText("worst", second, secondsOf(worst), figures.join(", "));
}

/** Of the whole seconds within the window, by real time, where least came through of what was due. In an idle step nothing was. */
function fewestText({ series, window, load }: Run, name: string): string | null {
	const tally = Tally.safeParse(name).data;
	const { tick: field, label } = tally ? TALLIES[tally] : {};
	// A closed load runs as fast as it can: its slowest second is no event.
	if (field === undefined || load.schedule.kind === "closed") return null;
	const before = (second: number) => messagesBefore(load.schedule, second * 1e9);
	const within = series.ticks.flatMap((tick) => {
		const seconds = secondsOf(tick);
		const from = tick.at - seconds;
		const done = tick[field];
		const due = before(tick.at) - before(from);
		const inside = from * 1e9 >= window.startNs && tick.at * 1e9 <= window.endNs;
		return inside && done !== null && due > 0 ? [{ from, seconds, done, due }] : [];
	});
	const worst = most(within, ({ done, due }) => -done / due);
	if (worst === null) return null;
	const { from, seconds, done } = worst;
	return secondText("fewest", from - window.startNs / 1e9, seconds, `${count(done)} ${label}`);
}

/** The first of the largest; null: there are none. */
function most<T>(all: readonly T[], size: (one: T) => number): T | null {
	return all.reduce<T | null>((a, b) => (a === null || size(b) > size(a) ? b : a), null);
}
