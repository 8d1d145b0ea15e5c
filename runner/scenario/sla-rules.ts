import type { Traits } from "../brokers/index.ts";
import type { Metric, Sla } from "../model/plan.ts";
import { type Need, needs, TALLIES, type Tally } from "../model/tallies.ts";
import { say } from "../text/say.ts";
import type { Case } from "./scenario.ts";
import { meanPerSecond } from "./schedule.ts";

/** Why a line cannot be judged in the cases and systems it is for: sentences, each with a way on; empty: it can. */
export function unanswerable(
	expect: Sla,
	cases: readonly Case[],
	systems: readonly { readonly key: string; readonly traits: Traits }[],
	clients = 1,
): string[] {
	const line: Line = { expect, cases, systems, clients };
	const why =
		expect.kind === "tally"
			? [
					...(TALLIES[expect.tally].needs ?? []).map((need) => LACKING[need]),
					aboveTheRate,
				]
			: [
					withoutSchedule,
					withoutConsumers,
					noSlowest,
					slowestApart,
					acknowledgesNothing,
				];
	// The first reason is enough: others follow from it.
	const found = why.map((reason) => reason(line)).find((text) => text);
	return found === undefined ? [] : [`"${expect.text}": ${found}`];
}

// --- internal ---

interface Line {
	readonly expect: Sla;
	readonly cases: readonly Case[];
	readonly systems: readonly {
		readonly key: string;
		readonly traits: Traits;
	}[];
	/** That share the messages. */
	readonly clients: number;
}
type Reason = (line: Line) => string | undefined;

/** Messages that may wait when a backlog counts as drained (verdict/backlog-drain.ts). */
const DRAINED = 1000;
const FROM_INTENDED: readonly Metric[] = ["response", "lag", "queued", "last"];

/** "p99 < 5ms" -> "service p99 < 5ms". */
function instead(expect: Sla, metric: Metric): string {
	const bare = expect.text.replace(
		/^(response|service|lag|queued|ack|last) /,
		"",
	);
	return `${metric} ${bare}`;
}

/** " of case "256B"", when the line is for several. */
function of(one: Case, { cases }: Line): string {
	return cases.length === 1 ? "" : ` (case "${one.name}")`;
}

const withoutSchedule: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind === "tally" || !FROM_INTENDED.includes(expect.metric))
		return undefined;
	const closed = cases.find(({ schedule }) => schedule.kind === "closed");
	return (
		closed &&
		`a closed load (messages)${of(closed, line)} has no schedule, and so no ${expect.metric}; write ${instead(expect, "service")}`
	);
};

const withoutConsumers: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind === "tally") return undefined;
	if (expect.metric !== "response" && expect.metric !== "service")
		return undefined;
	const paused = cases.find(({ pattern }) => pattern === "backlog");
	return (
		paused &&
		`in pattern backlog${of(paused, line)} consumers pause, and ${expect.metric} would only show that pause; write ${instead(expect, "ack")}`
	);
};

const noSlowest: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind === "tally" || expect.metric !== "last") return undefined;
	const other = cases.find(({ pattern }) => pattern !== "fan-out");
	return (
		other &&
		`last, the slowest subscriber, needs pattern: fan-out; this workload is ${other.pattern}${of(other, line)}; write ${instead(expect, "response").replace("response ", "")}`
	);
};

/** Copies of one message on several clients: none of them knows which one was the last. */
const slowestApart: Reason = ({ expect, clients }) =>
	expect.kind !== "tally" && expect.metric === "last" && clients > 1
		? `last, the slowest subscriber, needs one client, which sees all copies of a message; write ${instead(expect, "response").replace("response ", "")}`
		: undefined;

const orderApart: Reason = (line) => {
	const { cases, clients } = line;
	const group = cases.find(
		({ pattern }) => pattern === "work-queue" || pattern === "backlog",
	);
	return group && clients > 1
		? `in pattern ${group.pattern}${of(group, line)} order can only be checked by one client, and there are ${clients}; remove this line`
		: undefined;
};

