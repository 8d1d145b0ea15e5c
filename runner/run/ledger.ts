import { inflateSync } from "node:zlib";
import type { Plan } from "../model/plan.ts";
import { offsetNs } from "../plan/offset.ts";
import { copies } from "../plan/samples.ts";
import type { LedgerSet } from "./ledger-file.ts";

/** What became of the messages of warm-up or window, by the ledgers of all clients together. Receipts are of a fan-out copies. */
export interface LedgerCounts {
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
export interface MessageId {
	readonly producer: number;
	readonly sequence: number;
	readonly intendedNs: number;
}

/**
 * Counts messages that cross from client to client: what one client sent and another received. `ledgers` has one list for each client. Sets are
 * merged bit by bit, producer after producer, so all counts are exact:
 *
 * - with acknowledgements: lost = acked and not received; unackedReceived = received, neither acked nor failed
 * - without: lost = tried, neither failed nor received
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
				throw new Error(`names producer ${producer}, which the plan has not`);
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
		};
		warmup.addSent(sent, 0, opens);
		window.addSent(sent, opens, size);
		for (let subscriber = 0; subscriber < copies(plan); subscriber++) {
			// A client may have several lines of one set: they are one.
			const received = clients.map((sets) =>
				joined(
					sets.filter(
						(s) => s.set === "received" && s.subscriber === subscriber,
					),
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
			throw new Error(
				`names subscriber ${other.subscriber}, which the plan has not`,
			);
	}
	return {
		warmup: warmup.counts(),
		window: window.counts(),
		firstLost: lost.message(plan),
		firstDuplicated: duplicated.message(plan),
	};
}

// --- internal ---

/** 32 sequences a word, the lowest bit first. null: an empty set. */
type Bits = Uint32Array | null;

interface Sent {
	readonly tried: Bits;
	readonly failed: Bits;
	readonly acked: Bits;
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
		{ tried, failed, acked }: Sent,
		from: number,
		to: number,
	): void {
		this.#received += count(any, from, to);
		this.#failedReceived += countBoth(any, failed, from, to);
		this.#strange += count(any, from, to) - countBoth(any, tried, from, to);
		if (this.#acks)
			this.#unackedReceived +=
				count(any, from, to) -
				countBoth(any, acked, from, to) -
				countBoth(any, failed, from, to);
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
			unackedReceived: this.#acks ? this.#unackedReceived : null,
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

function groupedByProducer(
	sets: readonly LedgerSet[],
): Map<number, LedgerSet[]> {
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
	{ tried, failed, acked }: Sent,
	acks: boolean,
): Receipts {
	const owed = acks ? acked : without(tried, failed);
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

/** Members of a that are not in b. */
function without(a: Bits, b: Bits): Bits {
	if (a === null || b === null) return a;
	const rest = new Uint32Array(a.length);
	for (let i = 0; i < a.length; i++) rest[i] = (a[i] ?? 0) & ~(b[i] ?? 0);
	return rest;
}

/** The union of sets of one producer that has `size` sequences. */
function joined(sets: readonly LedgerSet[], size: number): Bits {
	let all: Uint32Array | null = null;
	for (const set of sets) {
		const bits = bitsOf(set, size);
		if (all === null) all = bits;
		else
			for (let i = 0; i < all.length; i++)
				all[i] = (all[i] ?? 0) | (bits[i] ?? 0);
	}
	return all;
}

function bitsOf(set: LedgerSet, size: number): Uint32Array {
	const name = `set "${set.set}" of producer ${set.producer}`;
	let bytes: Buffer;
	try {
		// Written in words of up to 65 536 bits; a line that swells to more is none of ours.
		bytes = inflateSync(Buffer.from(set.bits, "base64"), {
			maxOutputLength: size / 8 + LARGEST_WORD,
		});
	} catch (error) {
		throw new Error(`${name} cannot be read: ${(error as Error).message}`);
	}
	const words = new Uint32Array(Math.ceil(size / 32));
	const own = new Uint8Array(words.buffer);
	const beyond = bytes.subarray(own.length).some((byte) => byte !== 0);
	own.set(bytes.subarray(0, own.length));
	// Subtle: bytes are put below each other, so a word is the four of them in the order of a little-endian machine; others swap.
	if (!LITTLE_ENDIAN)
		for (let i = 0; i < words.length; i++) words[i] = swapped(words[i] ?? 0);
	if (beyond || count(words, size, words.length * 32) > 0)
		throw new Error(`${name} names messages that the plan has not`);
	const members = count(words, 0, size);
	if (members !== set.count)
		throw new Error(
			`${name} has ${members} members where its line says ${set.count}`,
		);
	return words;
}

const LARGEST_WORD = 8192;
const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function swapped(word: number): number {
	return (
		((word & 0xff) << 24) |
		((word & 0xff00) << 8) |
		((word >>> 8) & 0xff00) |
		(word >>> 24)
	);
}

/** Members in [from, to). */
function count(bits: Bits, from: number, to: number): number {
	return countBoth(bits, bits, from, to);
}

/** Members of both in [from, to). */
function countBoth(a: Bits, b: Bits, from: number, to: number): number {
	if (a === null || b === null || to <= from) return 0;
	let members = 0;
	const [first, last] = [from >>> 5, (to - 1) >>> 5];
	for (let i = first; i <= last; i++) {
		let word = (a[i] ?? 0) & (b[i] ?? 0);
		if (i === first) word &= -1 << (from & 31);
		if (i === last) word &= -1 >>> (31 - ((to - 1) & 31));
		members += ones(word);
	}
	return members;
}

/** The lowest member; null: there is none. */
function firstOf(bits: Bits): number | null {
	if (bits === null) return null;
	const i = bits.findIndex((word) => word !== 0);
	if (i < 0) return null;
	const word = bits[i] ?? 0;
	return i * 32 + 31 - Math.clz32(word & -word);
}

/** Bits that are set. */
function ones(word: number): number {
	let w = word - ((word >>> 1) & 0x55555555);
	w = (w & 0x33333333) + ((w >>> 2) & 0x33333333);
	return Math.imul((w + (w >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
