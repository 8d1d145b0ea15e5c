import { marginAt } from "../model/baseline-sla.ts";
import type { Baseline, Calibration } from "../model/comparison.ts";
import type { BaselineSla } from "../model/plan.ts";
import { field } from "../result/fields.ts";
import { formatDurationExact } from "../units.ts";

/** What a line of the SLA allows: a part, and of a small figure perhaps more than that. */
export type Allowed = Pick<BaselineSla, "margin" | "allowanceNs">;

type Noise = Calibration["noise"][number];

/**
 * The part by which B may be worse before it is called so, and where that comes from: 10 % for a p50, 25 % for the tail, 5 % for a rate, or what
 * the SLA says; never less than twice the noise of A/A runs of the same work on this machine, as it is of so many runs as are compared (`runs`,
 * on each side); twice that against a baseline that is `stored`, of another start of this machine, as machines change between two starts.
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
	entry: Pick<Baseline["runs"][number], "system" | "work">,
): Noise | null {
	if (calibration === null || calibration.machine.fingerprint !== fingerprint) return null;
	const alike = calibration.noise.filter((n) => n.work === entry.work && n.metric === figure);
	const own = alike.filter((n) => n.system === entry.system);
	// Of several systems with this work, and not this one: the noisiest.
	const [noisiest] = (own.length > 0 ? own : alike).sort((a, b) => b.halfWidth - a.halfWidth);
	return noisiest ?? null;
}

// --- internal ---

/** Intervals narrow with the root of the number of runs: the half width that so many have. */
function scaled({ each, halfWidth }: Noise, [n, m]: readonly [number, number]): number {
	const factor = Math.sqrt((each * (n + m)) / (2 * n * m));
	// Where a side has no value nothing is judged anyway.
	if (factor === 1 || !Number.isFinite(factor)) return halfWidth;
	return Math.expm1(Math.log1p(halfWidth) * factor);
}
