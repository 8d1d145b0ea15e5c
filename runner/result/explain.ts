import { secondsOf } from "../model/line-seconds.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { formatCount as count, formatDuration as duration, formatTimes, plural } from "../units.ts";
import { standsFor } from "../verdict/judgement.ts";
import { adviceOn, partText } from "./advice.ts";
import { brokenOf, NOTHING_JUDGED, type Outcome } from "./outcomes.ts";
import { showInterval } from "./show.ts";
import { offenderText, runTitle, searchTitle } from "./words.ts";

/** The texts about an outcome in every report, without full stops. */
export function explain(outcome: Outcome, result: Result) {
	const { gate, comparison, verdict, what, why } = outcome;
	const measured = gate ? measuredOf(gate) : "";
	const margin = gate ? marginText(gate) : "";
	const limited = gate !== undefined && !comparison;
	return {
		/** "p99 < 10ms is breached: ~400ms [196ms, ∞], 40x the limit"; without an SLA line the reason. */
		broke: comparison ? `${what}: ${why}` : limited ? judgedText(gate, measured, margin) : why,
		/** "3.2ms [3.1ms, 3.4ms]", all values of several repeats; "" without a gate. */
		measured,
		/** "6.3x below the limit", "40x the limit", the worst of several repeats; "" for counts. */
		margin,
		/** "nats, 256B 1000/s" */
		where: whereText(outcome, result),
		when: whenText(outcome),
		/** Null if `broke` is enough. */
		why: limited ? why : null,
		next: verdict === "pass" ? null : adviceOn(outcome, result),
	};
}

/** The last line of a terminal: the worst outcome, with its value, its limit and its cause. */
export function verdictText(result: Result): string {
	const { verdict, gates, searches, openBaselineOnly } = result;
	if (searches.length > 0 && gates.length === 0 && verdict !== "interrupted")
		return searches
			.map((one) => (searches.length === 1 ? one.answer : `${searchTitle(one)}: ${one.answer}`))
			.join("; ");
	if (openBaselineOnly)
		return "the comparison with the baseline is undecided; all other SLAs are met";
	if (verdict === "pass") return gates.length === 0 ? NOTHING_JUDGED : "every SLA is met";
	if (verdict === "interrupted") return "the run was stopped; the figures are partial";
	// The list above has each one and its reason.
	if (verdict === "error") return "a run could not be made, finished, read or judged";
	const worst = worstOutcome(result);
	if (worst === null) return `a run came to ${verdict.toUpperCase()}`;
	const several = new Set(result.runs.map((run) => `${run.system}, ${run.case}`)).size > 1;
	const where = several ? `${whereText(worst, result)}: ` : "";
	const more = brokenOf(result).length - 1;
	const others = more === 0 ? "" : ` (${count(more)} more did not pass)`;
	return `${where}${worstText(worst, result)}${others}`;
}

/** Of the outcomes with the result's verdict, one that nothing explains comes first, then the one furthest from its limit. */
export function worstOutcome(result: Result): Outcome | null {
	const all = brokenOf(result);
	const explained = ({ cause }: Outcome) => Number(cause !== null);
	const margin = ({ gate }: Outcome) => gate?.margin ?? Number.MAX_VALUE;
	const [worst = null] = all
		.filter(({ verdict }) => verdict === all[0]?.verdict)
		.sort((a, b) => explained(a) - explained(b) || margin(a) - margin(b));
	return worst;
}

// --- internal ---

