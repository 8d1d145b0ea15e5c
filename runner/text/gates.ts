import {
	formatCount as count,
	formatDuration as duration,
	formatDurationExact as exactly,
	plural,
} from "../units.ts";
import { type HeldUp, heldText, QUEUE_GREW } from "./load-checks.ts";
import { type Cores, type Saturated, saturatedText } from "./machine-checks.ts";
import { plusMinus } from "./run-checks.ts";

/** Why a line of the SLA came out as it did, and what left it open. */
export const gates = {
	stopped: (d: { problem: string }) => d.problem,
	"nothing-measured": () => "nothing was measured",
	"no-acks": (d: { system: string }) =>
		`${d.system} acknowledges nothing: there is no ack latency to judge`,
	"limit-not-counted": () => "the generator has not counted this limit",

	"late-messages": (d: Late) => lateText(d),
	"late-messages-twice": (d: Late) => `${lateText(d)}: at least twice as many`,
	"late-messages-few-stalls": (d: Late) => `${lateText(d)}: too few to tell how typical they are`,
	"late-messages-clustered": (d: Late) =>
		`${lateText(d)}: they come in clusters, and this run saw too few of those to tell`,
	"late-messages-near-limit": (d: Late) => `${lateText(d)}: too close to the limit to tell`,
	"late-by-lag": (d: Late & Decided & { overWithoutLag: number }) =>
		`the load generator was late, so this says nothing about the system: ${lateText(d)}; with the generator's own lateness taken off ${did(d.overWithoutLag)}${would(d)}`,
	"late-by-burst": (
		d: Late & Decided & { lateSeconds: number; nWithout: number; overWithout: number },
	) => `${burst(d)}: ${lateText(d)}; ${withoutBurst(d)}${would(d)}`,
	"late-by-stops": (d: Late & Decided & WithoutStops) =>
		`${stopsText(d)}: ${lateText(d)}; ${withoutStops(d)}${would(d)}`,
	"late-by-held": (d: Late & Decided & WithoutHeld) =>
		`${heldText(d)}: ${lateText(d)}; ${withoutHeld(d)}${would(d)}`,
	"no-messages": () => "no message was intended in the window",
	"few-samples": (d: {
		percentile: number;
		needed: number;
		/** "34s at this rate" */
		window: string;
		n: number;
		over: number;
		limitNs: number;
	}) =>
		`p${d.percentile} needs at least ${count(d.needed)} samples (${d.window}), and there are ${count(d.n)}; ${d.over === 0 ? "none" : count(d.over)} of them took longer than ${exactly(d.limitNs)}`,
	"none-completed": (d: { n: number }) =>
		`no message completed: ${count(d.n)} of ${count(d.n)} are missing`,

	"max-kept": (d: Slow) => slowText(d),
	"max-broken": (d: Slow) => slowText(d),
	"max-by-lag": (d: Slow) =>
		`the load generator was late, so this says nothing about the system: ${slowText(d)}; with the generator's own lateness taken off ${did(0)}${would(BROKEN_ELSE_KEPT)}`,
	"max-by-burst": (d: Slow & { lateSeconds: number; nWithout: number; overWithout: number }) =>
		`${burst(d)}: ${slowText(d)}; ${withoutBurst(d)}${would(BROKEN_ELSE_KEPT)}`,
	"max-by-stops": (d: Slow & WithoutStops) =>
		`${stopsText(d)}: ${slowText(d)}; ${withoutStops(d)}${would(BROKEN_ELSE_KEPT)}`,
	"max-by-held": (d: Slow & WithoutHeld) =>
		`${heldText(d)}: ${slowText(d)}; ${withoutHeld(d)}${would(BROKEN_ELSE_KEPT)}`,
	"never-completed": (d: { n: number; censored: number }) =>
		`${plural(d.censored, "message")} of ${count(d.n)} never completed`,
	"duplicate-receipts": (d: { second: number }) =>
		`but ${count(d.second)} of them may be ${d.second === 1 ? "a second receipt" : "second receipts"}: another client had received ${d.second === 1 ? "that message" : "those messages"} before`,

	tally: (d: Tally) => tallyText(d),
	"tally-missed": (d: Tally & { op: Op; limit: string }) =>
		`${tallyText(d)}; the SLA asks for ${ASKS[d.op]} ${d.limit}`,
	"tally-by-stops": (d: Tally & OwnStops & { op: Op; limit: string; without: string }) =>
		`${stopsText(d)}: ${tallyText(d)}, and the SLA asks for ${ASKS[d.op]} ${d.limit}; without that time it would be ${d.without}`,
	"tally-nearly": (d: Tally & { limit: string }) =>
		`${tallyText(d)}, within 0.1 % of the ${d.limit} that the SLA asks for`,
	"tally-not-measured": (d: { name: string }) => `${d.name} was not measured`,
	"order-not-measured": () =>
		"order was not measured: this system promises none, or several consumers share its messages",
	"checksum-not-measured": () =>
		"corruption was not measured: payloads carry no checksum (workload.checksum)",
	"nothing-received": (d: { name: string }) =>
		`messages are only published here, so there is no ${d.name}: judge ack, failed or unknown`,
	"nothing-acknowledged": (d: { system: string; name: string }) =>
		`${d.system} acknowledges nothing: there is no ${d.name}; judge achieved`,
	"no-rate": () => "a closed load has no rate to achieve: judge throughput",
	"drain-between-samples": () =>
		"the backlog is counted ten times a second, and the limit lies between the two samples around its end: build a larger one",
	"fault-unavailable": (d: Fault & Unavailable) => `${faultText(d)}: ${unavailableText(d)}`,
	"fault-recovered": (d: Fault & { line: string; cut: boolean }) =>
		`${faultText(d)}: ${d.line} ${d.open ? `was not met again ${restText(d)}` : d.lastedNs === 0 ? "was met all the time" : `was met again after ${duration(d.lastedNs)}`}`,
	"fault-drained": (d: Fault & { cut: boolean }) =>
		`${faultText(d)}: ${d.open ? `more messages than before it were in flight ${restText(d)}` : d.lastedNs === 0 ? "no more messages were in flight than before it" : `as few messages as before it were in flight again after ${duration(d.lastedNs)}`}`,
	"fault-missed": (d: { op: Op; limitNs: number }) =>
		`the SLA asks for ${ASKS[d.op]} ${exactly(d.limitNs)}`,
	"fault-cut-short": (d: { limitNs: number }) =>
		`too short to tell whether it keeps the limit of ${exactly(d.limitNs)}`,
	"fault-unnoticed": (d: { limitNs: number }) =>
		`a shorter one may be longer than the limit of ${exactly(d.limitNs)} all the same; raise the limit, or the rate`,
	"fault-between": (d: { limitNs: number }) =>
		`the limit of ${exactly(d.limitNs)} lies within the piece of time that this is known to`,
	"too-short-for-a-rate": (d: { spanNs: number }) =>
		`all messages were through within ${duration(d.spanNs)}, too short to tell a rate; raise messages`,

	"aborted-by-lag": (d: Stopped) =>
		`stopped after ${duration(d.afterNs)}, but the generator was late: without its lag it could still have passed`,
	"aborted-by-stops": (d: Stopped) =>
		`stopped after ${duration(d.afterNs)}, but the generator had been stopped: without its lag and the messages due around that it could still have passed`,
	"aborted-by-held": (d: Stopped) =>
		`stopped after ${duration(d.afterNs)}, but the receiving side was slow: without what waited in the client library it could still have passed`,
	"aborted-hopeless": (d: Stopped) =>
		`stopped after ${duration(d.afterNs)}: could not pass any more`,
	"aborted-failed": (d: Stopped) => `stopped after ${duration(d.afterNs)}`,
	"aborted-open": (d: Stopped & { by: string }) =>
		`stopped after ${duration(d.afterNs)}, as ${d.by} could not pass any more`,
	"hopeless-max": (d: { over: number; limitNs: number }) =>
		`${count(d.over)} took longer than ${exactly(d.limitNs)}`,
	"hopeless-late": (d: { over: number; n: number; allowed: number; limitNs: number }) =>
		`${count(d.over)} of ${count(d.n)} planned messages took longer than ${exactly(d.limitNs)}; ${may(d.allowed)}`,
	"hopeless-tally": (d: { n: number; tally: string }) => `${count(d.n)} ${d.tally}`,

	"machine-saturated": (d: Cores & Saturated & { where: string }) =>
		`but the machine was saturated (${d.where}): ${saturatedText(d)}`,
	"floor-over-limit": (d: { floorNs: number }) =>
		`but without any broker this generator needs ${duration(d.floorNs)}, which is above the limit as well`,
	clocks: (d: { boundNs: number }) => `but within the clocks' bound of ${plusMinus(d.boundNs)}`,
	"queue-growing": () => `but ${QUEUE_GREW}`,
	"p50-rose": (d: { factor: number }) =>
		`but p50 rose over the window, and the limit is less than ${d.factor} times what was measured`,
};

