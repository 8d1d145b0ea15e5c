import { trend } from "../stats/trend.ts";

const SECONDS = 12;
/** p50 may change by a fifth over them. */
const CHANGE = Math.log(1.2);
/** A fall to this part must be excluded: if the seconds scatter too much to exclude it, they are not level. */
const FALL = Math.log(0.7);
/** The window opens this much later, because the generator must learn of it in advance. */
const AHEAD_S = 2;

/** When the window opens, ns since T0, once p50 by second has become steady (reports/METHOD.md, "Warm-up until steady"). */
export function opensAt(
	p50s: readonly (number | null | undefined)[],
	{ fromNs, toNs }: { readonly fromNs: number; readonly toNs: number },
): number | null {
	const startNs = (p50s.length + AHEAD_S) * 1e9;
	if (startNs < fromNs || startNs >= toNs || !isSteady(p50s)) return null;
	return startNs;
}

/**
 * Level means that Theil and Sen's line through the logarithms changes by a fifth at most, or its 95 % interval contains 0, and that the
 * interval excludes a fall by 30 %: a JVM gets faster for as long as it compiles.
 */
export function isSteady(p50s: readonly (number | null | undefined)[]) {
	const points = p50s.slice(-SECONDS).flatMap((p50, x) => (p50 ? [{ x, y: Math.log(p50) }] : []));
	const fitted = points.length < SECONDS ? null : trend(points);
	if (fitted === null) return false;
	const { slope, low, high } = fitted;
	const certain = low > 0 || high < 0;
	return !(certain && Math.abs(slope) * SECONDS > CHANGE) && low * SECONDS > FALL;
}
