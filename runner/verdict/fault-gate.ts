import type { Sla } from "../model/plan.ts";
import { faultZeroNs } from "../model/run-file.ts";
import type { Verdict } from "../model/verdict.ts";
import { said } from "../text/say.ts";
import { formatDuration, formatDurationExact } from "../units.ts";
import { faultName } from "./checks/run.ts";
import { type Facts, windowOf } from "./facts.ts";
import { failoverOf } from "./failover.ts";
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
			...unmeasured(base, notMeasured(`${figure} was not measured`)),
			verdict: collected.state === "complete" ? "error" : "inconclusive",
		};
	const worst = times.reduce((a, b) => (isWorse(b, a, sla) ? b : a));
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
			said(`fault-${figure}`, `${when}: ${FOUND[figure](worst, plan.acks)}${why}`, {
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

/** What one figure came to, in words. */
const FOUND: Readonly<Record<FaultFigure, (time: FaultTime, acks: boolean) => string>> = {
	unavailable: ({ ns, mostNs, cut, fault }, acks) => {
		const nothing = `nothing was ${acks ? "acknowledged" : "received"}`;
		if (mostNs === Number.POSITIVE_INFINITY)
			return `${nothing} for at least ${formatDuration(ns)}, ${cut ? "when the next fault began" : "to the end"}`;
		return ns === 0
			? `no stretch of ${formatDuration(fault.noticedNs ?? 0)} or longer in which ${nothing}`
			: `${nothing} for ${formatDuration(ns)}`;
	},
	recovered(time) {
		const met = `${time.fault.sla} was met`;
		return lasting(
			time,
			`${time.fault.sla} was not met again`,
			`${met} all the time`,
			`${met} again`,
		);
	},
	drained: (time) =>
		lasting(
			time,
			"more messages than before it were in flight",
			"no more messages were in flight than before it",
			"as few messages as before it were in flight again",
		),
};

/** "p99 < 20ms was not met again in the 7.99s until the window closed", "... was met again after 1.2s" */
function lasting(
	{ ns, mostNs, cut }: FaultTime,
	never: string,
	always: string,
	again: string,
): string {
	if (mostNs === Number.POSITIVE_INFINITY)
		return `${never} in the ${formatDuration(ns)} until ${cut ? "the next fault" : "the window closed"}`;
	return ns === 0 ? always : `${again} after ${formatDuration(ns)}`;
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

/** Never told longer than it was. */
function wholePieces(ns: number): number {
	return Math.floor(ns / 1e8) * 1e8;
}
