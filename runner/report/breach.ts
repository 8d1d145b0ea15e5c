import { formatCount, formatDuration, parseDuration } from "../units.ts";
import { meanRate } from "../verdict/needed.ts";
import { type Outcome, outcomeName } from "./outcomes.ts";
import type { Gate, Result, Run } from "./summary.ts";
import { offenderTexts, percentileValue, plural } from "./words.ts";

/** What a person needs to know of one thing that broke, each in a sentence without its full stop. For terminal, markdown, JUnit and GitHub alike. */
export interface Breach {
	/** What broke by how much: "p99 is 400ms: 40x the limit of 10ms, 390ms above it", "p99 < 20ms is neither met nor breached: ...". Says by itself which line. */
	readonly broke: string;
	/** "nats, 256B 1000/s, repeats 1 and 3 of 3" */
	readonly where: string;
	/** The worst second, or the first message that was lost; null: not known. */
	readonly when: string | null;
	/** What to do. */
	readonly next: string;
}

/** Of an outcome that did not pass. */
export function breachOf(outcome: Outcome, result: Result): Breach {
	const { of } = outcome;
	const run = runOf(outcome, result);
	return {
		broke: brokeText(outcome),
		where: whereText(outcome),
		when: run === null || of.kind !== "gate" ? null : whenText(of.gate, run),
		next: nextText(outcome, run, result),
	};
}

/** All of it in one text: "nats, 256B 1000/s: p99 is 400ms, ... Worst in ... What to do: ..." */
export function breachText({ broke, where, when, next }: Breach): string {
	return [
		// As they are written: neither a system nor an SLA line is a word.
		`${where}: ${broke}.`,
		...(when === null
			? []
			: [`${when.charAt(0).toUpperCase()}${when.slice(1)}.`]),
		`What to do: ${next}.`,
	].join(" ");
}

// --- internal ---

/** The repeat that stands for the gate: of those with its worst verdict the one that is furthest from the limit. */
function worstRepeat({ repeats }: Gate): Gate["repeats"][number] | null {
	const failing = repeats.filter((r) => r.verdict === "fail");
	const bad = repeats.filter((r) => r.verdict !== "pass");
	const [first = null, ...others] =
		failing.length > 0 ? failing : bad.length > 0 ? bad : repeats;
	return others.reduce(
		(worst, one) =>
			worst === null || badness(one) > badness(worst) ? one : worst,
		first,
	);
}

/** How bad one is among repeats of the same gate: the larger the worse. */
function badness(repeat: Gate["repeats"][number]): number {
	if (repeat.margin !== null)
		return repeat.margin === 0 ? Number.POSITIVE_INFINITY : 1 / repeat.margin;
	// Nothing completed.
	if (repeat.n !== null) return Number.POSITIVE_INFINITY;
	const value = numberOf(repeat.measured);
	if (value === null) return 0;
	// The smaller a rate is the worse.
	return repeat.measured.endsWith("/s") ? -value : value;
}

function runOf(outcome: Outcome, { runs }: Result): Run | null {
	const { of } = outcome;
	if (of.kind === "run") return of.run;
	if (of.kind !== "gate") return null;
	const repeat = worstRepeat(of.gate)?.repeat ?? 1;
	return (
		runs.find(
			(run) =>
				run.search === null &&
				run.system === outcome.system &&
				run.case === outcome.case &&
				run.repeat === repeat,
		) ?? null
	);
}

// What broke, by how much.

function brokeText(outcome: Outcome): string {
	const { of, verdict, what, why } = outcome;
	if (of.kind === "comparison" || (of.kind === "gate" && of.gate.comparison))
		return `${what}: ${why}`;
	if (of.kind !== "gate") return why;
	return verdict === "fail"
		? failedText(of.gate)
		: `${what} ${UNDECIDED[verdict]}: ${why}`;
}

const UNDECIDED: Readonly<Record<Gate["verdict"], string>> = {
	pass: "is met",
	fail: "is breached",
	inconclusive: "is neither met nor breached",
	invalid: "was not judged",
	error: "cannot be judged",
	interrupted: "was not judged",
};

function failedText(gate: Gate): string {
	const worst = worstRepeat(gate);
	if (worst === null) return gate.why;
	const subject = gate.sla.split(/\s*[<>=]/)[0] ?? gate.sla;
	const repeat =
		gate.repeats.length > 1 ? ` in repeat ${worst.repeat}, the worst` : "";
	if (gate.metric === null && gate.limit === "0")
		return `${worst.measured} ${subject}${repeat}, where none may be`;
	const by = byText(gate, worst);
	// What is counted in messages says more of a latency than its value alone.
	const over =
		worst.over !== null && worst.n !== null && worst.allowed !== null
			? `; ${formatCount(worst.over)} of ${formatCount(worst.n)} messages took longer, ${formatCount(Math.floor(worst.allowed))} may`
			: "";
	return `${subject} is ${worst.measured}${repeat}${by === null ? ` (${gate.sla})` : `: ${by}`}${over}`;
}

