import type { Sla } from "../model/plan.ts";
import { faultZeroNs } from "../model/run-file.ts";
import type { Verdict } from "../model/verdict.ts";
import { type Said, say, sayBut } from "../text/say.ts";
import { formatDuration, formatDurationExact } from "../units.ts";
import { faultName } from "./checks/run.ts";
import { type Facts, windowOf } from "./facts.ts";
import { failoverOf } from "./failover.ts";
import { type FaultFigure, type FaultTime, faultTimes } from "./fault-figures.ts";
import { because, type Judgement, NO_NUMBERS } from "./judgement.ts";

/**
 * Judges a line about what a fault does, `unavailable < 10s`: the worst of a run's faults. PASS: all that the true time may be keeps the limit; FAIL: none of it does, as of one that had not
 * ended when the limit was over; else INCONCLUSIVE.
 */
export function judgeFaults(sla: TallySla, figure: FaultFigure, { collected }: Facts): Judgement {
	const { plan } = collected;
	const tally = { name: figure, limit: sla.limit, unit: "ns" as const };
	const base = {
		...NO_NUMBERS,
		sla: sla.text,
		limit: formatDurationExact(sla.limit),
		tally: { ...tally, value: null },
		measured: "n/a",
	};
	const startNs = windowOf(collected).startNs;
	const times = faultTimes(figure, {
		failover: failoverOf(collected, sla.until),
		endNs: windowOf(collected).endNs,
	});
	if (collected.state !== "complete" || times === null)
		return {
			...base,
			verdict: collected.state === "complete" ? "error" : "inconclusive",
			...because(say("tally-not-measured", { name: figure })),
		};
	const worst = times.reduce((a, b) => (isWorse(b, a, sla) ? b : a));
	const found = FOUND[figure](worst, {
		fault: faultName(worst.fault),
		atNs: faultZeroNs(worst.fault) - startNs,
		faults: times.length,
		acks: plan.acks,
		line: worst.fault.sla ?? "",
	});
	const verdict = verdictOf(worst, sla);
	const open = worst.mostNs === Number.POSITIVE_INFINITY;
	return {
		...base,
		verdict,
		tally: { ...tally, value: open ? null : worst.ns },
		beyondNs: open ? worst.ns : null,
		measured: open ? `> ${formatDurationExact(wholePieces(worst.ns))}` : formatDuration(worst.ns),
		...because(verdict === "pass" ? found : sayBut(found, whyNot(worst, verdict, sla))),
	};
}

// --- internal ---

type TallySla = Extract<Sla, { kind: "tally" }>;

/** What is said of a fault beside the time itself. */
interface About {
	readonly fault: string;
	/** From the opening of the window. */
	readonly atNs: number;
	/** Of the run: this is the worst of so many. */
	readonly faults: number;
	readonly acks: boolean;
	/** The latency that has to be met again. */
	readonly line: string;
}

const FOUND: Readonly<Record<FaultFigure, (t: FaultTime, a: About) => Said>> = {
	unavailable: (time, { line: _, ...about }) =>
		say("fault-unavailable", {
			...about,
			...timeOf(time),
			cut: time.cut,
			noticedNs: time.fault.noticedNs ?? 0,
		}),
	recovered: (time, { acks: _, ...about }) =>
		say("fault-recovered", { ...about, ...timeOf(time), cut: time.cut }),
	drained: (time, { acks: _, line: __, ...about }) =>
		say("fault-drained", { ...about, ...timeOf(time), cut: time.cut }),
};

function timeOf({ ns, mostNs }: FaultTime) {
	return { lastedNs: ns, open: mostNs === Number.POSITIVE_INFINITY };
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

/** By its verdict; of two with the same one that which lasted longer. */
function isWorse(a: FaultTime, b: FaultTime, sla: TallySla): boolean {
	const [of, than] = [a, b].map((time) => RANK.indexOf(verdictOf(time, sla)));
	return of === than ? a.ns > b.ns : (of ?? 0) > (than ?? 0);
}

const RANK: readonly Verdict[] = ["pass", "inconclusive", "fail"];

function whyNot(
	{ ns, mostNs }: FaultTime,
	verdict: Verdict,
	{ op, limit: limitNs }: TallySla,
): Said {
	if (verdict === "fail") return say("fault-missed", { op, limitNs });
	if (mostNs === Number.POSITIVE_INFINITY) return say("fault-cut-short", { limitNs });
	return ns === 0 ? say("fault-unnoticed", { limitNs }) : say("fault-between", { limitNs });
}

/** Never told longer than it was. */
function wholePieces(ns: number): number {
	return Math.floor(ns / 1e8) * 1e8;
}
