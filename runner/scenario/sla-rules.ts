import type { Traits } from "../brokers/index.ts";
import type { Metric, Sla } from "../model/plan.ts";
import { type Need, TALLIES } from "../model/tallies.ts";
import type { Case } from "./scenario.ts";

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
			? (TALLIES[expect.tally].needs ?? []).map((need) => LACKING[need])
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
		`a closed load (messages)${of(closed, line)} has no intended times, so that there is no ${expect.metric}; write ${instead(expect, "service")}, or give a rate`
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
		`with pattern backlog${of(paused, line)} consumers pause, so that ${expect.metric} would show the pause; write ${instead(expect, "ack")}, or judge drainTime`
	);
};

const noSlowest: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind === "tally" || expect.metric !== "last") return undefined;
	const other = cases.find(({ pattern }) => pattern !== "fan-out");
	return (
		other &&
		`last is the slowest subscriber of pattern fan-out, and this is ${other.pattern}${of(other, line)}; write ${instead(expect, "response").replace("response ", "")}`
	);
};

/** Copies of one message on several clients: none of them knows which one was the last. */
const slowestApart: Reason = ({ expect, clients }) =>
	expect.kind !== "tally" && expect.metric === "last" && clients > 1
		? `last is the slowest of a message's copies, and ${clients} clients receive them apart; write ${instead(expect, "response").replace("response ", "")}, which counts each copy, or clients: 1`
		: undefined;

const orderApart: Reason = (line) => {
	const { cases, clients } = line;
	const group = cases.find(
		({ pattern }) => pattern === "work-queue" || pattern === "backlog",
	);
	return group && clients > 1
		? `reordered cannot be seen where the members of a group are on ${clients} clients, as with pattern ${group.pattern}${of(group, line)}; remove the line, or write clients: 1`
		: undefined;
};

const acknowledgesNothing: Reason = ({ expect, systems }) => {
	if (expect.kind === "tally" || expect.metric !== "ack") return undefined;
	const silent = withoutAcks(systems);
	return silent.length === 0
		? undefined
		: `${who(silent)} nothing, so that there is no ack latency; use response or service, or name another system`;
};

/** Of a closed load it is what was sent then: nothing else bounds it. */
const noAcksToCount: Reason = ({ systems, cases }) => {
	const silent = withoutAcks(systems);
	return silent.length === 0 ||
		cases.every(({ schedule }) => schedule.kind === "closed")
		? undefined
		: `${who(silent)} nothing, so that nobody knows what was taken; use achieved (really sent) or throughput (received), or name another system`;
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
		: `${cases.length === 1 ? "messages" : `messages of case "${blind.name}"`} carry no checksum, so that corruption goes unseen; add checksum: true to workload`;
};

const nobodyReceives: Reason = (line) => {
	const { expect, cases } = line;
	const blind = cases.find(({ pattern }) => pattern === "publish");
	if (!blind || expect.kind !== "tally") return undefined;
	const other =
		TALLIES[expect.tally].unit === "messages"
			? "failed == 0 or unknown == 0, or another pattern"
			: "throughput.sent, which counts acknowledgements, or achieved";
	return `with pattern publish${of(blind, line)} nobody receives; write ${other}`;
};

const noBacklog: Reason = (line) => {
	const { expect, cases } = line;
	if (expect.kind !== "tally") return undefined;
	const other = cases.find(({ pattern }) => pattern !== "backlog");
	const small = cases.find(
		(one) => (one.backlog?.messages ?? Infinity) <= DRAINED,
	);
	if (!other && small)
		return `a backlog of ${small.backlog?.messages} messages${of(small, line)} is none to drain, as up to ${DRAINED} that wait count as drained; write e.g. backlog: ${20 * DRAINED}`;
	return (
		other &&
		`${expect.tally} is of pattern backlog, and this is ${other.pattern}${of(other, line)}; write pattern: backlog, or remove the line`
	);
};

const nothingScheduled: Reason = (line) => {
	const closed = line.cases.find(({ schedule }) => schedule.kind === "closed");
	return (
		closed &&
		`a closed load (messages)${of(closed, line)} has no rate to achieve; write throughput or throughput.sent`
	);
};

/** Why a line has not what its tally needs. */
const LACKING: Readonly<Record<Need, Reason>> = {
	checksum: uncheckedPayloads,
	receipts: nobodyReceives,
	backlog: noBacklog,
	rate: nothingScheduled,
	acks: noAcksToCount,
	order: orderApart,
};
