import type { Collected } from "../evidence/collect.ts";
import type { Counters } from "../model/client-file.ts";
import { CATCH_UP } from "../model/load.ts";
import type { Plan, Sla } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { faultZeroNs } from "../model/run-file.ts";
import { type Tally as AnyTally, needs, TALLIES, type TallyUnit } from "../model/tallies.ts";
import { type Said, said } from "../text/say.ts";
import {
	formatBytesExact,
	formatCount,
	formatDuration,
	formatDurationExact,
	formatIn,
	plusMinus,
} from "../units.ts";
import { costOf } from "./cost.ts";
import { windowOf } from "./facts.ts";
import {
	type FaultFigure,
	type FaultTime,
	failoverOf,
	faultName,
	faultTimes,
	isFaultFigure,
} from "./faults.ts";
import { because, type Judgement, NO_NUMBERS, notMeasured } from "./judgement.ts";
import { drainOf, SAMPLES_PER_SECOND } from "./queue.ts";
import { ratesOf, SHORTEST_CLOSED_NS } from "./rates.ts";
import { stopsAtEnd } from "./stops.ts";

type TallySla = Extract<Sla, { kind: "tally" }>;
/** `ofFaults` judges times of faults. */
type Tally = Exclude<AnyTally, FaultFigure>;

/** Judges a count over warm-up and window, a rate in the window by real time, or a time. */
export function judgeTally(sla: TallySla, collected: Collected): Judgement {
	const { tally: name, limit } = sla;
	const { unit } = TALLIES[name];
	const outcome = isFaultFigure(name)
		? ofFaults(sla, name, collected)
		: ofCount(sla, name, collected);
	const { value, beyondNs = null, measured = "n/a", verdict } = outcome;
	return {
		...NO_NUMBERS,
		sla: sla.text,
		limit: exactly(limit, unit),
		tally: { name, value, limit, unit },
		beyondNs,
		measured,
		verdict,
		...because(outcome.said),
	};
}

/** Count over warm-up and window, rate per second in the window, or time in ns. */
export function tallyOf(collected: Collected, tally: Tally): number | null {
	if (isRateOrTime(tally)) {
		const [throughput, drain] = [ratesOf(collected), drainOf(collected)];
		return RATES_AND_TIMES[tally]({ throughput, drain, cost: costOf(collected) });
	}
	const { warmup, window } = collected.counters;
	const before = warmup?.[tally] ?? null;
	const within = window?.[tally] ?? null;
	return before === null || within === null ? null : before + within;
}

/** The rate without stops whose messages came after the window; null unless it then meets the SLA. */
export function rateWithoutStops({ tally, op, limit }: TallySla, collected: Collected) {
	const { schedule } = collected.plan;
	const { unit } = TALLIES[tally];
	if (unit !== "messages/s" || schedule.kind === "closed" || isFaultFigure(tally)) return null;
	const { stops, stoppedNs } = stopsAtEnd(collected);
	const rate = (tallyOf(collected, tally) ?? 0) / (1 - stoppedNs / schedule.durationNs);
	return stops > 0 && OPS[op].holds(rate * (1 + EDGE), limit)
		? { stops, stoppedNs, without: about(rate, unit) }
		: null;
}

export function ratesAndTimes(of: Measured): [RateOrTime, number | null][] {
	const names = Object.keys(RATES_AND_TIMES) as RateOrTime[];
	return names.map((name) => [name, RATES_AND_TIMES[name](of)]);
}

/** "by producer and key": where messages can be overtaken. */
export function orderUnit(of: Pick<Plan, "pattern" | "partitions"> & { readonly keys: unknown }) {
	const stream = of.keys !== null ? " and key" : of.partitions > 1 ? " and partition" : "";
	const copy = of.pattern === "fan-out" ? ", at each subscriber" : "";
	return `by producer${stream}${copy}`;
}

// --- internal ---

interface Outcome extends Pick<Judgement, "verdict"> {
	readonly value: number | null;
	/** Lower bound of a time that had not ended. */
	readonly beyondNs?: number | null;
	readonly measured?: string;
	readonly said: Said;
}

const EDGE = 0.001;
/** Happens to a message after it has settled: looks() in the generator's plan.go. */
const LATE_COMERS: readonly Tally[] = ["duplicated", "redelivered"];

