import type { Counters } from "../model/client-file.ts";
import type { Plan, Sla, Tally } from "../model/plan.ts";
import type { Collected } from "../run/collect.ts";
import { formatCount, formatDuration, formatDurationExact } from "../units.ts";
import { drainOf, SAMPLES_PER_SECOND } from "./backlog-drain.ts";
import type { Facts } from "./facts.ts";
import type { Judgement, NO_NUMBERS } from "./judgement.ts";
import { ratesOf, SHORTEST_CLOSED_NS } from "./rates.ts";

type TallySla = Extract<Sla, { kind: "tally" }>;

/**
 * Judges a count, a rate or a time. Counts are of warm-up and window: a message lost in the warm-up is lost. Rates are of the
 * window, by real time.
 */
export function judgeTally(
	sla: TallySla,
	{ collected }: Facts,
): Omit<Judgement, Exclude<keyof typeof NO_NUMBERS, "tally">> {
	const { plan } = collected;
	const unit = unitOf(sla.tally);
	const name = nameOf(sla.tally, plan);
	const limit = exactly(sla.limit, unit);
	const value = tallyOf(collected, sla.tally);
	const base = {
		sla: sla.text,
		limit,
		tally: {
			name: sla.tally,
			value,
			limit: sla.limit,
			unit: NUMBER_UNITS[unit],
		},
	};
	if (value === null) {
		const open = /^drain/.test(sla.tally) ? drainOf(collected) : null;
		if (open?.problem)
			return {
				...base,
				verdict:
					unit === "time" && (open.undrainedNs ?? 0) >= sla.limit
						? "fail"
						: "inconclusive",
				measured: "n/a",
				why: open.problem,
			};
		return {
			...base,
			verdict: "error",
			measured: "n/a",
			why: whyNot(sla.tally, plan) ?? `${name} was not measured`,
		};
	}
	const measured = about(value, unit);
	const open = openQuestion(sla, collected, value);
	if (open !== null)
		return { ...base, verdict: "inconclusive", measured, why: open };
	const met = COMPARE[sla.op](value, sla.limit);
	// Messages under way at the window's two edges make a rate uncertain by about latency * rate: with a limit that
	// equals the scheduled rate, a tenth of a percent must not decide. A closed load has no such edges.
	const nearly =
		unit === "rate" &&
		plan.schedule.kind !== "closed" &&
		(COMPARE[sla.op](value * (1 + EDGE), sla.limit) ||
			COMPARE[sla.op](value * (1 - EDGE), sla.limit));
	const found =
		unit === "count"
			? `${measured} ${name} in warm-up and window`
			: `${measured} ${name}`;
	return {
		...base,
		verdict: met || nearly ? "pass" : "fail",
		measured,
		why: met
			? found
			: `${found}, ${nearly ? "within 0.1 % of" : "not"} ${sla.op} ${limit}`,
	};
}

/** The count over warm-up and window, the window's rate per second, or a time in ns; null: not measured. */
export function tallyOf(collected: Collected, tally: Tally): number | null {
	if (!isCount(tally)) return SPECIAL[tally].of(collected);
	const { warmup, window } = collected.counters;
	const before = warmup?.[tally] ?? null;
	const within = window?.[tally] ?? null;
	return before === null || within === null ? null : before + within;
}

/** "by producer and key": the messages among which one can be overtaken. */
export function orderUnit(
	of: Pick<Plan, "pattern" | "partitions"> & { readonly keys: unknown },
): string {
	const stream =
		of.keys !== null ? " and key" : of.partitions > 1 ? " and partition" : "";
	const copy = of.pattern === "fan-out" ? ", at each subscriber" : "";
	return `by producer${stream}${copy}`;
}

// --- internal ---

const EDGE = 0.001;

