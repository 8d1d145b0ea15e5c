import type { Traits } from "../../brokers/index.ts";
import { subjectOf } from "../../model/baseline-sla.ts";
import type { Need } from "../../model/counts.ts";
import type { BaselineSla, Metric, Sla } from "../../model/plan.ts";
import { TALLIES } from "../../model/tallies.ts";
import { tell } from "../../text/tell.ts";
import type { Case, Scenario } from "../scenario.ts";

/** Where a line is to be judged. */
interface Where {
	readonly cases: readonly Case[];
	readonly systems: readonly { readonly key: string; readonly traits: Traits }[];
	/** That share the messages. */
	readonly clients: number;
	/** From the end of the warm-up. */
	readonly faultsAtNs: readonly number[];
	readonly repeat: number;
	readonly baseline: Scenario["baseline"];
	/** The one that the line is for; null: all. */
	readonly system: string | null;
}

/** Fewer runs on each side have no interval at 95 %: three and three can never reach it (reports/README.md, "Comparing two sets of runs"). */
export const LEAST_REPEATS = 4;

/** Why a line cannot be judged in the cases and systems it is for: a sentence with a way on; undefined: it can. The first reason is enough: others follow from it. */
export function unanswerable(expect: Sla | BaselineSla, where: Where): string | undefined {
	const subject = expect.kind === "baseline" ? subjectOf(expect) : expect;
	const [why] = reasons(subject, expect.kind === "baseline", where);
	return why === undefined ? undefined : `"${expect.text}": ${why}`;
}

/** Too few repeats to compare with a baseline; null: there are enough. */
export function needsRepeats(repeat: number): string | null {
	return repeat >= LEAST_REPEATS
		? null
		: tell("needs-repeats", { least: LEAST_REPEATS, repeat, write: LEAST_REPEATS + 1 });
}

// --- internal ---

type OfTally = Extract<Sla, { kind: "tally" }>;
type OfLatency = Exclude<Sla, { kind: "tally" }>;

/** Messages that may wait when a backlog counts as drained (verdict/backlog-drain.ts). */
const DRAINED = 1000;
const FROM_INTENDED: readonly Metric[] = ["response", "lag", "queued", "last"];
/** More than counting in pieces of 100 ms can tell, and a fault that comes a little late. */
const PIECE_NS = 100_000_000;
const LATE_NS = 1_000_000_000;

const isClosed = ({ schedule }: Case) => schedule.kind === "closed";
const isBacklog = ({ pattern }: Case) => pattern === "backlog";

function* reasons(subject: Sla, compared: boolean, where: Where): Generator<string> {
	const isTally = subject.kind === "tally";
	yield* isTally ? ofTally(subject, where) : ofLatency(subject, where);
	const { system, baseline, repeat } = where;
	// Each of its runs has another rate, and another number of messages.
	const searched = caseOf(where, ({ find }) => find !== null);
	const needsFault = isTally && (TALLIES[subject.tally].needs ?? []).includes("faults");
	if (searched && (compared || needsFault || (isTally && subject.all)))
		yield tell("line-of-search", searched);
	if (!compared) return;
	if (system !== null && baseline?.system === system) yield tell("baseline-of-itself", { system });
	const few = needsRepeats(repeat);
	if (few !== null) yield few;
}

/** The first such case: its pattern, and " (case "256B")" when the line is for several; undefined: there is none. */
function caseOf({ cases }: Where, test: (one: Case) => boolean) {
	const one = cases.find(test);
	const name = cases.length === 1 ? "" : ` (case "${one?.name}")`;
	return one && { pattern: one.pattern, case: name, messages: one.backlog?.messages };
}

