/**
 * Random number i of a seed and a purpose needs no other before it, and equals Go's (`xk6-mqbench/draw`) bit for bit.
 * So it uses only + - * / and 32-bit integers: library logarithms differ in the last place.
 */

/** Four 32-bit keys. */
export type Source = readonly [number, number, number, number];

/** Separate the rows of one seed; Go has more purposes. */
export const ARRIVALS = 1;
export const SIZES = 4;

/** `seed` is a whole number below 2^53. */
export function drawSource(seed: number, purpose: number): Source {
	let key = mix(mix(mix(purpose) ^ seed) ^ Math.floor(seed / 2 ** 32));
	const next = () => {
		key = mix((key + 0x9e3779b9) | 0);
		return key;
	};
	return [next(), next(), next(), next()];
}

/** Exponentially distributed with mean 1. */
export function exponential(source: Source, i: number): number {
	return minusLn(bits53(source, i) + 1);
}

/** A whole number in [0, n), n at most 2^26. */
export function below(source: Source, i: number, n: number): number {
	const bits = bits53(source, i);
	const [high, low] = [Math.floor(bits / 2 ** 26), bits % 2 ** 26];
	return Math.floor((high * n + Math.floor((low * n) / 2 ** 26)) / 2 ** 27);
}

// --- internal ---

/** Below 2^53: two rounds of a hash for the high 27 bits, and for the low 26. */
function bits53([a, b, c, d]: Source, i: number): number {
	const high = i < 2 ** 32 ? 0 : mix(Math.floor(i / 2 ** 32));
	const x = mix(mix(i ^ a) ^ b ^ high);
	const y = mix(mix(i ^ c) ^ d ^ high);
	return (x >>> 5) * 2 ** 26 + (y >>> 6);
}

/** lowbias32 of Chris Wellons' hash-prospector, with the constants of its issue 19. Signed 32 bits. */
function mix(x: number): number {
	x ^= x >>> 16;
	x = Math.imul(x, 0x21f0aaad);
	x ^= x >>> 15;
	x = Math.imul(x, 0xd35a2d97);
	return x ^ (x >>> 15);
}

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
const L1 = 0.6666666666666735;
const L2 = 0.3999999999940942;
const L3 = 0.2857142874366239;
const L4 = 0.22222198432149784;
const L5 = 0.1818357216161805;
const L6 = 0.15313837699209373;
const L7 = 0.14798198605116586;
/** 2^-e, e = 0 .. 53. */
const POWERS = Float64Array.from({ length: 54 }, (_, e) => 1 / 2 ** e);

/** -ln(n / 2^53) for whole n in [1, 2^53], by the method and the coefficients of FreeBSD's e_log.c. */
function minusLn(n: number): number {
	const upper = Math.floor(n / 2 ** 32);
	const exponent = upper > 0 ? 63 - Math.clz32(upper) : 31 - Math.clz32(n >>> 0);
	// n / 2^53 = 2^k * (1 + f), with 1 + f between the square roots of 1/2 and 2.
	let m = n * (POWERS[exponent] as number);
	let k = exponent - 53;
	if (m > Math.SQRT2) {
		m *= 0.5;
		k += 1;
	}
	const f = m - 1;
	const s = f / (2 + f);
	const s2 = s * s;
	const s4 = s2 * s2;
	const t1 = s2 * (L1 + s4 * (L3 + s4 * (L5 + s4 * L7)));
	const t2 = s4 * (L2 + s4 * (L4 + s4 * L6));
	const half = 0.5 * f * f;
	const inner = s * (half + (t1 + t2)) + k * LN2_LOW;
	return half - inner - f - k * LN2_HIGH;
}
