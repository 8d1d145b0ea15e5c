import type { Collected } from "../evidence/collect.ts";
import type { Counters } from "../model/client-file.ts";
import type { Plan, Sla } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { type Tally as AnyTally, needs, TALLIES, type TallyUnit } from "../model/tallies.ts";
import { type Said, said } from "../text/say.ts";
import { formatCount, formatDuration, formatDurationExact } from "../units.ts";
import type { Facts } from "./facts.ts";
import { type FaultFigure, isFaultFigure } from "./fault-figures.ts";
import { judgeFaults } from "./fault-gate.ts";
import {
	asksFor,
	because,
	type Judgement,
	NO_NUMBERS,
	notMeasured,
	unmeasured,
} from "./judgement.ts";
import { drainOf, SAMPLES_PER_SECOND } from "./queue.ts";
import { ratesOf, SHORTEST_CLOSED_NS } from "./rates.ts";
import { stopsAtEnd } from "./stops.ts";

type TallySla = Extract<Sla, { kind: "tally" }>;
/** Times of faults have a judge of their own. */
type Tally = Exclude<AnyTally, FaultFigure>;

/**
 * Judges a count, a rate or a time. Counts are of warm-up and window: a message lost in the warm-up is lost. Rates are of the
 * window, by real time.
 */
export function judgeTally(sla: TallySla, facts: Facts): Judgement {
	const { tally } = sla;
	if (isFaultFigure(tally)) return judgeFaults(sla, tally, facts);
	const { collected } = facts;
	const { plan } = collected;
	const { unit } = TALLIES[tally];
	const name = nameOf(tally, plan);
	const limit = exactly(sla.limit, unit);
	const value = tallyOf(collected, tally);
	const base = {
		...NO_NUMBERS,
		sla: sla.text,
		limit,
		tally: { name: tally, value, limit: sla.limit, unit },
	};
	if (value === null) {
		const open = needs(tally, "backlog") ? drainOf(collected) : null;
		if (open?.open)
			return {
				...base,
				verdict: unit === "ns" && (open.undrainedNs ?? 0) >= sla.limit ? "fail" : "inconclusive",
				measured: "n/a",
				...because(open.open),
			};
		return unmeasured(base, notMeasured(whyNot(tally, plan) ?? `${name} was not measured`));
	}
	const measured = about(value, unit);
	const open = openQuestion(sla, collected, value);
	if (open !== null) return { ...base, verdict: "inconclusive", measured, ...because(open) };
	const meets = (of: number) => COMPARE[sla.op](of, sla.limit);
	// Messages under way at the window's two edges make a rate uncertain by about latency * rate: with a limit that
	// equals the scheduled rate, a tenth of a percent must not decide. A closed load has no such edges.
	const nearly =
		unit === "messages/s" &&
		plan.schedule.kind !== "closed" &&
		(meets(value * (1 + EDGE)) || meets(value * (1 - EDGE)));
	const warmup = isRateOrTime(tally) ? null : (collected.counters.warmup?.[tally] ?? 0);
	// Shorter than any: a message was missing until the drain was over.
	const looked = (LATE_COMERS.has(tally) && collected.totals?.lookedNs) || 0;
	const lookedNs = looked >= 1e6 ? looked : null;
	const text = [
		`${measured} ${name}`,
		warmup === null ? "" : " in warm-up and window",
		warmup ? ` (${formatCount(warmup)} of them in the warm-up)` : "",
		lookedNs && `, and up to ${formatDuration(lookedNs)} after every message had settled`,
		!meets(value) && nearly && `, within 0.1 % of the ${limit} that the SLA asks for`,
		!meets(value) && !nearly && `; ${asksFor(sla.op, limit)}`,
	];
	const values = { name, measured, warmup, lookedNs, op: sla.op, limit };
	return {
		...base,
		verdict: meets(value) || nearly ? "pass" : "fail",
		measured,
		...because(said("tally", text.filter((part) => part).join(""), values)),
	};
}

/** The count over warm-up and window, the window's rate per second, or a time in ns; null: not measured. */
export function tallyOf(collected: Collected, tally: Tally): number | null {
	if (isRateOrTime(tally))
		return RATES_AND_TIMES[tally]({
			// Read as asked for: without a backlog there is no drain.
			get throughput() {
				return ratesOf(collected);
			},
			get drain() {
				return drainOf(collected);
			},
		});
	const { warmup, window } = collected.counters;
	const before = warmup?.[tally] ?? null;
	const within = window?.[tally] ?? null;
	return before === null || within === null ? null : before + within;
}

/** A rate that would be reached but for stops of the generator whose messages came after the window; null: it would not. */
export function rateWithoutStops(
	sla: TallySla,
	collected: Collected,
): { stops: number; stoppedNs: number; without: string } | null {
	const { tally } = sla;
	const { schedule } = collected.plan;
	const { unit } = TALLIES[tally];
	if (unit !== "messages/s" || schedule.kind === "closed" || isFaultFigure(tally)) return null;
	const { stops, stoppedNs } = stopsAtEnd(collected);
	const rate = (tallyOf(collected, tally) ?? 0) / (1 - stoppedNs / schedule.durationNs);
	return stops > 0 && COMPARE[sla.op](rate * (1 + EDGE), sla.limit)
		? { stops, stoppedNs, without: about(rate, unit) }
		: null;
}