/** "1 FAIL, 2 PASS of 3 repeats (2 of them confirming); the worst, repeat 3: ..." */
export function repeatsText(
	verdicts: readonly (readonly [word: string, n: number])[],
	repeats: number,
	confirming: number,
	worst: { readonly repeat: number; readonly why: string },
): string {
	const counts = verdicts.map(([word, n]) => `${n} ${word}`).join(", ");
	const added = confirming === 0 ? "" : ` (${confirming} of them confirming)`;
	return `${counts} of ${repeats} repeats${added}; the worst, repeat ${worst.repeat}: ${worst.why}`;
}

// --- internal ---

interface Late {
	/** Messages judged, over the limit, that may be, and that never completed. */
	readonly n: number;
	readonly over: number;
	readonly allowed: number;
	readonly censored: number;
	readonly limitNs: number;
	/**
	 * Stretches of the window in which each 100 ms had a message over the limit, and how long the longest was. 0: there are none, or nobody
	 * knows when those messages were sent.
	 */
	readonly events: number;
	readonly longestNs: number;
	/** That is one stretch, and it is the whole window. */
	readonly throughout: boolean;
}

/** How a verdict came out, and how it would have without what was not the system's. */
interface Decided {
	readonly verdict: Tested;
	readonly verdictWithout: Tested;
}

