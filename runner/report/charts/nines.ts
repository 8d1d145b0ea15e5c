import type { Area } from "./pieces.ts";

/** Nines of a percentile: every one takes the same width. */
export function depthOf(p: number): number {
	return Math.log10(100 / (100 - p));
}

/** "99.9%" */
export function percentText(depth: number): string {
	return `${Number((100 * (1 - 10 ** -depth)).toPrecision(11))}%`;
}

/** The nines, 50 %, and where they stand far apart those between them. */
export function nineTicks(
	[from, to]: readonly [number, number],
	area: Area,
): number[] {
	const nines = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999];
	const between = [75, 95, 97.5, 99.5, 99.75, 99.95, 99.975, 99.995];
	const wide = area.width / (to - from) > 260;
	const narrow = area.width / (to - from) < 75;
	return [...nines.filter((p) => p !== 50 || !narrow), ...(wide ? between : [])]
		.map(depthOf)
		.filter((depth) => depth >= from - 1e-9 && depth <= to + 1e-9)
		.sort((a, b) => a - b);
}