/** "40x the limit of 10ms, 390ms above it"; null: no number was measured. */
function byText(gate: Gate, worst: Gate["repeats"][number]): string | null {
	const { limit } = gate;
	if (gate.metric !== null) {
		const limitNs = gate.limitNs ?? 0;
		if (worst.valueNs !== null)
			return above(worst.valueNs, limitNs, limit, formatDuration);
		const least = /^> (.*)$/.exec(worst.measured)?.[1];
		const leastNs = least === undefined ? null : durationOf(least);
		return leastNs === null
			? null
			: `more than ${times(leastNs / limitNs)} the limit of ${limit}, as messages never completed`;
	}
	const value = numberOf(worst.measured);
	const bound = numberOf(limit);
	if (value === null || bound === null) return null;
	if (limit.endsWith("/s"))
		return value < bound
			? `${formatCount(bound - value)}/s (${percent(1 - value / bound)}) below the ${limit} that it has to reach`
			: null;
	if (/^[\d ]+$/.test(limit))
		return above(value, bound, limit, (x) => formatCount(x));
	return above(value, bound, limit, formatDuration);
}

function above(
	value: number,
	limit: number,
	limitText: string,
	format: (x: number) => string,
): string | null {
	if (!(limit > 0)) return null;
	// The counts have decided; the value is as near as the histogram's digits go.
	if (value <= limit) return `at the limit of ${limitText}`;
	const factor = value / limit;
	return factor >= 1.5
		? `${times(factor)} the limit of ${limitText}, ${format(value - limit)} above it`
		: `${percent(factor - 1)} above the limit of ${limitText} (by ${format(value - limit)})`;
}

function times(factor: number): string {
	return `${formatCount(factor >= 100 ? Math.round(factor) : Number(factor.toPrecision(2)))}x`;
}

function percent(part: number): string {
	const value = part * 100;
	return `${value < 0.1 ? "less than 0.1" : Number(value.toPrecision(2))} %`;
}

/** Of a text as reports print it: a count, messages per second, or a time in ns; null: there is no number in it. */
function numberOf(text: string): number | null {
	const plain = text.replaceAll(" ", "").replace(/\/s$/, "");
	return /^\d+(\.\d+)?$/.test(plain) ? Number(plain) : durationOf(text);
}

function durationOf(text: string): number | null {
	try {
		return parseDuration(text);
	} catch {
		return null;
	}
}

// Where, and when.

function whereText({ of, system, case: name }: Outcome): string {
	const place = `${system}, ${name}`.replaceAll(/\s+/g, " ");
	if (of.kind !== "gate" || of.gate.repeats.length < 2) return place;
	const { repeats, verdict } = of.gate;
	const same = repeats.filter((r) => r.verdict === verdict);
	const bad = (
		same.length > 0 ? same : repeats.filter((r) => r.verdict !== "pass")
	).map((r) => r.repeat);
	if (bad.length === 0 || bad.length === repeats.length)
		return `${place}, in all ${repeats.length} repeats`;
	return `${place}, in ${bad.length === 1 ? "repeat" : "repeats"} ${list(bad)} of ${repeats.length}`;
}

