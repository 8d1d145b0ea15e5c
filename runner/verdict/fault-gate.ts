import type { Sla } from "../model/plan.ts";
import { faultZeroNs } from "../model/run-file.ts";
import type { Verdict } from "../model/verdict.ts";
import { said } from "../text/say.ts";
import { formatDuration, formatDurationExact } from "../units.ts";
import { type Facts, windowOf } from "./facts.ts";
import { failoverOf, faultName } from "./failover.ts";
import { type FaultFigure, type FaultTime, faultTimes } from "./fault-figures.ts";
import {
	asksFor,
	because,
	type Judgement,
	NO_NUMBERS,
	notMeasured,
	unmeasured,
} from "./judgement.ts";

/**
 * Judges a line about what a fault does, `unavailable < 10s`: the worst of a run's faults. PASS: all that the true time may be keeps the limit; FAIL: none of it does, as of one that had not
 * ended when the limit was over; else INCONCLUSIVE.
 */
export function judgeFaults(sla: TallySla, figure: FaultFigure, { collected }: Facts): Judgement {
	const tally = { name: figure, limit: sla.limit, unit: "ns" as const };
	const base = {
		...NO_NUMBERS,
		sla: sla.text,
		limit: formatDurationExact(sla.limit),
		tally: { ...tally, value: null },
		measured: "n/a",
	};
	const { startNs, endNs } = windowOf(collected);
	const times = faultTimes(figure, { failover: failoverOf(collected, sla.until), endNs });
	if (collected.state !== "complete" || times === null)
		return {
			...unmeasured(base, notMeasured(`${figure} was not measured`)),
			verdict: collected.state === "complete" ? "error" : "inconclusive",
		};
	// By its verdict; of two with the same one that which lasted longer.
	const rank = (time: FaultTime) => RANK.indexOf(verdictOf(time, sla));
	const [worst] = times.toSorted((a, b) => rank(b) - rank(a) || b.ns - a.ns) as [FaultTime];
	const verdict = verdictOf(worst, sla);
	const open = worst.mostNs === Number.POSITIVE_INFINITY;
	const name = faultName(worst.fault);
	const atNs = Math.max(0, faultZeroNs(worst.fault) - startNs);
	const ofSeveral = times.length > 1 ? `, the worst of ${times.length} faults` : "";
	const when = `${name} ${formatDuration(atNs)} after the window opened${ofSeveral}`;
	const limit = formatDurationExact(sla.limit);
	const why = {
		pass: "",
		fail: `; ${asksFor(sla.op, limit)}`,
		inconclusive: `; whether that keeps the limit of ${limit} is open`,
	}[verdict];
	return {
		...base,
		verdict,
		tally: { ...tally, value: open ? null : worst.ns },
		beyondNs: open ? worst.ns : null,
		measured: open ? `> ${formatDurationExact(wholePieces(worst.ns))}` : formatDuration(worst.ns),
		...because(
			said(`fault-${figure}`, `${when}: ${inWords(figure, worst)}${why}`, {
				fault: name,
				atNs,
				faults: times.length,
				lastedNs: worst.ns,
				open,
				limitNs: sla.limit,
			}),
		),
	};
}

// --- internal ---

type TallySla = Extract<Sla, { kind: "tally" }>;

/** "unavailable for 700ms", "recovered (p99 < 20ms) after 700ms", "not drained within 5s" */
function inWords(figure: FaultFigure, { ns, mostNs, cut, fault }: FaultTime): string {
	const open = mostNs === Number.POSITIVE_INFINITY;
	const time = formatDuration(ns);
	const next = open && cut ? ", when the next fault began" : "";
	if (figure === "unavailable")
		return ns === 0
			? `never unavailable for ${formatDuration(fault.noticedNs ?? 0)} or longer`
			: `unavailable for ${open ? "at least " : ""}${time}${next}`;
	const what = figure === "recovered" ? `recovered (${fault.sla})` : figure;
	if (open) return `not ${what} within ${time}${next}`;
	return `${what} ${ns === 0 ? "at once" : `after ${time}`}`;
}

function verdictOf(
	{ leastNs, mostNs }: FaultTime,
	{ op, limit }: TallySla,
): "pass" | "fail" | "inconclusive" {
	const keeps = (ns: number) => (op === "<" ? ns < limit : ns <= limit);
	if (keeps(mostNs)) return "pass";
	// What had not ended yet is longer than it is known to be.
	const fails = mostNs === Number.POSITIVE_INFINITY ? leastNs >= limit : !keeps(leastNs);
	return fails ? "fail" : "inconclusive";
}

const RANK: readonly Verdict[] = ["pass", "inconclusive", "fail"];

/** Never told longer than it was. */
function wholePieces(ns: number): number {
	return Math.floor(ns / 1e8) * 1e8;
}
