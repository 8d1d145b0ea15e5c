import type { Plan } from "../model/plan.ts";
import { offsetNs } from "../plan/offset.ts";
import { copies } from "../plan/samples.ts";
import { type Bits, count, countBoth, firstOf, joined, without } from "./ledger-bits.ts";
import type { LedgerSet } from "./ledger-file.ts";

/** What became of the messages of warm-up or window, by the ledgers of all clients together. Receipts are of a fan-out copies. */
interface LedgerCounts {
	readonly sent: number;
	/** null: the system acknowledges nothing. */
	readonly acked: number | null;
	readonly failed: number;
	/** Distinct receipts, by whichever client. */
	readonly received: number;
	readonly delivered: number;
	readonly lost: number;
	readonly failedReceived: number;
	/** null: the system acknowledges nothing. */
	readonly unackedReceived: number | null;
	/** Receipts of one message by several clients: all of them less one. A client's own second copies are not among them. */
	readonly duplicated: number;
	/** Receipts of messages that no client has sent: a bug of mqbench. */
	readonly strange: number;
}

export interface CountedLedgers {
	readonly warmup: LedgerCounts;
	readonly window: LedgerCounts;
	/** The message that was due first of those that are missing somewhere, and of those that two clients have received. */
	readonly firstLost: MessageId | null;
	readonly firstDuplicated: MessageId | null;
}

/** As in `offenders` of a client's file. */
interface MessageId {
	readonly producer: number;
	readonly sequence: number;
	readonly intendedNs: number;
}

/**
 * Counts messages that cross from client to client: what one client sent and another received. `ledgers` has one list for each client. Sets are
 * merged bit by bit, producer after producer, so all counts are exact:
 *
 * - with acknowledgements: lost = acked and not received; unackedReceived = received, neither acked nor failed
 * - without: lost = tried, neither failed, unknown nor received; unackedReceived = received and unknown
 * - delivered = received less failedReceived and unackedReceived
 * - duplicated = receipts by each client, added up, less those by any of them
 *
 * Throws a sentence when a set is not what its line says, or names messages that the plan does not have.
 */
export function countLedgers(
	plan: Plan,
	ledgers: readonly (readonly LedgerSet[])[],
): CountedLedgers {
	const warmup = new Sum(plan.acks);
	const window = new Sum(plan.acks);
	const lost = new First();
	const duplicated = new First();
	const byProducer = ledgers.map(groupedByProducer);
	for (const sets of byProducer)
		for (const producer of sets.keys())
			if (producer >= plan.producers)
				throw new Error(`names producer ${producer}, which the plan does not have`);
	for (let p = 0; p < plan.producers; p++) {
		const size = sequences(plan, p, plan.schedule.messages);
		const opens = sequences(plan, p, plan.schedule.warmupMessages);
		const clients = byProducer.map((sets) => sets.get(p) ?? []);
		const all = clients.flat();
		const union = (name: LedgerSet["set"]) =>
			joined(
				all.filter((s) => s.set === name),
				size,
			);
		const sent = {
			tried: union("tried"),
			failed: union("failed"),
			acked: union("acked"),
			unknown: union("unknown"),
		};
		warmup.addSent(sent, 0, opens);
		window.addSent(sent, opens, size);
		for (let subscriber = 0; subscriber < copies(plan); subscriber++) {
			// A client may have several lines of one set: they are one.
			const received = clients.map((sets) =>
				joined(
					sets.filter((s) => s.set === "received" && s.subscriber === subscriber),
					size,
				),
			);
			const receipts = receiptsOf(received, sent, plan.acks);
			warmup.addReceipts(receipts, sent, 0, opens);
			window.addReceipts(receipts, sent, opens, size);
			lost.add(plan, p, firstOf(receipts.lost));
			duplicated.add(plan, p, firstOf(receipts.twice));
		}
		const other = all.find((s) => s.subscriber >= copies(plan));
		if (other)
			throw new Error(`names subscriber ${other.subscriber}, which the plan does not have`);
	}
	return {
		warmup: warmup.counts(),
		window: window.counts(),
		firstLost: lost.message(plan),
		firstDuplicated: duplicated.message(plan),
	};
}

