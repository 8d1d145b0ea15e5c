import type { Gate, Result, Run } from "../model/result.ts";
import { shellWord } from "../shell.ts";
import { formatCount, formatDuration, plural } from "../units.ts";
import { meanRate } from "../verdict/window-length.ts";
import type { Outcome } from "./outcomes.ts";
import { worstRun } from "./worst-repeat.ts";

/** What to do about an outcome that did not pass. */
export function adviceText(outcome: Outcome, result: Result): string {
	const { of, verdict } = outcome;
	const run = worstRun(outcome, result);
	switch (verdict) {
		case "interrupted":
			return `continue where it was stopped: ${resumeText(result)}`;
		case "error":
			return result.errorCause === "scenario"
				? "change the SLA line or the load: the run was made, and cannot answer it"
				: "mend what it names and run again; mqbench doctor looks at the machine, the broker's log is in the folder of the run";
		case "invalid":
			return `${remedyOf(run, "invalid") ?? "free the machine from other work; mqbench doctor shows what bends a measurement"} (mqbench explain invalid)`;
		case "inconclusive":
			if (
				of.kind === "gate" &&
				(of.gate.code ?? of.gate.comparison?.code) === "clocks"
			)
				return "keep the clocks of the clients in step more closely (chrony, PTP), or let whoever sends receive its own messages (round-trip): longer runs do not help";
			return of.kind === "run" || (of.kind === "gate" && !of.gate.comparison)
				? `measure longer (workload.duration), or repeat: ${Math.max(3, repeatsOf(of, result) + 2)} (mqbench explain inconclusive)`
				: moreRuns(outcome, result);
		default:
			break;
	}
	if (of.kind === "search")
		return "allow a slower answer (sla), or begin at a lower rate (mqbench explain max-rate)";
	if (of.kind === "comparison" || (of.kind === "gate" && of.gate.comparison))
		return differentNow(outcome, result);
	if (of.kind === "run" || run === null)
		return `${remedyOf(run, "fail") ?? "look at the rates over time in report.html"}; find: max-rate searches the rate that it carries (mqbench explain max-rate)`;
	return of.gate.metric === null
		? nextOfTally(of.gate, run)
		: nextOfLatency(of.gate, run);
}

// --- internal ---

/** The same command once more, in its folder: plans have to be the same, and so does all that they follow from. */
function resumeText({ runId, command }: Result): string {
	const words = [...(command?.args ?? ["<scenario>"])];
	let folder = `reports/${runId}`;
	for (const option of ["--out", "--resume"]) {
		const at = words.findIndex(
			(w) => w === option || w.startsWith(`${option}=`),
		);
		if (at < 0) continue;
		const [word = "", next = ""] = words.splice(
			at,
			words[at] === option ? 2 : 1,
		);
		folder = next || word.slice(option.length + 1);
	}
	return ["npx mqbench", ...words.map(quoted), "--resume", quoted(folder)].join(
		" ",
	);
}

/** For a shell; what is to be filled in stays as it is. */
function quoted(word: string): string {
	return /^<.*>$/.test(word) ? word : shellWord(word);
}

/** The runs that were made for a comparison: of its own system, and of the baseline if that is of the same scenario. */
function comparedRuns(
	{ system, case: name }: Outcome,
	{ runs }: Result,
): Run[] {
	return runs.filter((run) => run.system === system && run.case === name);
}

/** A comparison is open. Its sentence says what would tell if all runs count; if they do not, more of the same would not help. */
function moreRuns(outcome: Outcome, result: Result): string {
	const runs = comparedRuns(outcome, result);
	const out = runs.filter((run) => ["invalid", "error"].includes(run.verdict));
	if (out.length > 0)
		return `see first why ${out.length} of ${plural(runs.length, "run")} ${out.length === 1 ? "does" : "do"} not count (mqbench explain invalid), then measure again`;
	return `${busyText(outcome, result) ?? "measure with more repeats or for longer"}; mqbench calibrate says what this machine can tell (mqbench explain baseline)`;
}

/** A comparison says worse. */
function differentNow(outcome: Outcome, result: Result): string {
	const runs = comparedRuns(outcome, result);
	const draw = `mqbench compare <baseline> <this run> --html compare.html draws both curves`;
	const again = runs.some((run) => run.confirms)
		? null
		: "measure once more before you believe it (--confirm)";
	return [busyText(outcome, result), draw, again]
		.filter((text) => text !== null)
		.join("; ");
}

