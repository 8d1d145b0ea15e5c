import type { Result, Run } from "../../model/result.ts";
import { samplesForSupport } from "../../stats/support.ts";
import { median, trend } from "../../stats/trend.ts";
import { formatDurationExact } from "../../units.ts";
import { STEADY_CHANGE, STEADY_SECONDS } from "../../verdict/checks/trend.ts";
import { SHORTEST_CLOSED_NS, windowFor } from "../../verdict/rates.ts";
import { checkOf, found } from "./found.ts";

/**
 * A window is steady if `warmup: steady` has opened it in time, or p50 does not drift in it. After such a warm-up some repeats may drift,
 * by chance or because other programs use the machine for a while; if all of them rise, or all fall, the system is the cause.
 */
export function cold(result: Result, judged: readonly Run[]): string[] {
	const shapeless = found(
		judged,
		result,
		(run) => (steadiness(run) === "unknown" ? shapeOf(run) : null),
		(runs, shape) =>
			`${runs}: nothing can show that a load with ${shape} was steady: measure it at a rate`,
		(shape) => shape,
	);
	const drifting = found(
		judged,
		result,
		(run) => {
			const now = steadiness(run);
			if (now === null || now === "unknown") return null;
			if (!("once" in now)) return now.why;
			const alike = judged.filter(
				(other) => other.system === run.system && other.case === run.case,
			);
			const ways = alike.map((other) => wayOf(steadiness(other)));
			return ways.every((way) => way !== 0 && way === now.way) ? now.once : null;
		},
		(runs, why) => `${runs}: not steady (${why}): write warmup: steady, or warm up for longer`,
	);
	return [...drifting, ...shapeless];
}

/**
 * Whether the window is long enough for the percentiles shown or judged. If the slow messages of a shown one came in few stalls, that is a
 * result, and is marked: a longer window need not have more of them.
 */
export function short(result: Result, judged: readonly Run[]): string[] {
	return [
		...found(
			judged,
			result,
			(run) => (lengthNs(run) < leastNs(run) ? run : null),
			(runs, run) => {
				const [length, least] = [lengthNs(run), leastNs(run)].map(formatDurationExact);
				return run.load.schedule.kind === "closed"
					? `${runs}: all was through after ${length}; below ${least} the first batch is most of what was measured: write more messages`
					: `${runs}: a window of ${length}; below ${least} it is unknown how slow messages cluster: write a longer duration`;
			},
		),
		...found(
			judged,
			result,
			(run) => lacking(run, result),
			(runs, { metric, p, samples }, run) =>
				`${runs}: the samples do not carry ${metric} p${p}, which takes ${windowFor(samples, run.load, metric)}: write a longer duration`,
			({ metric, p }) => `${metric} ${p}`,
		),
	];
}

// --- internal ---

/** Checks that fail if a load could not be sent as requested, or its queue grew over the run. */
const NOT_CARRIED = ["lag", "offered", "held", "backlog"];

/** A shorter window does not show how slow messages cluster (reports/METHOD.md, "Percentiles"). */
const WINDOW_NS = 10e9;

/** The percentiles in every report of every run, whatever its SLA. */
const SHOWN = [50, 99] as const;

/** null if steady. once: it drifts, although its warm-up ended steady; `way` is 1 if it rises, -1 if it falls. */
type Steadiness =
	| { readonly why: string }
	| { readonly once: string; readonly way: number }
	| "unknown"
	| null;

function wayOf(of: Steadiness): number {
	return typeof of === "object" && of !== null && "once" in of ? of.way : 0;
}

function steadiness(run: Run): Steadiness {
	// Messages that were not carried wait in a queue, which has no level.
	if (NOT_CARRIED.some((check) => isBroken(run, check))) return null;
	const warmUp = checkOf(run, "warm-up");
	const steady = checkOf(run, "steady");
	const drifts = steady !== undefined && steady.status !== "ok";
	if (warmUp?.status === "ok" && steady?.status === "unknown") return { why: steady.detail };
	if (warmUp?.status === "ok")
		return drifts ? { once: steady.detail, way: Math.sign(Number(steady.values?.share)) } : null;
	if (warmUp !== undefined) return { why: warmUp.detail };
	if (steady !== undefined) return drifts ? { why: steady.detail } : null;
	if (run.load.schedule.kind !== "closed") return "unknown";
	if (isBurst(run)) return null;
	const change = drift(run);
	if (change === null) return { why: "fewer than 8 whole seconds" };
	return Math.abs(change) > STEADY_CHANGE
		? { why: `p50 changed by ${Math.round(Math.abs(change) * 100)} %` }
		: null;
}

/** For a closed load, which no check covers: how p50 of service changes over the window, relative to its median; null if too short. */
function drift({ series }: Run): number | null {
	// The last second has begun, but is not full.
	const points = series.seconds
		.filter(({ second }) => second >= 0)
		.slice(0, -1)
		.flatMap(({ second, p50 }) => (p50 === null ? [] : [{ x: second, y: p50 }]));
	const middle = median(points.map(({ y }) => y));
	const fitted = points.length < STEADY_SECONDS ? null : trend(points);
	if (!fitted || !middle) return null;
	const certain = fitted.low > 0 || fitted.high < 0;
	return certain ? (fitted.slope * points.length) / middle : 0;
}

function isBroken(run: Run, check: string): boolean {
	const status = checkOf(run, check)?.status;
	return status === "fail" || status === "invalid";
}

function shapeOf({ load }: Run): string {
	return load.pattern === "backlog" ? "a backlog" : "stages";
}

/** Nothing held its senders back: the queue grows until all is sent, and p50 with it. It only shows rates. */
function isBurst({ load, intended }: Run): boolean {
	return (
		load.schedule.kind === "closed" &&
		(load.inFlight ?? Number.POSITIVE_INFINITY) * load.producers >= intended
	);
}

/** A closed load ends when all is done: a fast system may finish within seconds, which is its result. */
function leastNs({ load }: Run): number {
	return load.schedule.kind === "closed" ? SHORTEST_CLOSED_NS : WINDOW_NS;
}

/** Too short to show how slow messages cluster. */
function isShort(run: Run): boolean {
	return lengthNs(run) < WINDOW_NS;
}

function lengthNs({ window }: Run): number {
	return window.endNs - window.startNs;
}

/** The first percentile with too few samples, or, if its SLA line is undecided, too few stalls. */
function lacking(run: Run, { gates }: Result) {
	const judged = gates.flatMap(({ system, case: name, verdict, ...gate }) => {
		const { metric, percentile } = gate;
		return system === run.system &&
			name === run.case &&
			verdict === "inconclusive" &&
			metric !== null &&
			percentile !== null
			? [{ metric, p: percentile }]
			: [];
	});
	const shown = SHOWN.map((p) => ({ metric: run.main, p }));
	for (const { metric, p } of [...judged, ...shown]) {
		const of = run.metrics[metric];
		const at = of?.percentiles.find((one) => one.p === p);
		if (!of || !at || at.support === "ok") continue;
		if (!judged.some((line) => line.metric === metric && line.p === p))
			if (at.support === "weak" && of.n >= samplesForSupport(p)) continue;
		// A short window does not show clusters; its length is reported instead.
		const clustered = isShort(run) || !at.nEff ? 1 : of.n / at.nEff;
		const samples = Math.ceil(samplesForSupport(p) * Math.max(1, clustered));
		if (isShort(run) && of.n >= samples) continue;
		return { metric, p, samples };
	}
	return null;
}