/** Why a value that was measured decides nothing; null: it does. */
function openQuestion(
	sla: TallySla,
	collected: Collected,
	value: number,
): string | null {
	if (sla.tally === "drainRate" || sla.tally === "drainTime") {
		const drain = drainOf(collected);
		const most =
			sla.tally === "drainRate"
				? (drain?.mostPerSecond ?? Number.POSITIVE_INFINITY)
				: value - 1e9 / SAMPLES_PER_SECOND;
		return COMPARE[sla.op](value, sla.limit) ===
			COMPARE[sla.op](most, sla.limit)
			? null
			: "the backlog is counted ten times a second: drained somewhere between two samples, which lie on both sides of the limit; build a larger one";
	}
	const { plan, totals } = collected;
	if (unitOf(sla.tally) !== "rate" || plan.schedule.kind !== "closed")
		return null;
	const spanNs =
		(totals?.lastReceiveNs ?? totals?.lastAckNs ?? 0) -
		(totals?.firstSendNs ?? 0);
	return spanNs >= SHORTEST_CLOSED_NS
		? null
		: `all messages were through within ${formatDuration(Math.max(0, spanNs))}, too short to tell a rate; raise messages`;
}

type Unit = "count" | "rate" | "time";

const NUMBER_UNITS = {
	count: "messages",
	rate: "messages/s",
	time: "ns",
} as const;

type Count = Extract<Tally, keyof Counters>;

interface Special {
	readonly unit: Unit;
	readonly name: string;
	of(collected: Collected): number | null;
}

/** What is no count of messages. */
const SPECIAL: Readonly<Record<Exclude<Tally, Count>, Special>> = {
	throughput: {
		unit: "rate",
		name: "received",
		of: (c) => ratesOf(c).received,
	},
	"throughput.received": {
		unit: "rate",
		name: "received",
		of: (c) => ratesOf(c).received,
	},
	"throughput.sent": {
		unit: "rate",
		name: "acknowledged",
		of: (c) => ratesOf(c).sent,
	},
	achieved: { unit: "rate", name: "sent", of: (c) => ratesOf(c).achieved },
	drainTime: {
		unit: "time",
		name: "until the backlog was drained",
		of: (c) => drainOf(c)?.drainNs ?? null,
	},
	drainRate: {
		unit: "rate",
		name: "received while the backlog was drained",
		of: (c) => drainOf(c)?.perSecond ?? null,
	},
};

function isCount(tally: Tally): tally is Count {
	return !(tally in SPECIAL);
}

function unitOf(tally: Tally): Unit {
	return isCount(tally) ? "count" : SPECIAL[tally].unit;
}

function nameOf(tally: Tally, plan: Plan): string {
	if (!isCount(tally)) {
		const { name } = SPECIAL[tally];
		return name === "received" && plan.pattern === "fan-out"
			? "copies received"
			: name;
	}
	if (tally === "lost" && plan.pattern === "fan-out") return "copies lost";
	if (tally === "reordered" && hasStreams(plan))
		return `reordered (${orderUnit(plan)})`;
	return tally === "notOffered" ? "not offered" : tally;
}

function hasStreams(plan: Plan): boolean {
	return (
		plan.keys !== null || plan.partitions > 1 || plan.pattern === "fan-out"
	);
}

/** Why a count is null though the run was measured; null: nobody has counted. */
function whyNot(tally: Tally, plan: Plan): string | null {
	if (tally === "reordered")
		return "order was not measured: this system promises none, or several consumers share its messages";
	if (tally === "corrupted")
		return "corruption was not measured: payloads carry no checksum (workload.checksum)";
	if (
		plan.pattern === "publish" &&
		["lost", "throughput", "throughput.received"].includes(tally)
	)
		return `nothing is received where messages are only published: there is no ${tally}; judge ack, failed or unknown`;
	if (tally === "throughput.sent" && plan.schedule.kind !== "closed")
		return `${plan.system} acknowledges nothing: there is no throughput.sent, judge achieved`;
	if (tally === "achieved" && plan.schedule.kind === "closed")
		return "a closed load has no rate to achieve: judge throughput";
	return null;
}

function about(value: number, unit: Unit): string {
	if (unit === "time") return formatDuration(value);
	return unit === "rate" ? `${formatCount(value)}/s` : formatCount(value);
}

function exactly(limit: number, unit: Unit): string {
	return unit === "time" ? formatDurationExact(limit) : about(limit, unit);
}

const COMPARE: Record<TallySla["op"], (a: number, b: number) => boolean> = {
	"<": (a, b) => a < b,
	"<=": (a, b) => a <= b,
	"==": (a, b) => a === b,
	">=": (a, b) => a >= b,
	">": (a, b) => a > b,
};