/** What else went on while it was measured may be all that differs from the baseline; null: nothing did. */
function busyText(outcome: Outcome, result: Result): string | null {
	const runs = comparedRuns(outcome, result);
	const busy = runs.filter((run) =>
		run.validity.some((c) => c.status === "warn" && BUSY.has(c.check)),
	);
	if (busy.length === 0) return null;
	const said = `the machine was busy in ${busy.length} of ${plural(runs.length, "run")} (see the warnings)`;
	const { of } = outcome;
	const baseline =
		of.kind === "gate"
			? of.gate.comparison?.a.name
			: of.kind === "comparison"
				? of.comparison.a.name
				: null;
	return result.runs.some((run) => run.system === baseline)
		? `${said}: free it from other work`
		: `${said}, and a baseline of another time does not share that: measure both in one command, in turns (baseline: <system>)`;
}

/** Checks that warn of other work on the machine. */
const BUSY: ReadonlySet<string> = new Set([
	"others",
	"schedLatency",
	"steal",
	"cpuQuota",
	"lag",
]);

function nextOfTally(gate: Gate, run: Run): string {
	const { tally } = gate;
	if (tally?.unit === "messages")
		return `${remedyOf(run, "warn", ["drain"]) ?? "compare that time with the broker's log"} (mqbench explain lost)`;
	const scheduled = meanRate(run.load);
	if (
		tally?.unit === "messages/s" &&
		run.load.pattern !== "fan-out" &&
		scheduled !== null &&
		scheduled < tally.limit
	)
		return `raise workload.rate or lower the limit: only ${formatCount(scheduled)}/s are scheduled, so no system could reach it`;
	return "look at offered against achieved rate and at the broker's CPU and disk in report.html; find: max-rate searches the rate that it carries (mqbench explain max-rate)";
}

function nextOfLatency(gate: Gate, run: Run): string {
	const [error] = run.errors;
	if (run.failed && error)
		return `${plural(run.failed, "message")} failed; see to the commonest error first: ${error.message}`;
	const { metric } = gate;
	if (metric === "lag") return PARTS.lag;
	const part = metric === "response" ? largestPart(gate, run) : null;
	const what =
		part !== null
			? `${part.of} is ${part.name}: ${PARTS[part.name]}`
			: metric === "queued"
				? PARTS.queued
				: metric === "service"
					? PARTS.service
					: SEE;
	return `${what} (mqbench explain ${run.load.schedule.kind === "closed" ? "closed" : "response"})`;
}

const SEE =
	"look at latency over time and at the broker's CPU and disk in report.html, and at the broker's log";

const PARTS = {
	service:
		"the broker, or the way to it, held them; look at latency over time and at the broker's CPU and disk in report.html, and at the broker's log",
	queued:
		"the system pushed back, earlier sends blocked or waited at inFlight; look at queued and in flight in report.html, offer less or use more connections",
	lag: "the generator itself was late; mqbench doctor looks at the machine",
} as const;

/** From here on a percentile is of the slowest messages, which are known one by one. */
const TAIL = 99;

/** Which part of the response time is the largest: of the slowest messages, or where half of all are slow at that percentile. */
function largestPart(
	{ percentile }: Gate,
	run: Run,
): { name: keyof typeof PARTS; of: string } | null {
	const tail = percentile === null || percentile >= TAIL;
	const at = (name: keyof typeof PARTS) =>
		run.metrics[name]?.percentiles.find((x) => x.p === percentile)?.value ?? 0;
	const sum = (of: (m: Run["slowest"][number]) => number) =>
		run.slowest.reduce((a, m) => a + of(m), 0);
	const parts = (
		tail
			? [
					["service", sum((m) => m.serviceNs)],
					["queued", sum((m) => m.queuedNs)],
					["lag", sum((m) => m.lagNs)],
				]
			: [
					["service", at("service")],
					["queued", at("queued")],
					["lag", at("lag")],
				]
	) as [keyof typeof PARTS, number][];
	const [name, most] = parts.reduce((a, b) => (b[1] > a[1] ? b : a));
	if (most === 0) return null;
	const all = sum((m) => m.responseNs);
	// Clocks that disagree: a part that is more than the whole explains nothing.
	if (tail && most > all) return null;
	return {
		name,
		of: tail
			? `of the slowest messages ${Math.round((100 * most) / all)} %`
			: `the largest part of p${percentile} (${formatDuration(most)})`,
	};
}

/** What a check of the run advises. */
function remedyOf(
	run: Run | null,
	status: Run["validity"][number]["status"],
	checks?: readonly string[],
): string | null {
	return (
		run?.validity.find(
			(c) =>
				c.status === status &&
				c.remedy !== null &&
				(checks === undefined || checks.includes(c.check)),
		)?.remedy ?? null
	);
}

function repeatsOf(of: Outcome["of"], { runs }: Result): number {
	if (of.kind === "gate") return of.gate.repeats.length;
	if (of.kind !== "run") return 1;
	const { system, case: name } = of.run;
	return runs.filter((run) => run.system === system && run.case === name)
		.length;
}
