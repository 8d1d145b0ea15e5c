import { inflateSync } from "node:zlib";

/**
 * The counts of an HdrHistogram, without the empty buckets. A dense one takes 270 kB, whatever is in it; a second of a run has some
 * hundred values. hdr-histogram-js, which tests compare with, is several times slower at this, as it fills all of them.
 */
export interface Buckets {
	readonly lowest: number;
	readonly highest: number;
	readonly digits: number;
	/** Indexes into HdrHistogram's array of counts, ascending, and the counts there. */
	readonly indexes: ArrayLike<number>;
	readonly counts: ArrayLike<number>;
}

/** Reads the V2 encoding with zlib and base64, as it stands in an .hlog. */
export function decodeBuckets(encoded: string | Buffer): Buckets {
	const outer = typeof encoded === "string" ? Buffer.from(encoded, "base64") : encoded;
	if (outer.length < 8 || cookie(outer.readInt32BE(0)) !== COMPRESSED_V2)
		throw new Error("is no compressed V2 histogram");
	const inner = inflateSync(outer.subarray(8, 8 + outer.readInt32BE(4)));
	if (inner.length < HEADER || cookie(inner.readInt32BE(0)) !== V2)
		throw new Error("is no V2 histogram");
	const payload = inner.readInt32BE(4);
	if (payload < 0 || HEADER + payload > inner.length) throw new Error("breaks off in the middle");
	return {
		// At 8 stands normalizingIndexOffset: only histograms that were shifted have one, and hdr-histogram-js by mistake.
		digits: inner.readInt32BE(12),
		lowest: Number(inner.readBigInt64BE(16)),
		highest: Number(inner.readBigInt64BE(24)),
		...readCounts(inner.subarray(HEADER, HEADER + payload)),
	};
}

/** Adds counts. */
export function addBuckets(all: readonly Buckets[]): Buckets {
	const sum = new BucketSum();
	for (const b of all) sum.add(b);
	return sum.buckets();
}

/** A sum of histograms, one after the other: however many they are, it takes the memory of one. */
export class BucketSum {
	#range: Pick<Buckets, "lowest" | "highest" | "digits"> | null = null;
	#dense = new Float64Array(1024);

	/** Only histograms of one range and precision can be added. */
	add(b: Buckets): void {
		const { indexes, counts } = b;
		this.#range ??= { lowest: b.lowest, highest: b.highest, digits: b.digits };
		const first = this.#range;
		for (const key of ["lowest", "highest", "digits"] as const)
			if (b[key] !== first[key])
				throw new Error(`cannot merge histograms with ${key} ${first[key]} and ${b[key]}`);
		const size = (indexes[indexes.length - 1] ?? -1) + 1;
		if (size > this.#dense.length) {
			const larger = new Float64Array(2 * size);
			larger.set(this.#dense);
			this.#dense = larger;
		}
		const dense = this.#dense;
		for (let i = 0; i < indexes.length; i++) {
			const at = indexes[i] as number;
			dense[at] = (dense[at] as number) + (counts[i] as number);
		}
	}

	/** Is there anything to add up? */
	get filled(): boolean {
		return this.#range !== null;
	}

	buckets(): Buckets {
		if (this.#range === null) throw new Error("no histogram to add");
		const indexes: number[] = [];
		const counts: number[] = [];
		for (let i = 0; i < this.#dense.length; i++)
			if (this.#dense[i] !== 0) {
				indexes.push(i);
				counts.push(this.#dense[i] as number);
			}
		return { ...this.#range, indexes, counts };
	}
}

/** The smallest value of a bucket, and how many values it takes, by index. */
export function bucketRanges({ lowest, digits }: Pick<Buckets, "lowest" | "digits">): {
	low(index: number): number;
	width(index: number): number;
} {
	const halfBits = Math.ceil(Math.log2(2 * 10 ** digits)) - 1;
	const half = 2 ** halfBits;
	const unit = 2 ** Math.floor(Math.log2(lowest));
	const width = (index: number) =>
		index < half ? unit : (POWERS[(index >> halfBits) - 1] as number) * unit;
	const low = (index: number) =>
		(index < half ? index : (index & (half - 1)) + half) * width(index);
	return { low, width };
}

// --- internal ---

/** 2 ** n: looked up, as computing it took half the time of merging. */
const POWERS = Array.from({ length: 64 }, (_, n) => 2 ** n);

const HEADER = 40;
const V2 = 0x1c849303;
const COMPRESSED_V2 = 0x1c849304;

/** Bits 4 to 7 held the word size in V0. */
function cookie(value: number): number {
	return value & ~0xf0;
}

/** ZigZag LEB128: a positive number is a count, a negative one so many empty buckets. At most 9 bytes, the last one of 8 bits. */
function readCounts(bytes: Buffer): Pick<Buckets, "indexes" | "counts"> {
	const indexes: number[] = [];
	const counts: number[] = [];
	let index = 0;
	for (let at = 0; at < bytes.length; ) {
		let value = 0;
		let factor = 1;
		for (let i = 0; ; i++) {
			if (at >= bytes.length) throw new Error("breaks off in the middle");
			const byte = bytes[at++] as number;
			value += (i < 8 ? byte & 0x7f : byte) * factor;
			if (i === 8 || byte < 0x80) break;
			factor *= 128;
		}
		if (value % 2 === 1) index += (value + 1) / 2;
		else {
			if (value > 0) {
				indexes.push(index);
				counts.push(value / 2);
			}
			index++;
		}
	}
	return { indexes, counts };
}
