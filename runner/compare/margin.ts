import type { Baseline, Calibration } from "../model/comparison.ts";
import { type BaselineSla, marginAt } from "../model/plan.ts";
import { field } from "../result/fields.ts";
import { formatDurationExact } from "../units.ts";

/** The share that an SLA line allows, and for a small figure perhaps more. */
export type Allowed = Pick<BaselineSla, "margin" | "allowanceNs">;

type Noise = Calibration["noise"][number];

/**
 * The share by which B may be worse: usual or the SLA's, but at least twice the A/A noise, scaled to `runs` on each side. Doubled against a
 * `stored` baseline, because machines change between two starts.
 */
export function marginOf(
	figure: string,
	of: {
		readonly line: (Allowed & { readonly baselineNs: number | null }) | null;
		readonly noise: Noise | null;
		readonly stored: boolean;
		readonly runs: readonly [a: number, b: number];
	},
): { readonly margin: number; readonly from: string } {
	const { line } = of;
	let margin = line === null ? usualMargin(figure) : marginAt(line, line.baselineNs);
	let from = line === null ? "default" : "the SLA";
	if (line !== null && margin > line.margin)
		from += `: baseline + ${formatDurationExact(line.allowanceNs ?? 0)}`;
	const floor = of.noise === null ? 0 : 2 * scaled(of.noise, of.runs);
	if (floor > margin) {
		margin = floor;
		from = "twice this machine's noise (calibrate)";
	}
	return of.stored
		? { margin: 2 * margin, from: `${from}, doubled: a stored baseline` }
		: { margin, from };
}

export function usualMargin(figure: string): number {
	const { unit, p } = field(figure);
	if (unit === "messages/s") return 0.05;
	return p <= 90 ? 0.1 : 0.25;
}

/** From A/A runs on this machine with this work, the same system's first. */
export function noiseOf(
	calibration: Calibration | null,
	fingerprint: string | null,
	figure: string,
	entry: Pick<Baseline["runs"][number], "system" | "work">,
): Noise | null {
	if (calibration === null || calibration.machine.fingerprint !== fingerprint) return null;
	const alike = calibration.noise.filter((n) => n.work === entry.work && n.metric === figure);
	const own = alike.filter((n) => n.system === entry.system);
	// The noisiest among other systems with this work.
	const [noisiest] = (own.length > 0 ? own : alike).sort((a, b) => b.halfWidth - a.halfWidth);
	return noisiest ?? null;
}

// --- internal ---

/** Intervals narrow with the root of the number of runs. */
function scaled({ each, halfWidth }: Noise, [n, m]: readonly [number, number]): number {
	const factor = Math.sqrt((each * (n + m)) / (2 * n * m));
	// A side without a value is not judged anyway.
	if (factor === 1 || !Number.isFinite(factor)) return halfWidth;
	return Math.expm1(Math.log1p(halfWidth) * factor);
}
