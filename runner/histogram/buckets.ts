import { inflateSync } from "node:zlib";

/** Counts without empty buckets (a dense array takes 270 kB): much faster than hdr-histogram-js, which fills all of them. */
export interface Buckets {
	readonly lowest: number;
	readonly highest: number;
	readonly digits: number;
	/** Indexes into HdrHistogram's array of counts, ascending, and the counts there. */
	readonly indexes: ArrayLike<number>;
	readonly counts: ArrayLike<number>;
}

/** Reads the V2 encoding (zlib, base64) of an .hlog. */
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
		// Byte 8 is normalizingIndexOffset: only shifted histograms have one, and hdr-histogram-js by mistake.
		digits: inner.readInt32BE(12),
		lowest: Number(inner.readBigInt64BE(16)),
		highest: Number(inner.readBigInt64BE(24)),
		...readCounts(inner.subarray(HEADER, HEADER + payload)),
	};
}

export function addBuckets(all: readonly Buckets[]): Buckets {
	const sum = new BucketSum();
	for (const b of all) sum.add(b);
	return sum.buckets();
}

/** Takes the memory of one histogram, however many are added. */
export class BucketSum {
	#range: Pick<Buckets, "lowest" | "highest" | "digits"> | null = null;
	#dense = new Float64Array(1024);

	/** Fails with another range or precision. */
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

/** Smallest value and number of values of a bucket, by index. */
export function bucketRanges({ lowest, digits }: Pick<Buckets, "lowest" | "digits">) {
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

/** 2 ** n. Computing it took half the time of merging. */
const POWERS = Array.from({ length: 64 }, (_, n) => 2 ** n);
const HEADER = 40;
const V2 = 0x1c849303;
const COMPRESSED_V2 = 0x1c849304;

/** Bits 4 to 7 held the word size in V0. */
function cookie(value: number): number {
	return value & ~0xf0;
}

/** ZigZag LEB128: positive numbers are counts, negative ones runs of empty buckets. At most 9 bytes, the last one of 8 bits. */
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
