import { hasProcess } from "../../brokers/index.ts";
import type { Need } from "../../model/counts.ts";
import { CATCH_UP } from "../../model/load.ts";
import { type BaselineSla, type Metric, type Sla, subjectOf } from "../../model/plan.ts";
import { needs, TALLIES } from "../../model/tallies.ts";
import { tell } from "../../text/tell.ts";
import type { Case, Scenario } from "../scenario.ts";

interface Where extends Pick<Scenario, "systems" | "cases" | "faults" | "repeat" | "baseline"> {
	readonly clients: number;
	readonly system: string | null;
}

/** Three runs on each side cannot reach a 95% interval (reports/METHOD.md, "Comparing two sets of runs"). */
export const LEAST_REPEATS = 4;

/** The first reason why a line cannot be judged, with a remedy; other reasons follow from it. */
export function unanswerable(expect: Sla | BaselineSla, where: Where): string | undefined {
	const subject = expect.kind === "baseline" ? subjectOf(expect) : expect;
	const [why] = reasons(subject, expect.kind === "baseline", where);
	return why === undefined ? undefined : `"${expect.text}": ${why}`;
}

export function needsRepeats(repeat: number): string | null {
	return repeat >= LEAST_REPEATS
		? null
		: tell("needs-repeats", { least: LEAST_REPEATS, repeat, write: LEAST_REPEATS + 1 });
}

// --- internal ---

type OfTally = Extract<Sla, { kind: "tally" }>;
type OfLatency = Exclude<Sla, { kind: "tally" }>;
/** A backlog with fewer waiting messages counts as drained (verdict/backlog-drain.ts). */
const DRAINED = 1000;
const FROM_INTENDED: readonly Metric[] = ["response", "lag", "queued", "last"];
/** Counting in 100 ms pieces cannot resolve less, and a fault may come a little late. */
const PIECE_NS = 100_000_000;
const LATE_NS = 1_000_000_000;
const OF_READING = ["receipts", "backlog"] as const;
const isClosed = ({ schedule }: Case) => schedule.kind === "closed";
const isBacklog = ({ pattern }: Case) => pattern === "backlog";

function* reasons(subject: Sla, compared: boolean, where: Where): Generator<string> {
	const isTally = subject.kind === "tally";
	const reads = caseOf(where, ({ pattern }) => pattern === CATCH_UP);
	// It counts what it receives; the main load counts what it sends.
	const ofReading = isTally && OF_READING.some((need) => needs(subject.tally, need));
	if (reads && !ofReading) yield tell("line-of-catch-up", { ...reads, instead: "drainTime < 30s" });
	if (isTally) {
		for (const need of TALLIES[subject.tally].needs ?? []) yield* LACKING[need](subject, where);
		if (subject.until) yield* ofLatency(subject.until, where);
	} else yield* ofLatency(subject, where);
	const { system, baseline, repeat } = where;
	// A search's runs differ in rate and number of messages.
	const searched = caseOf(where, ({ find }) => find !== null);
	const needsFault = isTally && needs(subject.tally, "faults");
	if (searched && (compared || needsFault || (isTally && subject.all)))
		yield tell("line-of-search", searched);
	if (!compared) return;
	if (system !== null && baseline?.system === system) yield tell("baseline-of-itself", { system });
	const few = needsRepeats(repeat);
	if (few !== null) yield few;
}

/** The first such case; its name is " (case "256B")" if the line is for several. */
function caseOf({ cases }: Where, test: (one: Case) => boolean) {
	const one = cases.find(test);
	const name = cases.length === 1 ? "" : ` (case "${one?.name}")`;
	return one && { pattern: one.pattern, case: name, messages: one.backlog?.messages };
}

function* ofLatency({ metric, text, limitNs }: OfLatency, where: Where): Generator<string> {
	const { cases, clients } = where;
	// "last p99 < 5ms" -> "p99 < 5ms"
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
		// With copies on several clients, no client can identify the last copy.
		if (clients > 1) yield tell("last-over-clients", { instead: bare });
	}
	const who = withoutAcks(where);
	if (metric === "ack" && who !== null) yield tell("no-ack-latency", { who, instead: bare });
	// A message missing after the drain may have taken any time above it.
	const drainNs = cases.find((one) => one.drainNs < limitNs)?.drainNs;
	if (drainNs !== undefined) yield tell("limit-beyond-drain", { limitNs, drainNs });
}

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
		const other = caseOf(where, (one) => !isBacklog(one) && one.pattern !== CATCH_UP);
		if (other) yield tell("tally-without-backlog", { ...other, tally });
		const small = caseOf(where, (one) => (one.backlog?.messages ?? Infinity) <= DRAINED);
		if (small)
			yield tell("backlog-unmeasurable", { ...small, drained: DRAINED, write: 20 * DRAINED });
	},

	*rate(expect, where) {
		const closed = caseOf(where, isClosed);
		if (closed) yield tell("no-rate-to-achieve", { ...expect, ...closed });
	},

	// Without acks a closed load counts its sends: nothing else limits it.
	*acks(_, where) {
		const who = withoutAcks(where);
		if (who !== null && !where.cases.every(isClosed)) yield tell("no-acks-to-count", { who });
	},

	*broker({ tally }, { systems }) {
		const bare = systems.find(({ options }) => !hasProcess(options));
		if (bare) yield tell("no-broker-process", { system: bare.key, tally });
	},

	*order(_, where) {
		const { clients } = where;
		const group = caseOf(where, (one) => one.pattern === "work-queue" || isBacklog(one));
		if (group && clients > 1)
			yield tell("order-over-clients", { ...group, clients, remedy: "remove this line" });
	},
};

function withoutAcks({ systems, cases }: Where): string | null {
	// There, the answer to a login counts.
	if (cases.every(({ pattern }) => pattern === "connect")) return null;
	const silent = systems.filter(({ traits }) => !traits.acks).map(({ key }) => key);
	if (silent.length === 0) return null;
	return `${silent.join(" and ")} acknowledge${silent.length === 1 ? "s" : ""}`;
}

/** A comparison has no limit and only needs faults. */
function* unfitFaults({ tally, limit }: OfTally, where: Where): Generator<string> {
	const { cases, faults } = where;
	if (faults.length === 0) yield tell("faults-missing", { tally });
	if (tally === "served" && faults.length > 0 && !faults.some(({ of }) => of === "consumers"))
		yield tell("served-without-consumers");
	if (limit > 0 && limit < PIECE_NS) yield tell("fault-limit-fine", { tally, pieceNs: PIECE_NS });
	// Receipts count until the drain is over, also after the next fault.
	if (limit === 0 || tally === "served") return;
	for (const one of cases)
		for (const [i, { atNs }] of faults.entries()) {
			const { durationNs } = one.schedule;
			const untilNs = Math.min(faults[i + 1]?.atNs ?? durationNs, durationNs);
			const neededNs = atNs + limit + LATE_NS;
			if (atNs >= durationNs || untilNs >= neededNs) continue;
			const what = untilNs < durationNs ? "next fault" : "end of the window";
			const at = { case: caseOf(where, ({ name }) => name === one.name)?.case };
			yield tell("too-soon-after-fault", { what, ...at, roomNs: untilNs - atNs, atNs, neededNs });
		}
}
