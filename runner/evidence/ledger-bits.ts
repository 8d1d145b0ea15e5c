import { inflateSync } from "node:zlib";
import { lines } from "../histogram/log-file.ts";
import { LedgerLine } from "../model/client-file.ts";
import { parsed } from "./json.ts";
import { ledgerTrailer } from "./trailer.ts";

/** A set of one producer's sequences as stored; `joined` unpacks its bits. */
export type LedgerSet = Omit<Extract<LedgerLine, { type: "set" }>, "type">;
/** 32 sequences a word, lowest bit first; null is an empty set. */
export type Bits = Uint32Array | null;

/** The sets of a `client-<i>.ledger`. Throws a sentence if a line or the trailer is wrong. */
export function readLedger(path: string): LedgerSet[] {
	return Array.from(lines(ledgerTrailer(path)), (text, i) => {
		const line = LedgerLine.safeParse(parsed(text));
		if (!line.success || line.data.type !== "set")
			throw new Error(
				`cannot be read at line ${i + 1}: ${line.error?.issues[0]?.message ?? "a trailer before the end"}`,
			);
		const { type: _, ...set } = line.data;
		return set;
	});
}

export function without(a: Bits, b: Bits): Bits {
	if (a === null || b === null) return a;
	const rest = new Uint32Array(a.length);
	for (let i = 0; i < a.length; i++) rest[i] = (a[i] ?? 0) & ~(b[i] ?? 0);
	return rest;
}

/** The union of one producer's sets, with `size` sequences. */
export function joined(sets: readonly LedgerSet[], size: number): Bits {
	let all: Uint32Array | null = null;
	for (const set of sets) {
		const bits = bitsOf(set, size);
		if (all === null) all = bits;
		else for (let i = 0; i < all.length; i++) all[i] = (all[i] ?? 0) | (bits[i] ?? 0);
	}
	return all;
}

/** Members of both in [from, to). */
export function countBoth(a: Bits, b: Bits, from: number, to: number): number {
	if (a === null || b === null || to <= from) return 0;
	let members = 0;
	// Divided, not shifted: shifts have 32 bits, and a producer may have more sequences.
	const first = Math.floor(from / 32);
	const last = Math.floor((to - 1) / 32);
	for (let i = first; i <= last; i++) {
		let word = (a[i] ?? 0) & (b[i] ?? 0);
		if (i === first) word &= -1 << (from % 32);
		if (i === last) word &= -1 >>> (31 - ((to - 1) % 32));
		members += ones(word);
	}
	return members;
}

export function firstOf(bits: Bits): number | null {
	if (bits === null) return null;
	const i = bits.findIndex((word) => word !== 0);
	if (i < 0) return null;
	const word = bits[i] ?? 0;
	return i * 32 + 31 - Math.clz32(word & -word);
}

// --- internal ---

function bitsOf(set: LedgerSet, size: number): Uint32Array {
	const name = `set "${set.set}" of producer ${set.producer}`;
	let bytes: Buffer;
	try {
		// Written in words of up to 65 536 bits; a line that inflates to more is not ours.
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
	// Subtle: the bytes of a word are in little-endian order, so big-endian machines swap them.
	if (!LITTLE_ENDIAN) for (let i = 0; i < words.length; i++) words[i] = swapped(words[i] ?? 0);
	if (beyond || countBoth(words, words, size, words.length * 32) > 0)
		throw new Error(`${name} names messages that the plan does not have`);
	const members = countBoth(words, words, 0, size);
	if (members !== set.count)
		throw new Error(`${name} has ${members} members where its line says ${set.count}`);
	return words;
}

const LARGEST_WORD = 8192;
const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function swapped(word: number): number {
	return ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}

function ones(word: number): number {
	let w = word - ((word >>> 1) & 0x55555555);
	w = (w & 0x33333333) + ((w >>> 2) & 0x33333333);
	return Math.imul((w + (w >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