function list(numbers: readonly number[]): string {
	return numbers.length < 2
		? `${numbers[0]}`
		: `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

function whenText(gate: Gate, run: Run): string | null {
	if (gate.verdict === "interrupted" || gate.verdict === "error") return null;
	if (gate.metric !== null) {
		if (gate.metric !== run.main) return null;
		// Seconds know only of messages that completed: those that did not are worse than any of them.
		return worstRepeat(gate)?.censored
			? (offenderText("lost", run) ?? offenderText("failed", run))
			: worstSecond(run);
	}
	const kind = gate.sla.split(/[\s<>=]/)[0] ?? "";
	const counter = COUNTERS[kind];
	return counter === undefined
		? offenderText(kind, run)
		: slowestSecond(run, ...counter);
}

/** "first lost: producer 0, sequence 3000, due 2s after the window opened"; null: there is none of this kind. */
function offenderText(kind: string, run: Run): string | null {
	const start = `first ${kind}: `;
	return offenderTexts(run).find((text) => text.startsWith(start)) ?? null;
}

/** Of the main metric, by intended time: where p99 is largest, without one the largest message. */
function worstSecond(run: Run): string | null {
	const seconds = run.series.seconds.filter((s) => s.second >= 0);
	const size = (s: (typeof seconds)[number]) => s.p99 ?? s.max ?? -1;
	const [first, ...others] = seconds;
	if (first === undefined) return null;
	const worst = others.reduce((a, b) => (size(b) > size(a) ? b : a), first);
	const figures = [
		...(worst.p99 === null ? [] : [`p99 ${formatDuration(worst.p99)}`]),
		...(worst.max === null ? [] : [`max ${formatDuration(worst.max)}`]),
	];
	return figures.length === 0
		? null
		: `worst in the second that began ${afterOpening(worst.second)}: ${figures.join(", ")}`;
}

const COUNTERS: Readonly<
	Record<string, ["received" | "acked" | "sent", string]>
> = {
	throughput: ["received", "received"],
	"throughput.received": ["received", "received"],
	"throughput.sent": ["acked", "acknowledged"],
	achieved: ["sent", "sent"],
};

/** Of the whole seconds within the window, by real time. */
function slowestSecond(
	{ series, window, load }: Run,
	field: "received" | "acked" | "sent",
	word: string,
): string | null {
	// A closed load runs as fast as it can: its slowest second is no event.
	if (load.schedule.kind === "closed") return null;
	const within = series.ticks
		.filter(
			({ at }) => (at - 1) * 1e9 >= window.startNs && at * 1e9 <= window.endNs,
		)
		.map((tick) => ({
			second: tick.at - 1 - window.startNs / 1e9,
			count: tick[field],
		}))
		.filter((t): t is { second: number; count: number } => t.count !== null);
	const [first, ...others] = within;
	if (first === undefined) return null;
	const worst = others.reduce((a, b) => (b.count < a.count ? b : a), first);
	return `fewest in the second that began ${afterOpening(worst.second)}: ${formatCount(worst.count)} ${word}`;
}

function afterOpening(second: number): string {
	return second === 0
		? "as the window opened"
		: `${Number(second.toFixed(3))}s after the window opened`;
}

// What to do.

function nextText(outcome: Outcome, run: Run | null, result: Result): string {
	const { of, verdict } = outcome;
	switch (verdict) {
		case "interrupted":
			return `go on where it was stopped: mqbench ${result.command?.scenario ?? "<scenario>"} --resume <folder of this run>`;
		case "error":
			return result.errorCause === "scenario"
				? "change the SLA line or the load: the run was made, and cannot answer it"
				: "mend what it names and run again; mqbench doctor looks at the machine, the broker's log is in the folder of the run";
		case "invalid":
			return `${remedyOf(run, "invalid") ?? "free the machine from other work; mqbench doctor shows what bends a measurement"} (mqbench explain invalid)`;
		case "inconclusive":
			return of.kind === "run" || (of.kind === "gate" && !of.gate.comparison)
				? `measure longer (workload.duration), or repeat: ${Math.max(3, repeatsOf(of, result) + 2)} (mqbench explain inconclusive)`
				: "compare more runs on each side (repeat)";
		default:
			break;
	}
	if (of.kind === "search")
		return "allow a slower answer (sla), or begin at a lower rate (mqbench explain max-rate)";
	if (of.kind === "comparison" || (of.kind === "gate" && of.gate.comparison))
		return "look at both curves under comparison in report.html, and for what changed between the two; measure once more before you believe it (--confirm)";
	if (of.kind === "run" || run === null)
		return `${remedyOf(run, "fail") ?? "look at the rates over time in report.html"}; find: max-rate searches the rate that it carries (mqbench explain max-rate)`;
	return of.gate.metric === null
		? nextOfTally(of.gate, run)
		: nextOfLatency(of.gate, run);
}

function nextOfTally(gate: Gate, run: Run): string {
	if (!(gate.limit.endsWith("/s") || /^drain/.test(gate.sla)))
		return `${remedyOf(run, "warn", ["drain"]) ?? "compare that time with the broker's log"} (mqbench explain lost)`;
	const scheduled = meanRate(run.load);
	const asked = numberOf(gate.limit);
	if (
		gate.limit.endsWith("/s") &&
		run.load.pattern !== "fan-out" &&
		scheduled !== null &&
		asked !== null &&
		scheduled < asked
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

/** p99 of the metric that a gate judges, in the worst of its repeats, as reports print it; null: there is none. */
export function p99Of(gate: Gate, { runs }: Result): string | null {
	const own = runs.filter(
		(run) => run.system === gate.system && run.case === gate.case,
	);
	const found = own.flatMap((run) => {
		const p = run.metrics[gate.metric ?? run.main]?.percentiles.find(
			(x) => x.p === 99,
		);
		return p === undefined || p.support === "none" ? [] : [{ p, run }];
	});
	const size = (x: (typeof found)[number]) =>
		x.p.value ?? Number.POSITIVE_INFINITY;
	const [first, ...others] = found;
	if (first === undefined) return null;
	const worst = others.reduce((a, b) => (size(b) > size(a) ? b : a), first);
	return percentileValue(worst.p, worst.run);
}

/** For titles: "FAIL nats/256B 1000/s: p99 < 10ms". */
export function breachTitle(outcome: Outcome): string {
	return `${outcome.verdict.toUpperCase()} ${outcomeName(outcome)}`;
}