function ofCount(sla: TallySla, tally: Tally, collected: Collected): Outcome {
	const { plan, counters, totals } = collected;
	const { op } = sla;
	const { unit } = TALLIES[tally];
	const name = nameOf(tally, plan);
	const limit = exactly(sla.limit, unit);
	const value = tallyOf(collected, tally);
	if (value === null) {
		// Whether the broker's processes can be sampled shows only during the run.
		if (TALLIES[tally].cost) return { verdict: "inconclusive", value, said: notMeasured(name) };
		const drain = needs(tally, "backlog") ? drainOf(collected) : null;
		if (!drain?.open) return { verdict: "error", value, said: notMeasured(name) };
		const broken = unit === "ns" && (drain.undrainedNs ?? 0) >= sla.limit;
		return { verdict: broken ? "fail" : "inconclusive", value, said: drain.open };
	}
	const measured = about(value, unit);
	const open = openQuestion(sla, collected, value);
	if (open !== null) return { verdict: "inconclusive", value, measured, said: open };
	const meets = (of: number) => OPS[op].holds(of, sla.limit);
	// Messages under way at the window's edges make an open load's rate uncertain by about latency * rate: 0.1 % must not decide.
	const nearly =
		unit === "messages/s" &&
		plan.schedule.kind !== "closed" &&
		(meets(value * (1 + EDGE)) || meets(value * (1 - EDGE)));
	const warmup = isRateOrTime(tally) ? null : (counters.warmup?.[tally] ?? 0);
	// 0 if a message was missing until the drain was over.
	const looked = (LATE_COMERS.includes(tally) && totals?.lookedNs) || 0;
	const lookedNs = looked >= 1e6 ? looked : null;
	const text = [
		`${measured} ${TALLIES[tally].cost ? "of " : ""}${name}`,
		warmup === null ? "" : " in warm-up and window",
		warmup ? ` (${formatCount(warmup)} of them in the warm-up)` : "",
		lookedNs && `, and up to ${formatDuration(lookedNs)} after every message had settled`,
		!meets(value) && nearly && `, within 0.1 % of the ${limit} that the SLA asks for`,
		!meets(value) && !nearly && `; the SLA asks for ${OPS[op].is} ${limit}`,
	];
	const values = { name, measured, warmup, lookedNs, op, limit };
	return {
		verdict: meets(value) || nearly ? "pass" : "fail",
		value,
		measured,
		said: said("tally", text.filter((part) => part).join(""), values),
	};
}

function openQuestion(sla: TallySla, collected: Collected, value: number): Said | null {
	const { holds } = OPS[sla.op];
	const sampled = collected.plan.pattern !== CATCH_UP;
	if (sampled && (sla.tally === "drainRate" || sla.tally === "drainTime")) {
		const most =
			sla.tally === "drainRate"
				? (drainOf(collected)?.mostPerSecond ?? Number.POSITIVE_INFINITY)
				: value - 1e9 / SAMPLES_PER_SECOND;
		if (holds(value, sla.limit) === holds(most, sla.limit)) return null;
		const text =
			"the backlog is counted ten times a second, and the limit lies between the two samples around its end: build a larger one";
		return said("drain-between-samples", text);
	}
	const { plan, totals } = collected;
	const edge = (sla.tally === "cpuPerMessage" && costOf(collected)?.cpuWithinNs) || 0;
	if (holds(value - edge, sla.limit) !== holds(value + edge, sla.limit)) {
		const text = `${formatDuration(value)} of the broker's CPU time per message is exact to ${plusMinus(edge)}, and the limit lies within; a longer window decides`;
		return said("cpu-too-coarse", text, { edgeNs: edge });
	}
	if (TALLIES[sla.tally].unit !== "messages/s" || plan.schedule.kind !== "closed") return null;
	const endNs = totals?.lastReceiveNs ?? totals?.lastAckNs ?? 0;
	const spanNs = Math.max(0, endNs - (totals?.firstSendNs ?? 0));
	if (spanNs >= SHORTEST_CLOSED_NS) return null;
	const text = `all messages were through within ${formatDuration(spanNs)}, too short to tell a rate; raise messages`;
	return said("too-short-for-a-rate", text, { spanNs });
}

