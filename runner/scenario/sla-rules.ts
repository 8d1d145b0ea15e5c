import type { Traits } from "../brokers/index.ts";
import type { Metric, Sla } from "../model/plan.ts";
import { type Need, needs, TALLIES, type Tally } from "../model/tallies.ts";
import { say } from "../text/say.ts";
import { tell } from "../text/tell.ts";
import type { Case } from "./scenario.ts";
import { meanPerSecond } from "./schedule.ts";

/** Why a line cannot be judged in the cases and systems it is for: sentences, each with a way on; empty: it can. `faultsAtNs`: undefined is one with a mistake of its own. */
export function unanswerable(
	expect: Sla,
	cases: readonly Case[],
	systems: readonly { readonly key: string; readonly traits: Traits }[],
	clients = 1,
	faultsAtNs: readonly (number | undefined)[] = [],
): string[] {
	const line: Line = { expect, cases, systems, clients, faultsAtNs };
	const objections =
		expect.kind === "tally"
			? [
					...(TALLIES[expect.tally].needs ?? []).map((need) => LACKING[need]),
					aboveTheRate,
					allOfSearch,
					unanswerableUntil,
				]
			: OF_LATENCIES;
	const objection = firstOf(objections, line);
	return objection === undefined ? [] : [`"${expect.text}": ${objection}`];
}

// --- internal ---

interface Line {
	readonly expect: Sla;
	readonly cases: readonly Case[];
	readonly systems: readonly { readonly key: string; readonly traits: Traits }[];
	/** That share the messages. */
	readonly clients: number;
	/** From the end of the warm-up; undefined: not known. */
	readonly faultsAtNs: readonly (number | undefined)[];
}
type Reason = (line: Line) => string | undefined;

/** The first reason is enough: others follow from it. */
function firstOf(reasons: readonly Reason[], line: Line): string | undefined {
	return reasons.map((reason) => reason(line)).find((text) => text);
}

/** Messages that may wait when a backlog counts as drained (verdict/backlog-drain.ts). */
const DRAINED = 1000;
const FROM_INTENDED: readonly Metric[] = ["response", "lag", "queued", "last"];

/** "p99 < 5ms" -> "service p99 < 5ms". */
function instead(expect: Sla, metric: Metric): string {
	const bare = expect.text.replace(/^(response|service|lag|queued|ack|last) /, "");
	return `${metric} ${bare}`;
}

/** "last p99 < 5ms" -> "p99 < 5ms". */
function inResponse(expect: Sla): string {
	return instead(expect, "response").replace("response ", "");
}

/** " of case "256B"", when the line is for several. */
function of(one: Case, { cases }: Line): string {
	return cases.length === 1 ? "" : ` (case "${one.name}")`;
}

const withoutSchedule: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind === "tally" || !FROM_INTENDED.includes(expect.metric)) return undefined;
	const closed = cases.find(({ schedule }) => schedule.kind === "closed");
	return (
		closed &&
		tell("no-schedule", {
			case: of(closed, line),
			metric: expect.metric,
			instead: instead(expect, "service"),
		})
	);
};

const withoutConsumers: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind === "tally") return undefined;
	if (expect.metric !== "response" && expect.metric !== "service") return undefined;
	const paused = cases.find(({ pattern }) => pattern === "backlog");
	return (
		paused &&
		tell("consumers-pause", {
			case: of(paused, line),
			metric: expect.metric,
			instead: instead(expect, "ack"),
		})
	);
};

const noSlowest: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind === "tally" || expect.metric !== "last") return undefined;
	const other = cases.find(({ pattern }) => pattern !== "fan-out");
	return (
		other &&
		tell("last-without-fan-out", {
			pattern: other.pattern,
			case: of(other, line),
			instead: inResponse(expect),
		})
	);
};

/** Copies of one message on several clients: none of them knows which one was the last. */
const slowestApart: Reason = ({ expect, clients }) =>
	expect.kind !== "tally" && expect.metric === "last" && clients > 1
		? tell("last-over-clients", { instead: inResponse(expect) })
		: undefined;

const orderApart: Reason = (line) => {
	const { cases, clients } = line;
	const group = cases.find(({ pattern }) => pattern === "work-queue" || pattern === "backlog");
	return group && clients > 1
		? tell("order-over-clients", {
				pattern: `${group.pattern}${of(group, line)}`,
				clients,
				remedy: "remove this line",
			})
		: undefined;
};

const acknowledgesNothing: Reason = ({ expect, systems }) => {
	if (expect.kind === "tally" || expect.metric !== "ack") return undefined;
	const silent = withoutAcks(systems);
	return silent.length === 0
		? undefined
		: tell("no-ack-latency", { who: who(silent), instead: inResponse(expect) });
};

/** Of a closed load it is what was sent then: nothing else bounds it. */
const noAcksToCount: Reason = ({ systems, cases }) => {
	const silent = withoutAcks(systems);
	return silent.length === 0 || cases.every(({ schedule }) => schedule.kind === "closed")
		? undefined
		: tell("no-acks-to-count", { who: who(silent) });
};

function withoutAcks(systems: Line["systems"]): string[] {
	return systems.filter(({ traits }) => !traits.acks).map(({ key }) => key);
}

function who(silent: readonly string[]): string {
	return `${silent.join(" and ")} acknowledge${silent.length === 1 ? "s" : ""}`;
}

