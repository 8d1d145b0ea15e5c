/** Samples that a percentile needs (reports/METHOD.md, "Percentiles"). `p` is in per cent, 0 < p < 100. */

/** ok: at least 10 samples above it. weak: fewer, but a 95 % bound exists, or stalls thin them out. none: never printed or passed. */
export type Support = "ok" | "weak" | "none";

/** Support of n samples if no stall thins them out. */
export function supportOf(n: number, p: number): Support {
	if (n < samplesForBound(p) || n === 0) return "none";
	return n < samplesForSupport(p) ? "weak" : "ok";
}

/** Smallest n with q^n <= 0.025, where a 95 % upper bound exists ("weak"); 368 for p99. */
export function samplesForBound(p: number): number {
	return Math.ceil(Math.log(0.025) / Math.log1p(-tail(p)) - 1e-9);
}

/** 10 / (1 - q): at least 10 samples expected above the percentile ("ok"). */
export function samplesForSupport(p: number): number {
	const { numerator, denominator } = fraction(p);
	return Number(ceilDiv(10n * denominator, denominator - numerator));
}

/** 1 - q to double precision: 1 - 99.9/100 is off in the 14th digit, which large n would magnify. */
export function tail(p: number): number {
	const { numerator, denominator } = fraction(p);
	return Number(denominator - numerator) / Number(denominator);
}

/** p / 100 as an exact fraction, from its decimal digits. */
export function fraction(p: number): { numerator: bigint; denominator: bigint } {
	if (!(p > 0 && p < 100)) throw new RangeError(`percentile ${p}`);
	// Never in exponent form: scenarios allow no percentile below 1e-6.
	const [whole = "", decimals = ""] = String(p).split(".");
	return {
		numerator: BigInt(whole + decimals),
		denominator: 100n * 10n ** BigInt(decimals.length),
	};
}

export function ceilDiv(a: bigint, b: bigint): bigint {
	return (a + b - 1n) / b;
}

/** ceil(n * p / 100), at least 1, exactly: in floating point 0.999 * 1000 is 999.0000000000001, one rank too high. */
export function rank(n: number, p: number): number {
	const { numerator, denominator } = fraction(p);
	return Math.max(1, Number(ceilDiv(BigInt(n) * numerator, denominator)));
}
