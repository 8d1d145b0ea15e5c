import { smallestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import type { Plan } from "../model/plan.ts";
import { offsetNs } from "../plan/offset.ts";
import { copies } from "../plan/samples.ts";
import { type Bits, countBoth, firstOf, joined, type LedgerSet, without } from "./ledger-bits.ts";

export type CountedLedgers = ReturnType<typeof countLedgers>;

/**
 * Counts messages that one client sent and another received; `ledgers` has a list per client. Sets are merged bit by bit, producer by
 * producer, so all counts are exact:
 *
 * - with acknowledgements: lost = acked and not received; unackedReceived = received, neither acked nor failed
 * - without: lost = tried, neither failed, unknown nor received; unackedReceived = received and unknown
 * - delivered = received - failedReceived - unackedReceived
 * - duplicated = the sum of each client's receipts - receipts by any of them
 *
 * Throws a sentence when a set does not match its line, or contains messages that the plan does not have.
 */
export function countLedgers(plan: Plan, ledgers: readonly (readonly LedgerSet[])[]) {
	const subscribers = copies(plan);
	for (const { producer, subscriber } of ledgers.flat()) {
		if (producer >= plan.producers)
			throw new Error(`names producer ${producer}, which the plan does not have`);
		if (subscriber >= subscribers)
			throw new Error(`names subscriber ${subscriber}, which the plan does not have`);
	}
	const [warmup, window] = [noCounts(), noCounts()];
	const lost: number[] = [];
	const duplicated: number[] = [];
	const byProducer = ledgers.map((sets) => grouped(sets, ({ producer }) => producer));
	for (let p = 0; p < plan.producers; p++) {
		const size = sequences(plan, p, plan.schedule.messages);
		const opens = sequences(plan, p, plan.schedule.warmupMessages);
		const clients = byProducer.map((sets) => sets.get(p) ?? []);
		const union = (sets: readonly LedgerSet[], name: LedgerSet["set"], subscriber = 0) =>
			joined(
				sets.filter((s) => s.set === name && s.subscriber === subscriber),
				size,
			);
		const all = clients.flat();
		const sent = {
			attempted: union(all, "tried"),
			failed: union(all, "failed"),
			acked: union(all, "acked"),
			unknown: union(all, "unknown"),
		};
		// A client may have several lines of one set, which are joined.
		const receipts = Array.from({ length: subscribers }, (_, subscriber) =>
			receiptsOf(
				clients.map((sets) => union(sets, "received", subscriber)),
				sent,
				plan.acks,
			),
		);
		addCounts(warmup, sent, receipts, plan.acks, 0, opens);
		addCounts(window, sent, receipts, plan.acks, opens, size);
		const index = (sequence: number | null) =>
			sequence === null ? [] : [sequence * plan.producers + p];
		for (const { lost: missing, twice } of receipts) {
			for (const at of index(firstOf(missing))) lost.push(at);
			for (const at of index(firstOf(twice))) duplicated.push(at);
		}
	}
	return {
		warmup: countsOf(warmup, plan.acks),
		window: countsOf(window, plan.acks),
		/** The first message, by intended time, that is missing somewhere, and the first that two clients received. */
		firstLost: firstDue(plan, lost),
		firstDuplicated: firstDue(plan, duplicated),
	};
}

// --- internal ---

type Sent = Readonly<Record<"attempted" | "failed" | "acked" | "unknown", Bits>>;

type Sums = ReturnType<typeof noCounts>;

const noCounts = () => ({
	sent: 0,
	acked: 0,
	failed: 0,
	received: 0,
	delivered: 0,
	lost: 0,
	failedReceived: 0,
	unackedReceived: 0,
	/** Receipts of one message by several clients, less one. A second copy at the same client does not count. */
	duplicated: 0,
	/** Receipts of messages that no client sent: a bug in mqbench. */
	strange: 0,
});

/** Counts sequences [from, to) of a producer. */
function addCounts(
	sum: Sums,
	{ attempted, failed, acked, unknown }: Sent,
	receipts: readonly ReturnType<typeof receiptsOf>[],
	acks: boolean,
	from: number,
	to: number,
): void {
	const count = (a: Bits, b = a) => countBoth(a, b, from, to);
	sum.sent += count(attempted);
	sum.acked += count(acked);
	sum.failed += count(failed);
	for (const { any, each, lost } of receipts) {
		const received = count(any);
		const failedReceived = count(any, failed);
		const unackedReceived = acks
			? received - count(any, acked) - failedReceived
			: count(any, unknown);
		sum.received += received;
		sum.failedReceived += failedReceived;
		sum.unackedReceived += unackedReceived;
		sum.delivered += received - failedReceived - unackedReceived;
		sum.lost += count(lost);
		sum.duplicated += each.reduce((all, one) => all + count(one), -received);
		sum.strange += received - count(any, attempted);
	}
}

/** Counts of the warm-up or window (model/counts.ts); null if the system acknowledges nothing. */
function countsOf(sum: Sums, acks: boolean) {
	const unackedReceived = acks || sum.unackedReceived > 0 ? sum.unackedReceived : null;
	return { ...sum, acked: acks ? sum.acked : null, unackedReceived };
}

function firstDue({ producers, schedule }: Plan, messages: readonly number[]) {
	if (messages.length === 0) return null;
	const i = smallestOf(messages);
	return {
		producer: i % producers,
		sequence: Math.floor(i / producers),
		intendedNs: offsetNs(schedule, i),
	};
}

/** How many messages below i belong to producer p: message i is sequence floor(i / P) of producer i mod P. */
function sequences({ producers }: Plan, p: number, i: number): number {
	return i <= p ? 0 : Math.floor((i - p - 1) / producers) + 1;
}

/** `twice`: by at least two. `lost`: missing, though the system owes them. */
function receiptsOf(
	each: readonly Bits[],
	{ attempted, failed, acked, unknown }: Sent,
	acks: boolean,
) {
	const owed = acks ? acked : without(without(attempted, failed), unknown);
	const [first, ...others] = each.filter((bits) => bits !== null);
	if (first === undefined) return { any: null, twice: null, each, lost: owed };
	// In most runs one client has all of a subscriber's receipts, or of a producer's messages: then nothing is copied.
	let any = first;
	let twice: Uint32Array | null = null;
	for (const bits of others) {
		const both = new Uint32Array(any.length);
		const either = new Uint32Array(any.length);
		for (let i = 0; i < any.length; i++) {
			both[i] = (twice?.[i] ?? 0) | ((any[i] ?? 0) & (bits[i] ?? 0));
			either[i] = (any[i] ?? 0) | (bits[i] ?? 0);
		}
		[any, twice] = [either, both];
	}
	return { any, twice, each, lost: without(owed, any) };
}