// --- internal ---

interface Sent {
	readonly tried: Bits;
	readonly failed: Bits;
	readonly acked: Bits;
	readonly unknown: Bits;
}

interface Receipts {
	/** By any client. */
	readonly any: Bits;
	/** By at least two. */
	readonly twice: Bits;
	/** Of each client. */
	readonly each: readonly Bits[];
	/** Missing, though the system owes them. */
	readonly lost: Bits;
}

class Sum {
	readonly #acks: boolean;
	#sent = 0;
	#acked = 0;
	#failed = 0;
	#received = 0;
	#failedReceived = 0;
	#unackedReceived = 0;
	#lost = 0;
	#all = 0;
	#strange = 0;

	constructor(acks: boolean) {
		this.#acks = acks;
	}

	/** Sequences [from, to). */
	addSent({ tried, failed, acked }: Sent, from: number, to: number): void {
		this.#sent += count(tried, from, to);
		this.#failed += count(failed, from, to);
		this.#acked += count(acked, from, to);
	}

	addReceipts(
		{ any, each, lost }: Receipts,
		{ tried, failed, acked, unknown }: Sent,
		from: number,
		to: number,
	): void {
		this.#received += count(any, from, to);
		this.#failedReceived += countBoth(any, failed, from, to);
		this.#strange += count(any, from, to) - countBoth(any, tried, from, to);
		this.#unackedReceived += this.#acks
			? count(any, from, to) - countBoth(any, acked, from, to) - countBoth(any, failed, from, to)
			: countBoth(any, unknown, from, to);
		this.#lost += count(lost, from, to);
		for (const one of each) this.#all += count(one, from, to);
	}

	counts(): LedgerCounts {
		return {
			sent: this.#sent,
			acked: this.#acks ? this.#acked : null,
			failed: this.#failed,
			received: this.#received,
			delivered: this.#received - this.#failedReceived - this.#unackedReceived,
			lost: this.#lost,
			failedReceived: this.#failedReceived,
			unackedReceived: this.#acks || this.#unackedReceived > 0 ? this.#unackedReceived : null,
			duplicated: this.#all - this.#received,
			strange: this.#strange,
		};
	}
}

/** The message that was due first. */
class First {
	#index: number | null = null;

	add(plan: Plan, producer: number, sequence: number | null): void {
		if (sequence === null) return;
		const i = sequence * plan.producers + producer;
		if (this.#index === null || i < this.#index) this.#index = i;
	}

	message({ producers, schedule }: Plan): MessageId | null {
		const i = this.#index;
		if (i === null) return null;
		return {
			producer: i % producers,
			sequence: Math.floor(i / producers),
			intendedNs: offsetNs(schedule, i),
		};
	}
}

function groupedByProducer(sets: readonly LedgerSet[]): Map<number, LedgerSet[]> {
	const groups = new Map<number, LedgerSet[]>();
	for (const set of sets) {
		const group = groups.get(set.producer);
		if (group === undefined) groups.set(set.producer, [set]);
		else group.push(set);
	}
	return groups;
}

/** How many messages below i are of producer p: message i is sequence floor(i / P) of producer i mod P. */
function sequences({ producers }: Plan, p: number, i: number): number {
	return i <= p ? 0 : Math.floor((i - p - 1) / producers) + 1;
}

function receiptsOf(
	each: readonly Bits[],
	{ tried, failed, acked, unknown }: Sent,
	acks: boolean,
): Receipts {
	const owed = acks ? acked : without(without(tried, failed), unknown);
	const filled = each.filter((bits) => bits !== null);
	const [first, ...others] = filled;
	if (first === undefined) return { any: null, twice: null, each, lost: owed };
	// Of most runs a subscriber, or a producer's messages, is on one client: then nothing is copied.
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