/** Of a result, and null where it has none. */
export function ratesAndTimes(of: Measured): [RateOrTime, number | null][] {
	const names = Object.keys(RATES_AND_TIMES) as RateOrTime[];
	return names.map((name) => [name, RATES_AND_TIMES[name](of)]);
}

/** "by producer and key": the messages among which one can be overtaken. */
export function orderUnit(
	of: Pick<Plan, "pattern" | "partitions"> & { readonly keys: unknown },
): string {
	const stream = of.keys !== null ? " and key" : of.partitions > 1 ? " and partition" : "";
	const copy = of.pattern === "fan-out" ? ", at each subscriber" : "";
	return `by producer${stream}${copy}`;
}

// --- internal ---

const EDGE = 0.001;

/** Of what a message meets after it has settled: looks() of the generator's plan.go. */
const LATE_COMERS: ReadonlySet<Tally> = new Set(["duplicated", "redelivered"]);

/** Why a value that was measured decides nothing; null: it does. */
function openQuestion(sla: TallySla, collected: Collected, value: number): Said | null {
	if (sla.tally === "drainRate" || sla.tally === "drainTime") {
		const drain = drainOf(collected);
		const most =
			sla.tally === "drainRate"
				? (drain?.mostPerSecond ?? Number.POSITIVE_INFINITY)
				: value - 1e9 / SAMPLES_PER_SECOND;
		return COMPARE[sla.op](value, sla.limit) === COMPARE[sla.op](most, sla.limit)
			? null
			: said(
					"drain-between-samples",
					"the backlog is counted ten times a second, and the limit lies between the two samples around its end: build a larger one",
				);
	}
	const { plan, totals } = collected;
	if (TALLIES[sla.tally].unit !== "messages/s" || plan.schedule.kind !== "closed") return null;
	const spanNs = (totals?.lastReceiveNs ?? totals?.lastAckNs ?? 0) - (totals?.firstSendNs ?? 0);
	return spanNs >= SHORTEST_CLOSED_NS
		? null
		: said(
				"too-short-for-a-rate",
				`all messages were through within ${formatDuration(Math.max(0, spanNs))}, too short to tell a rate; raise messages`,
				{ spanNs: Math.max(0, spanNs) },
			);
}

type RateOrTime = Exclude<Tally, keyof Counters>;

/** A result has them, and so has a run that is judged. */
interface Measured extends Pick<Run, "throughput"> {
	readonly drain: Pick<NonNullable<Run["drain"]>, "drainNs" | "perSecond"> | null;
}

/** What is no count of messages, in the order of baselines. */
const RATES_AND_TIMES: Readonly<Record<RateOrTime, (of: Measured) => number | null>> = {
	throughput: ({ throughput }) => throughput.received,
	"throughput.received": ({ throughput }) => throughput.received,
	"throughput.sent": ({ throughput }) => throughput.sent,
	achieved: ({ throughput }) => throughput.achieved,
	drainTime: ({ drain }) => drain?.drainNs ?? null,
	drainRate: ({ drain }) => drain?.perSecond ?? null,
};

function isRateOrTime(tally: Tally): tally is RateOrTime {
	return tally in RATES_AND_TIMES;
}

function nameOf(tally: Tally, plan: Plan): string {
	const { label = tally, copies = false } = TALLIES[tally];
	if (needs(tally, "order") && hasStreams(plan)) return `${label} (${orderUnit(plan)})`;
	return copies && plan.pattern === "fan-out" ? `copies ${label}` : label;
}

function hasStreams(plan: Plan): boolean {
	return plan.keys !== null || plan.partitions > 1 || plan.pattern === "fan-out";
}

/** Why a tally is null though the run was measured; null: nobody has counted. */
function whyNot(tally: Tally, plan: Plan): string | null {
	const closed = plan.schedule.kind === "closed";
	if (needs(tally, "order"))
		return "order was not measured: this system promises none, or several consumers share its messages";
	if (needs(tally, "checksum"))
		return "corruption was not measured: payloads carry no checksum (workload.checksum)";
	if (needs(tally, "receipts") && plan.pattern === "publish")
		return `messages are only published here, so there is no ${tally}: judge ack, failed or unknown`;
	if (needs(tally, "acks") && !closed)
		return `${plan.system} acknowledges nothing: there is no ${tally}; judge achieved`;
	if (needs(tally, "rate") && closed)
		return "a closed load has no rate to achieve: judge throughput";
	return null;
}

function about(value: number, unit: TallyUnit): string {
	if (unit === "ns") return formatDuration(value);
	return unit === "messages/s" ? `${formatCount(value)}/s` : formatCount(value);
}

function exactly(limit: number, unit: TallyUnit): string {
	return unit === "ns" ? formatDurationExact(limit) : about(limit, unit);
}

const COMPARE: Record<TallySla["op"], (a: number, b: number) => boolean> = {
	"<": (a, b) => a < b,
	"<=": (a, b) => a <= b,
	"==": (a, b) => a === b,
	">=": (a, b) => a >= b,
	">": (a, b) => a > b,
};
