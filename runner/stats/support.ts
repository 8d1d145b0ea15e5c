/**
 * How many samples a percentile takes (reports/README.md, "Percentiles"): known before a run, and the same afterwards. `p`
 * is a percentile as a person writes it, 0 < p < 100.
 */

/**
 * How far the samples carry a percentile. ok: at least 10 samples are expected above it. weak: fewer, but a 95 %
 * bound exists, or stalls leave fewer than 10 independent ones. none: not printed, and never a PASS.
 */
export type Support = "ok" | "weak" | "none";

/** The support of `n` samples, when no stall thins them out. */
export function supportOf(n: number, p: number): Support {
	if (n < samplesForBound(p) || n === 0) return "none";
	return n < samplesForSupport(p) ? "weak" : "ok";
}

/** Smallest n with q^n <= 0.025: from here on a 95 % upper bound exists ("weak"). p99: 368 ... rounded up. */
export function samplesForBound(p: number): number {
	return Math.ceil(Math.log(0.025) / Math.log1p(-tail(p)) - 1e-9);
}

/** 10 / (1 - q): from here on at least 10 samples are expected above the percentile ("ok"). */
export function samplesForSupport(p: number): number {
	const { numerator, denominator } = fraction(p);
	return Number(ceilDiv(10n * denominator, denominator - numerator));
}

/** 1 - q as precisely as a double can be: 1 - 99.9/100 is off in the 14th digit, which large n would magnify. */
export function tail(p: number): number {
	const { numerator, denominator } = fraction(p);
	return Number(denominator - numerator) / Number(denominator);
}

/** p / 100 as an exact fraction, from the decimal digits that a person wrote. */
export function fraction(p: number): { numerator: bigint; denominator: bigint } {
	if (!(p > 0 && p < 100)) throw new RangeError(`percentile ${p}`);
	// Never in exponent form: the smallest percentile that a scenario can name is 1e-6.
	const [whole = "", decimals = ""] = String(p).split(".");
	return {
		numerator: BigInt(whole + decimals),
		denominator: 100n * 10n ** BigInt(decimals.length),
	};
}

export function ceilDiv(a: bigint, b: bigint): bigint {
	return (a + b - 1n) / b;
}

/**
 * ceil(n * p / 100), at least 1, exactly: in floating point 0.999 * 1000 is 999.0000000000001, and the rank
 * would be one too high.
 */
export function rank(n: number, p: number): number {
	const { numerator, denominator } = fraction(p);
	return Math.max(1, Number(ceilDiv(BigInt(n) * numerator, denominator)));
}