const uncheckedPayloads: Reason = ({ cases }) => {
	const blind = cases.find((one) => !one.message.checksum);
	return blind === undefined
		? undefined
		: tell("no-checksum", {
				messages: cases.length === 1 ? "messages" : `messages of case "${blind.name}"`,
			});
};

const nobodyReceives: Reason = (line) => {
	const { expect, cases } = line;
	const blind = cases.find(({ pattern }) => pattern === "publish");
	if (!blind || expect.kind !== "tally") return undefined;
	const instead =
		TALLIES[expect.tally].unit === "messages"
			? "failed == 0"
			: `throughput.sent ${expect.op} ${expect.limit}/s`;
	return tell("nobody-receives", { case: of(blind, line), instead });
};

const noBacklog: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind !== "tally") return undefined;
	const other = cases.find(({ pattern }) => pattern !== "backlog");
	const small = cases.find((one) => (one.backlog?.messages ?? Infinity) <= DRAINED);
	if (!other && small)
		return tell("backlog-unmeasurable", {
			messages: small.backlog?.messages,
			case: of(small, line),
			drained: DRAINED,
			write: 20 * DRAINED,
		});
	return (
		other &&
		tell("tally-without-backlog", { ...expect, pattern: other.pattern, case: of(other, line) })
	);
};

const nothingScheduled: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind !== "tally") return undefined;
	const closed = cases.find(({ schedule }) => schedule.kind === "closed");
	return closed && tell("no-rate-to-achieve", { ...expect, case: of(closed, line) });
};

/** More than is sent is never received: every broker would fail. */
const aboveTheRate: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind !== "tally") return undefined;
	if (TALLIES[expect.tally].unit !== "messages/s" || needs(expect.tally, "backlog"))
		return undefined;
	const { limit, tally } = expect;
	for (const one of cases) {
		const perSecond = mostPerSecond(one) * (isCopies(tally, one) ? one.subscriptions : 1);
		if (limit <= perSecond) continue;
		const { text } = say("above-the-rate", { perSecond });
		return `${text}${of(one, line)}; write ${tally} ${expect.op} ${Math.floor(perSecond)}/s`;
	}
	return undefined;
};

/** A search is for a rate at which nothing fails, and each of its runs has another number of messages. */
const allOfSearch: Reason = ({ expect, cases }) =>
	expect.kind === "tally" && expect.all && cases.some(({ find }) => find)
		? tell("all-of-search", { tally: expect.tally })
		: undefined;

/** Scheduled in the window; of random arrivals with room for chance. Infinite: nothing is scheduled, or a search decides. */
function mostPerSecond({ schedule, find }: Case): number {
	const perSecond = meanPerSecond(schedule);
	if (perSecond === null || find !== null) return Number.POSITIVE_INFINITY;
	const expected = (perSecond * schedule.durationNs) / 1e9;
	return schedule.kind === "poisson" ? perSecond * (1 + CHANCE / Math.sqrt(expected)) : perSecond;
}

/** Five standard deviations: one run in three million has more. */
const CHANCE = 5;

function isCopies(tally: Tally, { pattern }: Case): boolean {
	return pattern === "fan-out" && TALLIES[tally].copies === true;
}

/** More than counting in pieces of 100 ms can tell, and a fault that comes a little late. */
const PIECE_NS = 100_000_000;
const LATE_NS = 1_000_000_000;

/** Of a comparison, which has no limit, faults are enough. */
const unfitFaults: Reason = (line) => {
	const { expect, cases, faultsAtNs } = line;
	if (expect.kind !== "tally") return undefined;
	const { tally, limit } = expect;
	if (faultsAtNs.length === 0) return tell("faults-missing", { tally });
	if (cases.some(({ find }) => find)) return tell("faults-of-search");
	if (limit > 0 && limit < PIECE_NS) return tell("fault-limit-fine", { tally, pieceNs: PIECE_NS });
	for (const one of cases)
		for (const [i, atNs] of faultsAtNs.entries()) {
			const { durationNs } = one.schedule;
			const nextNs = faultsAtNs[i + 1] ?? durationNs;
			if (atNs === undefined || atNs >= durationNs) continue;
			const roomNs = Math.min(nextNs, durationNs) - atNs;
			const neededNs = atNs + limit + LATE_NS;
			const firstNs = PIECE_NS - one.schedule.warmupNs;
			if (tally === "drained" && atNs < firstNs)
				return tell("fault-before-count", { atNs, firstNs });
			if (limit === 0 || atNs + roomNs >= neededNs) continue;
			return nextNs < durationNs
				? tell("next-fault-too-soon", { roomNs, atNs, neededNs })
				: tell("window-ends-too-soon", { case: of(one, line), roomNs, atNs, neededNs });
		}
	return undefined;
};

/** What has to be met again is a latency like others. */
const unanswerableUntil: Reason = (line) => {
	const { expect } = line;
	return expect.kind === "tally" && expect.until
		? firstOf(OF_LATENCIES, { ...line, expect: expect.until })
		: undefined;
};

const OF_LATENCIES: readonly Reason[] = [
	withoutSchedule,
	withoutConsumers,
	noSlowest,
	slowestApart,
	acknowledgesNothing,
];

/** Why a line has not what its tally needs. */
const LACKING: Readonly<Record<Need, Reason>> = {
	faults: unfitFaults,
	checksum: uncheckedPayloads,
	receipts: nobodyReceives,
	backlog: noBacklog,
	rate: nothingScheduled,
	acks: noAcksToCount,
	order: orderApart,
};