const acknowledgesNothing: Reason = ({ expect, systems }) => {
	if (expect.kind === "tally" || expect.metric !== "ack") return undefined;
	const silent = withoutAcks(systems);
	return silent.length === 0
		? undefined
		: `${who(silent)} nothing, so there is no ack latency; write ${instead(expect, "response").replace("response ", "")}`;
};

/** Of a closed load it is what was sent then: nothing else bounds it. */
const noAcksToCount: Reason = ({ systems, cases }) => {
	const silent = withoutAcks(systems);
	return silent.length === 0 ||
		cases.every(({ schedule }) => schedule.kind === "closed")
		? undefined
		: `${who(silent)} nothing, so nobody knows what the broker has accepted; write throughput, which counts received messages`;
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
		: `${cases.length === 1 ? "messages" : `messages of case "${blind.name}"`} carry no checksum, so corruption goes unnoticed; add checksum: true to workload`;
};

const nobodyReceives: Reason = (line) => {
	const { expect, cases } = line;
	const blind = cases.find(({ pattern }) => pattern === "publish");
	if (!blind || expect.kind !== "tally") return undefined;
	const other =
		TALLIES[expect.tally].unit === "messages"
			? "failed == 0"
			: "throughput.sent, which counts acknowledgements";
	return `in pattern publish${of(blind, line)} nobody receives messages; write ${other}`;
};

const noBacklog: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind !== "tally") return undefined;
	const other = cases.find(({ pattern }) => pattern !== "backlog");
	const small = cases.find(
		(one) => (one.backlog?.messages ?? Infinity) <= DRAINED,
	);
	if (!other && small)
		return `a backlog of ${small.backlog?.messages} messages${of(small, line)} is too small to measure: fewer than ${DRAINED} count as drained; write e.g. backlog: ${20 * DRAINED}`;
	return (
		other &&
		`${expect.tally} needs pattern: backlog; this workload is ${other.pattern}${of(other, line)}; remove this line`
	);
};

const nothingScheduled: Reason = (line) => {
	const closed = line.cases.find(({ schedule }) => schedule.kind === "closed");
	return (
		closed &&
		`a closed load (messages)${of(closed, line)} has no rate to achieve; write throughput.sent`
	);
};

/** More than is sent is never received: every broker would fail. */
const aboveTheRate: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind !== "tally") return undefined;
	if (
		TALLIES[expect.tally].unit !== "messages/s" ||
		needs(expect.tally, "backlog")
	)
		return undefined;
	const { limit, tally } = expect;
	for (const one of cases) {
		const perSecond =
			mostPerSecond(one) * (isCopies(tally, one) ? one.subscriptions : 1);
		if (limit <= perSecond) continue;
		const { text } = say("above-the-rate", { perSecond });
		return `${text}${of(one, line)}; write ${tally} ${expect.op} ${Math.floor(perSecond)}/s`;
	}
	return undefined;
};

/** Scheduled in the window; of random arrivals with room for chance. Infinite: nothing is scheduled, or a search decides. */
function mostPerSecond({ schedule, find }: Case): number {
	const perSecond = meanPerSecond(schedule);
	if (perSecond === null || find !== null) return Number.POSITIVE_INFINITY;
	const expected = (perSecond * schedule.durationNs) / 1e9;
	return schedule.kind === "poisson"
		? perSecond * (1 + CHANCE / Math.sqrt(expected))
		: perSecond;
}

/** Five standard deviations: one run in three million has more. */
const CHANCE = 5;

function isCopies(tally: Tally, { pattern }: Case): boolean {
	return pattern === "fan-out" && TALLIES[tally].copies === true;
}

/** Why a line has not what its tally needs. */
const LACKING: Readonly<Record<Need, Reason>> = {
	checksum: uncheckedPayloads,
	receipts: nobodyReceives,
	backlog: noBacklog,
	rate: nothingScheduled,
	acks: noAcksToCount,
	order: orderApart,
};