/** Judges the worst fault: PASS if all possible times keep the limit, FAIL if none does or it had not ended by then, else INCONCLUSIVE. */
function ofFaults(sla: TallySla, figure: FaultFigure, collected: Collected): Outcome {
	const { startNs, endNs } = windowOf(collected);
	const complete = collected.state === "complete";
	const times = faultTimes(figure, { failover: failoverOf(collected, sla.until), endNs });
	if (!complete || times === null) {
		const verdict = complete ? "error" : "inconclusive";
		return { verdict, value: null, said: notMeasured(figure) };
	}
	const keeps = (ns: number) => OPS[sla.op].holds(ns, sla.limit);
	const verdictOf = ({ leastNs, mostNs }: FaultTime) => {
		if (keeps(mostNs)) return "pass";
		// An open time is longer than measured.
		const fails = mostNs === Number.POSITIVE_INFINITY ? leastNs >= sla.limit : !keeps(leastNs);
		return fails ? "fail" : "inconclusive";
	};
	const rank = (time: FaultTime) => ["pass", "inconclusive", "fail"].indexOf(verdictOf(time));
	const [worst] = times.toSorted((a, b) => rank(b) - rank(a) || b.ns - a.ns) as [FaultTime];
	const { ns, mostNs, fault } = worst;
	const verdict = verdictOf(worst);
	const open = mostNs === Number.POSITIVE_INFINITY;
	const name = faultName(fault);
	const atNs = Math.max(0, faultZeroNs(fault) - startNs);
	const ofSeveral = times.length > 1 ? `, the worst of ${times.length} faults` : "";
	const when = `${name} ${formatDuration(atNs)} after the window opened${ofSeveral}`;
	const limit = formatDurationExact(sla.limit);
	const why = {
		pass: "",
		fail: `; the SLA asks for ${OPS[sla.op].is} ${limit}`,
		inconclusive: `; whether that keeps the limit of ${limit} is open`,
	}[verdict];
	const values = {
		fault: name,
		atNs,
		faults: times.length,
		lastedNs: ns,
		open,
		limitNs: sla.limit,
	};
	// Rounded down: never reported longer than it was.
	const atLeast = `> ${formatDurationExact(Math.floor(ns / 1e8) * 1e8)}`;
	return {
		verdict,
		value: open ? null : ns,
		beyondNs: open ? ns : null,
		measured: open ? atLeast : formatDuration(ns),
		said: said(`fault-${figure}`, `${when}: ${inWords(figure, worst)}${why}`, values),
	};
}

/** "unavailable for 700ms", "recovered (p99 < 20ms) after 700ms", "not drained within 5s" */
function inWords(figure: FaultFigure, { ns, mostNs, cut, fault }: FaultTime): string {
	const open = mostNs === Number.POSITIVE_INFINITY;
	const time = formatDuration(ns);
	const next = open && cut ? ", when the next fault began" : "";
	if (figure === "unavailable")
		return ns === 0
			? `never unavailable for ${formatDuration(fault.noticedNs ?? 0)} or longer`
			: `unavailable for ${open ? "at least " : ""}${time}${next}`;
	if (figure === "served" && open) return "messages that were due before it never arrived";
	const what = figure === "recovered" ? `recovered (${fault.sla})` : figure;
	if (open) return `not ${what} within ${time}${next}`;
	return `${what} ${ns === 0 ? "at once" : `after ${time}`}`;
}

type RateOrTime = Exclude<Tally, keyof Counters>;

/** Part of a result, and of a run being judged. */
interface Measured extends Pick<Run, "throughput" | "cost"> {
	readonly drain: Pick<NonNullable<Run["drain"]>, "drainNs" | "perSecond"> | null;
}

/** In the order of baselines. */
const RATES_AND_TIMES: Readonly<Record<RateOrTime, (of: Measured) => number | null>> = {
	throughput: ({ throughput }) => throughput.received,
	"throughput.received": ({ throughput }) => throughput.received,
	"throughput.sent": ({ throughput }) => throughput.sent,
	achieved: ({ throughput }) => throughput.achieved,
	drainTime: ({ drain }) => drain?.drainNs ?? null,
	drainRate: ({ drain }) => drain?.perSecond ?? null,
	cpuPerMessage: ({ cost }) => cost?.cpuPerMessageNs ?? null,
	generatorCpuPerMessage: ({ cost }) => cost?.generatorCpuPerMessageNs ?? null,
	diskPerMessage: ({ cost }) => cost?.diskPerMessageBytes ?? null,
};

function isRateOrTime(tally: Tally): tally is RateOrTime {
	return tally in RATES_AND_TIMES;
}

function nameOf(tally: Tally, plan: Plan): string {
	const { label = tally, copies = false } = TALLIES[tally];
	const unit = orderUnit(plan);
	if (plan.pattern === CATCH_UP && needs(tally, "backlog"))
		return `${tally === "drainRate" ? "received " : ""}until it had caught up`;
	if (needs(tally, "order") && unit !== "by producer") return `${label} (${unit})`;
	return copies && plan.pattern === "fan-out" ? `copies ${label}` : label;
}

function about(value: number, unit: TallyUnit): string {
	if (unit === "ns" || unit === "bytes") return formatIn(unit, value);
	return unit === "messages/s" ? `${formatCount(value)}/s` : formatCount(value);
}

function exactly(limit: number, unit: TallyUnit): string {
	if (unit === "bytes") return formatBytesExact(limit);
	return unit === "ns" ? formatDurationExact(limit) : about(limit, unit);
}

type Op = { readonly is: string; holds(a: number, b: number): boolean };
const OPS: Readonly<Record<TallySla["op"], Op>> = {
	"<": { is: "less than", holds: (a, b) => a < b },
	"<=": { is: "at most", holds: (a, b) => a <= b },
	"==": { is: "exactly", holds: (a, b) => a === b },
	">=": { is: "at least", holds: (a, b) => a >= b },
	">": { is: "more than", holds: (a, b) => a > b },
};
