import type { Sla, Tally } from "../plan/plan.ts";
import type { Collected } from "../run/collect.ts";
import { formatCount } from "../units.ts";
import type { Facts } from "./facts.ts";
import type { Verdict } from "./verdict.ts";

type TallySla = Extract<Sla, { kind: "tally" }>;

/**
 * Judges a count or a rate. Counts are of warm-up and window: a message lost in the warm-up is lost. Rates are of the
 * window, by real time.
 */
export function judgeTally(
	sla: TallySla,
	{ collected }: Facts,
): {
	sla: string;
	verdict: Verdict;
	measured: string;
	limit: string;
	why: string;
} {
	const isRate = sla.tally === "throughput" || sla.tally === "achieved";
	const show = (x: number) => (isRate ? `${formatCount(x)}/s` : formatCount(x));
	const limit = show(sla.limit);
	const value = tallyOf(collected, sla.tally);
	const base = { sla: sla.text, limit };
	if (value === null)
		return {
			...base,
			verdict: "error",
			measured: "n/a",
			why: MISSING[sla.tally] ?? `${NAMES[sla.tally]} was not measured`,
		};
	const measured = show(value);
	const exactly = COMPARE[sla.op](value, sla.limit);
	// Messages under way at the window's two edges make a rate uncertain by about latency * rate: with a limit that
	// equals the scheduled rate, a tenth of a percent must not decide.
	const nearly =
		isRate &&
		(COMPARE[sla.op](value * (1 + EDGE), sla.limit) ||
			COMPARE[sla.op](value * (1 - EDGE), sla.limit));
	const found = isRate
		? `${measured} ${NAMES[sla.tally]}`
		: `${measured} ${NAMES[sla.tally]} in warm-up and window`;
	return {
		...base,
		verdict: exactly || nearly ? "pass" : "fail",
		measured,
		why: exactly
			? found
			: `${found}, ${nearly ? "within 0.1 % of" : "not"} ${sla.op} ${limit}`,
	};
}

/** The count over warm-up and window, or the window's rate per second; null: not measured. */
export function tallyOf(
	{ counters, totals, plan }: Collected,
	tally: Tally,
): number | null {
	const seconds = plan.schedule.durationNs / 1e9;
	if (tally === "throughput")
		return totals && totals.receivedInWindow / seconds;
	const { warmup, window } = counters;
	// Those that failed were refused, or never left.
	if (tally === "achieved")
		return totals && window
			? Math.max(0, totals.sentInWindow - window.failed) / seconds
			: null;
	const before = warmup?.[tally] ?? null;
	const within = window?.[tally] ?? null;
	return before === null || within === null ? null : before + within;
}

// --- internal ---

const EDGE = 0.001;

/** Why a count is null though the run was measured. */
const MISSING: Partial<Record<Tally, string>> = {
	reordered:
		"order was not measured: this system promises none, or several consumers share its messages",
	corrupted:
		"corruption was not measured: payloads carry no checksum (workload.checksum)",
};

const COMPARE: Record<TallySla["op"], (a: number, b: number) => boolean> = {
	"<": (a, b) => a < b,
	"<=": (a, b) => a <= b,
	"==": (a, b) => a === b,
	">=": (a, b) => a >= b,
	">": (a, b) => a > b,
};

const NAMES: Record<Tally, string> = {
	lost: "lost",
	failed: "failed",
	unknown: "unknown",
	duplicated: "duplicated",
	reordered: "reordered",
	redelivered: "redelivered",
	corrupted: "corrupted",
	notOffered: "not offered",
	throughput: "received",
	achieved: "sent",
};