/** Of the slowest message there is nothing between. */
const BROKEN_ELSE_KEPT = { verdict: "fail", verdictWithout: "pass" } as const;

type Tested = "pass" | "fail" | "inconclusive";

/** ", which would be PASS instead of FAIL" */
function would({ verdict, verdictWithout }: Decided): string {
	return `, which would be ${verdictWithout.toUpperCase()} instead of ${verdict.toUpperCase()}`;
}

/** "at most 100 of 10 000 may take longer than 10ms; 490 did, in 2 separate stretches, the longest 600ms" */
function lateText(d: Late): string {
	const when = d.throughout
		? ", throughout the window"
		: d.events === 0 || d.over === 1
			? ""
			: d.events === 1
				? `, in one stretch of ${duration(d.longestNs)}`
				: `, in ${count(d.events)} separate stretches, the longest ${duration(d.longestNs)}`;
	return [
		`${d.allowed < 1 ? "none" : `at most ${count(Math.floor(d.allowed))}`} of ${count(d.n)} may take longer than ${exactly(d.limitNs)}; ${did(d.over)}`,
		d.censored > 0 ? ` (${count(d.censored)} never completed)` : "",
		when,
	].join("");
}

function did(n: number): string {
	return `${n === 0 ? "none" : count(n)} did`;
}

function may(allowed: number): string {
	return allowed < 1 ? "none may" : `at most ${count(Math.floor(allowed))} may`;
}

function burst({ lateSeconds }: { readonly lateSeconds: number }): string {
	return `the load generator was late for ${lateSeconds}s and then sent a burst, so this says nothing about the system`;
}

