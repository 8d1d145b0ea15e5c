import type { Schedule } from "../model/load.ts";
import type { Rate } from "../units.ts";
import { ARRIVALS, drawSource, exponential, type Source } from "./draw.ts";

/** Message i (from 0, with warm-up) is due `offset(i)` ns after T0. `offset.table.json` tests this and Go's `xk6-mqbench/schedule`. */
export type Shape = Rate | Pick<Schedule, "kind" | "rate" | "seed" | "pieces">;

export function offsetNs(shape: Shape, i: number): number {
	return law(shape).offset(i);
}

export function messagesBefore(shape: Shape, ns: number): number {
	return ns <= 0 ? 0 : law(shape).before(ns);
}

// --- internal ---

interface Law {
	offset(i: number): number;
	/** For ns > 0. */
	before(ns: number): number;
}

function law(shape: Shape): Law {
	if (!("kind" in shape)) return constant(shape);
	if (shape.kind === "stages") return stages(shape.pieces);
	if (shape.kind === "closed") throw new RangeError("a closed load has no intended times");
	if (shape.rate === null) throw new RangeError(`${shape.kind} has no rate`);
	return shape.kind === "constant" ? constant(shape.rate) : poisson(shape.rate, shape.seed);
}

function exact(value: bigint | number): number {
	if (value > Number.MAX_SAFE_INTEGER)
		throw new RangeError(`${value} is above 2^53 and would be rounded`);
	return Number(value);
}

/** offset(i) = floor(i * perNs / messages), in whole numbers to avoid drift. */
function constant(rate: Rate): Law {
	const messages = BigInt(rate.messages);
	const perNs = BigInt(rate.perNs);
	return {
		offset: (i) => exact((BigInt(i) * perNs) / messages),
		// The number of i with i * perNs / messages < ns.
		before: (ns) => exact((BigInt(ns) * messages + perNs - 1n) / perNs),
	};
}

const CHUNK = 1024;

/**
 * Gaps are -ln(U_i) * perNs / messages, summed in floating point within chunks of 1024 messages and cut to whole ns. A chunk starts at the
 * rounded end of the one before, so no gap is rounded and the mean is the rate's.
 */
class Poisson implements Law {
	readonly rate: Rate;
	readonly seed: number;
	private readonly source: Source;
	private readonly meanNs: number;
	private readonly starts = [0];
	private readonly offsets = new Float64Array(CHUNK);
	private filled = -1;

	constructor(rate: Rate, seed: number) {
		this.rate = rate;
		this.seed = seed;
		this.source = drawSource(seed, ARRIVALS);
		this.meanNs = rate.perNs / rate.messages;
	}

	offset(i: number): number {
		this.fill(Math.floor(i / CHUNK));
		return exact(this.offsets[i % CHUNK] as number);
	}

	before(ns: number): number {
		while ((this.starts.at(-1) as number) < ns) this.fill(this.starts.length - 1);
		// All messages near ns are in the chunk before the first start that is not below it.
		const chunk = firstNotBelow(this.starts, ns) - 1;
		this.fill(chunk);
		return chunk * CHUNK + firstNotBelow(this.offsets, ns);
	}

	/** Also fills the chunks before it that were never computed. */
	private fill(chunk: number): void {
		for (let next = this.starts.length - 1; next < chunk; next++) this.fill(next);
		if (this.filled === chunk) return;
		const start = exact(this.starts[chunk] as number);
		let sum = 0;
		for (let j = 0; j < CHUNK; j++) {
			sum += exponential(this.source, chunk * CHUNK + j) * this.meanNs;
			this.offsets[j] = start + Math.floor(sum);
		}
		this.starts[chunk + 1] = start + Math.floor(sum + 0.5);
		this.filled = chunk;
	}
}

/** A cache, last used first: the same few schedules come again and again. */
const walked: Poisson[] = [];

function poisson(rate: Rate, seed: number): Law {
	const known = walked.findIndex(
		(p) => p.seed === seed && p.rate.messages === rate.messages && p.rate.perNs === rate.perNs,
	);
	if (known === 0) return walked[0] as Poisson;
	const [law = new Poisson(rate, seed)] = known > 0 ? walked.splice(known, 1) : [];
	walked.unshift(law);
	walked.length = Math.min(walked.length, 8);
	return law;
}

/** Index of the first of ascending values that is >= limit, else their number. */
function firstNotBelow(values: ArrayLike<number>, limit: number): number {
	let low = 0;
	let high = values.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if ((values[middle] as number) < limit) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** Its numbers are exact for round durations and rates. */
interface Leg {
	startNs: number;
	/** Integral of the rate up to the start. */
	first: number;
	/** Messages of the whole piece at its first and its last rate. */
	atStart: number;
	atEnd: number;
	durationNs: number;
	/** After the last piece: atStart messages in each durationNs. */
	endless: boolean;
}

/** Due time of a message that never is: longer than any run lasts. */
const NEVER_NS = Number.MAX_SAFE_INTEGER;

/** Message i is due when the integral of the rate reaches i, or after a piece without messages that starts there. */
function stages(pieces: readonly { durationNs: number; from: Rate; to: Rate }[]): Law {
	const legs: Leg[] = [];
	let startNs = 0;
	let first = 0;
	for (const { durationNs, from, to } of pieces) {
		const atStart = (durationNs * from.messages) / from.perNs;
		const atEnd = (durationNs * to.messages) / to.perNs;
		if (atStart + atEnd > 0)
			legs.push({ startNs, first, atStart, atEnd, durationNs, endless: false });
		startNs += durationNs;
		first += (atStart + atEnd) / 2;
	}
	const last = pieces.at(-1)?.to;
	if (!last) throw new RangeError("stages have no pieces");
	if (last.messages > 0)
		legs.push({
			startNs,
			first,
			atStart: last.messages,
			atEnd: last.messages,
			durationNs: last.perNs,
			endless: true,
		});
	if (legs.length === 0) throw new RangeError("stages have no messages");

	/**
	 * x = atStart * u + (atEnd - atStart) * u^2 / 2 for u = time / duration, solved in the form that subtracts no near numbers:
	 * u = 2x / (atStart + sqrt(atStart^2 + 2 (atEnd - atStart) x)).
	 */
	const offset = (i: number): number => {
		const at = legs.findLastIndex((l) => l.first <= i);
		const leg = legs[at] as Leg;
		const { atStart, atEnd, durationNs } = leg;
		const x = i - leg.first;
		// After a rate of 0 the first message would divide by it.
		if (x === 0) return exact(leg.startNs);
		const squared = atStart * atStart + 2 * (atEnd - atStart) * x;
		const ns = (2 * x * durationNs) / (atStart + Math.sqrt(Math.max(0, squared)));
		if (!leg.endless && ns >= durationNs) return exact(legs[at + 1]?.startNs ?? NEVER_NS);
		return exact(leg.startNs + Math.floor(ns));
	};
	/** The integral at ns is a first guess; `offset` decides. */
	const before = (ns: number): number => {
		const leg = legs.findLast((l) => l.startNs < ns);
		if (!leg) return 0;
		const past = (ns - leg.startNs) / leg.durationNs;
		const u = leg.endless ? past : Math.min(past, 1);
		const mean = leg.atStart + (u * (leg.atEnd - leg.atStart)) / 2;
		let n = exact(Math.max(0, Math.floor(leg.first + u * mean)));
		while (n > 0 && offset(n - 1) >= ns) n--;
		while (offset(n) < Math.min(ns, NEVER_NS)) n++;
		return n;
	};
	return { offset, before };
}