function worstText(outcome: Outcome, result: Result): string {
	const { kind, gate, compares, verdict, cause, why, run } = outcome;
	const { broke } = explain(outcome, result);
	if (cause === "machine") return `${broke}, and no core was free: the machine is a cause of it`;
	if (kind === "run" && run?.validity.some((check) => check.status === "fail"))
		return `${broke}; the system does not carry this rate`;
	if (!gate || compares) return broke;
	// The sentences of verdict/excuses.ts: the reason that decided comes first, or after the last "but".
	const [wrong] = why.split(", so this says nothing about");
	const but = why.split("; but ").slice(1).at(-1);
	if (verdict === "invalid") return `${gate.sla} was not judged: ${but ?? wrong}`;
	if (but !== undefined) return `${broke}; ${but}`;
	if (verdict === "inconclusive")
		return `${broke}; ${gate.metric === null ? why : "measure longer, or repeat"}`;
	if (gate.censored) return `${broke}; ${plural(gate.censored, "message")} never completed`;
	const part = run && partText(gate, run);
	return part ? `${broke}; ${part}` : broke;
}

const JUDGED: Readonly<Partial<Record<Verdict, string>>> = {
	pass: "",
	fail: " is breached",
	inconclusive: " is neither met nor breached",
};

function judgedText({ sla, verdict }: Gate, measured: string, margin: string): string {
	// A run that was stopped has not measured the line.
	const known = measured !== "n/a" && verdict !== "interrupted" && verdict !== "error";
	const figures = [measured, margin].filter((part) => known && part !== "").join(", ");
	return `${sla}${JUDGED[verdict] ?? " was not judged"}${figures === "" ? "" : `: ${figures}`}`;
}

/** Counts, a maximum and several repeats have no interval. */
function measuredOf({ measured, lowNs, highNs, repeats }: Gate): string {
	const interval = repeats.length > 1 ? "" : showInterval({ low: lowNs, high: highNs });
	return interval === "" ? measured : `${measured} ${interval}`;
}

/** `margin` is limit / measured. */
function marginText({ margin }: Gate): string {
	if (margin === null) return "";
	const factor = formatTimes(margin >= 1 ? margin : 1 / margin);
	if (factor === "1x") return margin >= 1 ? "just below the limit" : "just above the limit";
	return `${factor}${margin >= 1 ? " below" : ""} the limit`;
}

function whereText({ kind, system, case: name, what, search, run }: Outcome, result: Result) {
	if (kind === "damage") return what;
	if (kind === "run" && run !== null) return runTitle(run, result).replaceAll(/\s+/g, " ");
	return (search ? searchTitle(search) : `${system}, ${name}`).replaceAll(/\s+/g, " ");
}

/** The first message that was lost or failed, else the main metric's worst second. A comparison covers all repeats, so it has none. */
function whenText({ gate, verdict, compares, run }: Outcome): string | null {
	if (!gate || run === null || compares || verdict === "interrupted" || verdict === "error")
		return null;
	if (gate.metric === null) return offenderText(gate.tally?.name ?? "", run);
	if (gate.metric !== run.main) return null;
	const first = standsFor(gate.repeats)?.censored
		? (offenderText("lost", run) ?? offenderText("failed", run))
		: null;
	return first ?? slowestText(run);
}

/** By intended time: the second with the largest p99, else the largest max. Messages that never completed are worse than any time. */
function slowestText({ series }: Run): string | null {
	type Second = (typeof series.seconds)[number];
	const badness = ({ p99, max, missing }: Second) =>
		p99 === null && missing ? Number.MAX_SAFE_INTEGER * (1 + missing) : (p99 ?? max ?? 0);
	const worst = series.seconds
		.filter((one) => one.second >= 0 && badness(one) > 0)
		.reduce<Second | null>((a, b) => (a && badness(a) >= badness(b) ? a : b), null);
	if (worst === null) return null;
	const { second, count: completed, missing, p99, max } = worst;
	const seconds = secondsOf(worst);
	const figures = p99 === null ? [] : [`p99 ${duration(p99)}`];
	// Where some never completed, the largest of the others is not a maximum.
	if (missing) figures.push(`${count(missing)} of ${count(completed + missing)} never completed`);
	else if (max !== null) figures.push(`max ${duration(max)}`);
	return `worst in the ${seconds === 1 ? "second" : `${seconds} seconds`} that began ${second}s after the window opened: ${figures.join(", ")}`;
}
