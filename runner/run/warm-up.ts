import { trend } from "../stats/trend.ts";

/** p50 of so many seconds is looked at. */
const SECONDS = 12;
/** Over them it may change by a fifth. */
const CHANGE = Math.log(1.2);
/** A fall to this part has to be excluded: seconds that scatter so much that nobody can tell are not level. */
const FALL = Math.log(0.7);
/** The window opens this much after the last of them: the generator has to learn of it before. */
const AHEAD_S = 2;

/**
 * When the window opens, ns since T0, by p50 of each second so far; null: it is not time yet. A second without p50 is not steady.
 * (reports/README.md, "Warm-up until steady")
 */
export function opensAt(
	p50s: readonly (number | null | undefined)[],
	{ fromNs, toNs }: { readonly fromNs: number; readonly toNs: number },
): number | null {
	const startNs = (p50s.length + AHEAD_S) * 1e9;
	if (startNs < fromNs || startNs >= toNs || !isSteady(p50s)) return null;
	return startNs;
}

/**
 * Are the last 12 seconds level? They are where Theil and Sen's line through the logarithms changes by a fifth at most, or its 95 % interval
 * has 0 in it, and where that interval excludes a fall by 30 %: a JVM gets faster for as long as it compiles.
 */
export function isSteady(p50s: readonly (number | null | undefined)[]) {
	const points = p50s.slice(-SECONDS).flatMap((p50, x) => (p50 ? [{ x, y: Math.log(p50) }] : []));
	const fitted = points.length < SECONDS ? null : trend(points);
	if (fitted === null) return false;
	const { slope, low, high } = fitted;
	const certain = low > 0 || high < 0;
	return !(certain && Math.abs(slope) * SECONDS > CHANGE) && low * SECONDS > FALL;
}