function withoutBurst(d: Without): string {
	return `without those seconds and the one after each, ${didOf(d)}`;
}

interface Without {
	readonly nWithout: number;
	readonly overWithout: number;
}

interface OwnStops {
	/** How often and how long the generator could not run. */
	readonly stops: number;
	readonly stoppedNs: number;
}
type WithoutStops = Without & OwnStops;

function stopsText(d: OwnStops): string {
	return `the load generator was stopped ${d.stops === 1 ? "once" : `${count(d.stops)} times`}, for ${duration(d.stoppedNs)}, so this says nothing about the system`;
}

function withoutStops(d: WithoutStops): string {
	return `without its lag and the messages due around that, ${didOf(d)}`;
}

interface WithoutHeld extends HeldUp, Without {
	/** How long the load lasted that was held. */
	readonly heldNs: number;
}

function withoutHeld(d: WithoutHeld): string {
	return `without the ${duration(d.heldNs)} of load that waited there, ${didOf(d)}`;
}

/** "none of 8 000 did" */
function didOf(d: Without): string {
	return `${d.overWithout === 0 ? "none" : count(d.overWithout)} of ${count(d.nWithout)} did`;
}

interface Slow {
	readonly n: number;
	readonly over: number;
	readonly limitNs: number;
}

function slowText({ n, over, limitNs }: Slow): string {
	return `${over === 0 ? "none" : count(over)} of ${count(n)} took longer than ${exactly(limitNs)}`;
}

interface Tally {
	/** "reordered (by producer and key)" */
	readonly name: string;
	/** As it is printed: "15", "1 900/s", "2.1s". */
	readonly measured: string;
	/** Of a count, those of the warm-up; null: a rate or a time. */
	readonly warmup: number | null;
	/** Of what may still come when every message has settled: how long that was waited for. null: it was not. */
	readonly lookedNs: number | null;
}

function tallyText({ name, measured, warmup, lookedNs }: Tally): string {
	const where =
		warmup === null
			? ""
			: ` in warm-up and window${warmup === 0 ? "" : ` (${count(warmup)} of them in the warm-up)`}`;
	const until =
		lookedNs === null ? "" : `, and up to ${duration(lookedNs)} after every message had settled`;
	return `${measured} ${name}${where}${until}`;
}

interface Fault {
	/** "kill of node 2 (the leader)", and when it was, from the opening of the window. */
	readonly fault: string;
	readonly atNs: number;
	/** It is the worst of so many. */
	readonly faults: number;
	/** How long it lasted; open: it had not ended by then. */
	readonly lastedNs: number;
	readonly open: boolean;
}

function faultText({ fault, atNs, faults }: Fault): string {
	const worst = faults > 1 ? `, the worst of ${faults} faults` : "";
	return `${fault} ${duration(Math.max(0, atNs))} after the window opened${worst}`;
}

interface Unavailable {
	readonly acks: boolean;
	readonly noticedNs: number;
	readonly cut: boolean;
}

function unavailableText(d: Fault & Unavailable): string {
	const done = d.acks ? "acknowledged" : "received";
	if (d.open && d.cut)
		return `nothing was ${done} for at least ${duration(d.lastedNs)}: the next fault began before anything was again`;
	if (d.open) return `nothing was ${done} any more, for at least ${duration(d.lastedNs)}`;
	return d.lastedNs === 0
		? `no stretch of ${duration(d.noticedNs)} or longer in which nothing was ${done}`
		: `nothing was ${done} for ${duration(d.lastedNs)}`;
}

/** "in the 7.99s until the window closed" */
function restText({ lastedNs, cut }: Fault & { readonly cut: boolean }): string {
	return `in the ${duration(lastedNs)} until ${cut ? "the next fault" : "the window closed"}`;
}

type Op = "<" | "<=" | "==" | ">=" | ">";

const ASKS: Readonly<Record<Op, string>> = {
	"<": "less than",
	"<=": "at most",
	"==": "exactly",
	">=": "at least",
	">": "more than",
};

interface Stopped {
	readonly afterNs: number;
}
