import type { Run } from "../../model/result.ts";
import { type Bench, runOurs } from "./tools-run.ts";

/** What one driver carries at its times. */
export interface Rates {
	/** The highest rate that was tried and is carried, and the lowest one that is not; null: none was found. */
	readonly carried: number | null;
	readonly tooHigh: number | null;
	/** Why not. */
	readonly limit: string;
}

/** Lag of a generator that still has its times in hand. */
const LAG_NS = 1e6;
const LATE = "lag p99";
const FIRST = 50_000;
const MOST = 1_600_000;
/** Halvings of the interval, once it is known. */
const HALVINGS = 2;

/**
 * The highest rate of 256 B round trips on one connection at which lag p99 is below 1 ms, nothing is lost, and the messages
 * come back as fast as they are due: doubled (or halved) until the answer changes, then bisected.
 */
export async function findRate(
	bench: Bench,
	url: string,
	system: Readonly<Record<string, unknown>>,
	seconds: number,
): Promise<Rates> {
	let carried: number | null = null;
	let tooHigh: number | null = null;
	let limit = "";
	const attempt = async (rate: number) => {
		const { run } = await runOurs(bench, url, system, {
			pattern: "round-trip",
			message: "256B",
			rate: `${rate}/s`,
			...timed(seconds),
		});
		return problemOf(run, rate);
	};
	const carries = async (rate: number) => {
		let problem = await attempt(rate);
		// Another process for 30 ms is enough: the generator is late for good when it is so twice.
		if (problem?.startsWith(LATE)) problem = await attempt(rate);
		if (problem === null) carried = rate;
		else {
			tooHigh = rate;
			limit = problem;
		}
		return problem === null;
	};
	if (await carries(FIRST))
		for (let rate = 2 * FIRST; rate <= MOST && (await carries(rate)); ) rate *= 2;
	else
		for (let rate = FIRST / 2; rate >= 1000 && !(await carries(rate)); )
			rate = Math.round(rate / 2);
	for (let i = 0; i < HALVINGS && carried !== null && tooHigh !== null; i++)
		await carries(Math.round((carried + tooHigh) / 2));
	return { carried, tooHigh, limit };
}

/** The case of the message queue articles: 20 000/s of 1 KiB over 25 connections. */
export async function runCrowd(
	bench: Bench,
	url: string,
	system: Readonly<Record<string, unknown>>,
	seconds: number,
): Promise<Run> {
	const { run } = await runOurs(bench, url, system, {
		pattern: "round-trip",
		message: "1KiB",
		rate: "20000/s",
		connections: 25,
		...timed(seconds),
	});
	return run;
}

/** A percentile of a metric, ns; null: there is none. */
export function quantile(run: Run, metric: "lag" | "response", p: number): number | null {
	return run.metrics[metric]?.percentiles.find((one) => one.p === p)?.value ?? null;
}

// --- internal ---

const timed = (seconds: number) => ({ duration: `${seconds}s`, warmup: "1s", drain: "3s" });

/** Why a rate is too high; null: it is carried. */
function problemOf(run: Run, rate: number): string | null {
	const lag = quantile(run, "lag", 99);
	const missing = run.intended - (run.received ?? 0);
	if (missing > 0) return `${missing} of ${run.intended} did not come back`;
	if ((run.throughput.received ?? 0) < 0.99 * rate)
		return `${Math.round(run.throughput.received ?? 0)}/s came back in time`;
	if (lag === null || lag >= LAG_NS)
		return `${LATE} ${lag === null ? "unknown" : `${(lag / 1e6).toFixed(1)} ms`}`;
	return null;
}