function* ofLatency({ metric, text, limitNs }: OfLatency, where: Where): Generator<string> {
	const { cases, clients } = where;
	// "last p99 < 5ms" -> "p99 < 5ms", "service p99 < 5ms".
	const bare = text.replace(/^(response|service|lag|queued|ack|last) /, "");
	const closed = caseOf(where, isClosed);
	if (closed && FROM_INTENDED.includes(metric))
		yield tell("no-schedule", { ...closed, metric, instead: `service ${bare}` });
	const paused = caseOf(where, isBacklog);
	if (paused && (metric === "response" || metric === "service"))
		yield tell("consumers-pause", { ...paused, metric, instead: `ack ${bare}` });
	if (metric === "last") {
		const other = caseOf(where, ({ pattern }) => pattern !== "fan-out");
		if (other) yield tell("last-without-fan-out", { ...other, instead: bare });
		// Copies of one message on several clients: none of them knows which one was the last.
		if (clients > 1) yield tell("last-over-clients", { instead: bare });
	}
	const who = withoutAcks(where);
	if (metric === "ack" && who !== null) yield tell("no-ack-latency", { who, instead: bare });
	// A message that is missing when the drain is over may have taken any time above it.
	const drainNs = cases.find((one) => one.drainNs < limitNs)?.drainNs;
	if (drainNs !== undefined) yield tell("limit-beyond-drain", { limitNs, drainNs });
}

function* ofTally(expect: OfTally, where: Where): Generator<string> {
	const { tally, until } = expect;
	for (const need of TALLIES[tally].needs ?? []) yield* LACKING[need](expect, where);
	// What has to be met again is a latency like others.
	if (until) yield* ofLatency(until, where);
}

/** Why a line has not what its tally needs. */
const LACKING: Readonly<Record<Need, (line: OfTally, where: Where) => Generator<string>>> = {
	faults: unfitFaults,

	*checksum(_, where) {
		const blind = caseOf(where, ({ message }) => !message.checksum);
		if (blind) yield tell("no-checksum", blind);
	},

	*receipts({ tally, op, limit }, where) {
		const blind = caseOf(where, ({ pattern }) => pattern === "publish");
		const counts = TALLIES[tally].unit === "messages";
		const instead = counts ? "failed == 0" : `throughput.sent ${op} ${limit}/s`;
		if (blind) yield tell("nobody-receives", { ...blind, instead });
	},

	*backlog({ tally }, where) {
		const other = caseOf(where, (one) => !isBacklog(one));
		if (other) yield tell("tally-without-backlog", { ...other, tally });
		const small = caseOf(where, (one) => (one.backlog?.messages ?? Infinity) <= DRAINED);
		if (small)
			yield tell("backlog-unmeasurable", { ...small, drained: DRAINED, write: 20 * DRAINED });
	},

	*rate(expect, where) {
		const closed = caseOf(where, isClosed);
		if (closed) yield tell("no-rate-to-achieve", { ...expect, ...closed });
	},

	// Of a closed load it is what was sent then: nothing else bounds it.
	*acks(_, where) {
		const who = withoutAcks(where);
		if (who !== null && !where.cases.every(isClosed)) yield tell("no-acks-to-count", { who });
	},

	*order(_, where) {
		const { clients } = where;
		const group = caseOf(where, (one) => one.pattern === "work-queue" || isBacklog(one));
		if (group && clients > 1)
			yield tell("order-over-clients", { ...group, clients, remedy: "remove this line" });
	},
};

/** "a and b acknowledge"; null: all do so. */
function withoutAcks({ systems }: Where): string | null {
	const silent = systems.filter(({ traits }) => !traits.acks).map(({ key }) => key);
	if (silent.length === 0) return null;
	return `${silent.join(" and ")} acknowledge${silent.length === 1 ? "s" : ""}`;
}

/** Of a comparison, which has no limit, faults are enough. */
function* unfitFaults({ tally, limit }: OfTally, where: Where): Generator<string> {
	const { cases, faultsAtNs } = where;
	if (faultsAtNs.length === 0) yield tell("faults-missing", { tally });
	if (limit > 0 && limit < PIECE_NS) yield tell("fault-limit-fine", { tally, pieceNs: PIECE_NS });
	if (limit === 0) return;
	for (const one of cases)
		for (const [i, atNs] of faultsAtNs.entries()) {
			const { durationNs } = one.schedule;
			const untilNs = Math.min(faultsAtNs[i + 1] ?? durationNs, durationNs);
			const neededNs = atNs + limit + LATE_NS;
			if (atNs >= durationNs || untilNs >= neededNs) continue;
			const what = untilNs < durationNs ? "next fault" : "end of the window";
			const at = { case: caseOf(where, ({ name }) => name === one.name)?.case };
			yield tell("too-soon-after-fault", { what, ...at, roomNs: untilNs - atNs, atNs, neededNs });
		}
}
