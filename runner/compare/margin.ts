import type { Baseline, Calibration } from "../model/comparison.ts";
import { field } from "../result/fields.ts";

/** The part by which B may be worse before it is called so, and where that comes from. */
interface Margin {
	readonly margin: number;
	readonly from: string;
}

/**
 * How a baseline stands to what is compared with it. same: the same start of the same machine; stored: the same kind of machine,
 * at another time; other: the margin says nothing then.
 */
export type Kinship = "same" | "stored" | "other";

/**
 * 10 % for a p50, 25 % for the tail, 5 % for a rate, or what the SLA says; never less than twice the noise of A/A runs of the same
 * work on this machine, as it is of so many runs as are compared (`runs`, on each side); twice that against a baseline of another time, as machines change between two starts.
 */
export function marginOf(of: {
	readonly figure: string;
	readonly asked: Margin | null;
	readonly noise: Calibration["noise"][number] | null;
	readonly kinship: Kinship;
	readonly runs: readonly [a: number, b: number];
}): Margin {
	const own = of.asked ?? { margin: usualMargin(of.figure), from: "default" };
	const floor = of.noise === null ? 0 : 2 * scaled(of.noise, of.runs);
	const base =
		floor > own.margin ? { margin: floor, from: "twice this machine's noise (calibrate)" } : own;
	return of.kinship === "stored"
		? { margin: 2 * base.margin, from: `${base.from}, doubled: a stored baseline` }
		: base;
}

/** 10 % for a p50 and p90, 25 % for the tail, 5 % for a rate. */
export function usualMargin(figure: string): number {
	const { unit, p } = field(figure);
	if (unit === "messages/s") return 0.05;
	return p <= 90 ? 0.1 : 0.25;
}

/** What A/A runs say of this figure; null: there is no calibration of this machine and work. That of the same system and case first. */
export function noiseOf(
	calibration: Calibration | null,
	fingerprint: string | null,
	figure: string,
	entry: Pick<Baseline["runs"][number], "system" | "case" | "work">,
): Calibration["noise"][number] | null {
	if (calibration === null || calibration.machine.fingerprint !== fingerprint) return null;
	const alike = calibration.noise.filter((n) => n.work === entry.work && n.metric === figure);
	const own = alike.filter((n) => n.system === entry.system);
	// Of several systems with this work, and not this one: the noisiest.
	const [noisiest] = (own.length > 0 ? own : alike).sort((a, b) => b.halfWidth - a.halfWidth);
	return noisiest ?? null;
}

// --- internal ---

/** Intervals narrow with the root of the number of runs: the half width that so many have. */
function scaled(
	{ each, halfWidth }: Calibration["noise"][number],
	[n, m]: readonly [number, number],
): number {
	const factor = Math.sqrt((each * (n + m)) / (2 * n * m));
	// Where a side has no value nothing is judged anyway.
	if (factor === 1 || !Number.isFinite(factor)) return halfWidth;
	return Math.expm1(Math.log1p(halfWidth) * factor);
}
