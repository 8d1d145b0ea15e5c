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
	/** From the end of the warm-up; undefined: one with a mistake of its own. */
	readonly faultsAtNs: readonly (number | undefined)[];
	/** Of the scenario; undefined: it has a mistake of its own. */
	readonly repeat: number | undefined;
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

/** Too few repeats to compare with a baseline; null: there are enough, or their number is wrong itself. */
export function needsRepeats(repeat: number | undefined): string | null {
	return repeat === undefined || repeat >= LEAST_REPEATS
		? null
		: tell("needs-repeats", { least: LEAST_REPEATS, repeat, write: LEAST_REPEATS + 1 });
}

// --- internal ---

type OfTally = Extract<Sla, { kind: "tally" }>;
type OfLatency = Exclude<Sla, { kind: "tally" }>;

/** Messages that may wait when a backlog counts as drained (verdict/queue.ts). */
const DRAINED = 1000;
const FROM_INTENDED: readonly Metric[] = ["response", "lag", "queued", "last"];
/** More than counting in pieces of 100 ms can tell, and a fault that comes a little late. */
const PIECE_NS = 100_000_000;
const LATE_NS = 1_000_000_000;

const isClosed = ({ schedule }: Case) => schedule.kind === "closed";

function* reasons(subject: Sla, compared: boolean, where: Where): Generator<string> {
	yield* subject.kind === "tally" ? ofTally(subject, where) : ofLatency(subject, where);
	if (!compared) return;
	const { cases, system, baseline, repeat } = where;
	const searched = cases.find(({ find }) => find !== null);
	const which = cases.length === 1 ? "" : ` like that of case "${searched?.name}"`;
	if (searched) yield tell("search-not-compared", { case: which });
	if (system !== null && baseline?.system === system) yield tell("baseline-of-itself", { system });
	const few = needsRepeats(repeat);
	if (few !== null) yield few;
}

/** " of case "256B"", when the line is for several. */
function of(one: Case, { cases }: Where): string {
	return cases.length === 1 ? "" : ` (case "${one.name}")`;
}

function* ofLatency({ metric, text, limitNs }: OfLatency, where: Where): Generator<string> {
	const { cases, systems, clients } = where;
	// "last p99 < 5ms" -> "p99 < 5ms", "service p99 < 5ms".
	const bare = text.replace(/^(response|service|lag|queued|ack|last) /, "");
	const closed = cases.find(isClosed);
	if (closed && FROM_INTENDED.includes(metric))
		yield tell("no-schedule", { case: of(closed, where), metric, instead: `service ${bare}` });
	const paused = cases.find(({ pattern }) => pattern === "backlog");
	if (paused && (metric === "response" || metric === "service"))
		yield tell("consumers-pause", { case: of(paused, where), metric, instead: `ack ${bare}` });
	if (metric === "last") {
		const other = cases.find(({ pattern }) => pattern !== "fan-out");
		if (other) {
			const { pattern } = other;
			yield tell("last-without-fan-out", { pattern, case: of(other, where), instead: bare });
		}
		// Copies of one message on several clients: none of them knows which one was the last.
		if (clients > 1) yield tell("last-over-clients", { instead: bare });
	}
	const silent = withoutAcks(systems);
	if (metric === "ack" && silent !== null)
		yield tell("no-ack-latency", { who: silent, instead: bare });
	// A message that is missing when the drain is over may have taken any time above it.
	const drainNs = cases.find((one) => one.drainNs < limitNs)?.drainNs;
	if (drainNs !== undefined) yield tell("limit-beyond-drain", { limitNs, drainNs });
}

function* ofTally(expect: OfTally, where: Where): Generator<string> {
	const { tally, all, until } = expect;
	for (const need of TALLIES[tally].needs ?? []) yield* LACKING[need](expect, where);
	// A search is for a rate at which nothing fails, and each of its runs has another number of messages.
	if (all && where.cases.some(({ find }) => find)) yield tell("all-of-search", { tally });
	// What has to be met again is a latency like others.
	if (until) yield* ofLatency(until, where);
}

/** Why a line has not what its tally needs. */
const LACKING: Readonly<Record<Need, (line: OfTally, where: Where) => Generator<string>>> = {
	faults: unfitFaults,

	*checksum(_, { cases }) {
		const blind = cases.find((one) => !one.message.checksum);
		const messages = cases.length === 1 ? "messages" : `messages of case "${blind?.name}"`;
		if (blind) yield tell("no-checksum", { messages });
	},

	*receipts({ tally, op, limit }, where) {
		const blind = where.cases.find(({ pattern }) => pattern === "publish");
		const counts = TALLIES[tally].unit === "messages";
		const instead = counts ? "failed == 0" : `throughput.sent ${op} ${limit}/s`;
		if (blind) yield tell("nobody-receives", { case: of(blind, where), instead });
	},

	*backlog(expect, where) {
		const other = where.cases.find(({ pattern }) => pattern !== "backlog");
		const small = where.cases.find((one) => (one.backlog?.messages ?? Infinity) <= DRAINED);
		if (other) {
			const { pattern } = other;
			yield tell("tally-without-backlog", { ...expect, pattern, case: of(other, where) });
		} else if (small)
			yield tell("backlog-unmeasurable", {
				messages: small.backlog?.messages,
				case: of(small, where),
				drained: DRAINED,
				write: 20 * DRAINED,
			});
	},

	*rate(expect, where) {
		const closed = where.cases.find(isClosed);
		if (closed) yield tell("no-rate-to-achieve", { ...expect, case: of(closed, where) });
	},

	// Of a closed load it is what was sent then: nothing else bounds it.
	*acks(_, { systems, cases }) {
		const silent = withoutAcks(systems);
		if (silent !== null && !cases.every(isClosed)) yield tell("no-acks-to-count", { who: silent });
	},

	*order(_, where) {
		const { cases, clients } = where;
		const group = cases.find(({ pattern }) => pattern === "work-queue" || pattern === "backlog");
		const pattern = group && `${group.pattern}${of(group, where)}`;
		if (pattern && clients > 1)
			yield tell("order-over-clients", { pattern, clients, remedy: "remove this line" });
	},
};

/** "a and b acknowledge"; null: all do so. */
function withoutAcks(systems: Where["systems"]): string | null {
	const silent = systems.filter(({ traits }) => !traits.acks).map(({ key }) => key);
	if (silent.length === 0) return null;
	return `${silent.join(" and ")} acknowledge${silent.length === 1 ? "s" : ""}`;
}

/** Of a comparison, which has no limit, faults are enough. */
function* unfitFaults({ tally, limit }: OfTally, where: Where): Generator<string> {
	const { cases, faultsAtNs } = where;
	if (faultsAtNs.length === 0) yield tell("faults-missing", { tally });
	if (cases.some(({ find }) => find)) yield tell("faults-of-search");
	if (limit > 0 && limit < PIECE_NS) yield tell("fault-limit-fine", { tally, pieceNs: PIECE_NS });
	for (const one of cases)
		for (const [i, atNs] of faultsAtNs.entries()) {
			const { durationNs } = one.schedule;
			const nextNs = faultsAtNs[i + 1] ?? durationNs;
			if (atNs === undefined || atNs >= durationNs || limit === 0) continue;
			const neededNs = atNs + limit + LATE_NS;
			const untilNs = Math.min(nextNs, durationNs);
			if (untilNs >= neededNs) continue;
			const what = nextNs < durationNs ? "next fault" : "end of the window";
			yield tell("too-soon-after-fault", {
				what,
				case: of(one, where),
				roomNs: untilNs - atNs,
				atNs,
				neededNs,
			});
		}
}
