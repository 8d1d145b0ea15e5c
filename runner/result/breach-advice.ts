import { resumeCommand } from "../model/command-file.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import { targets } from "../model/targets.ts";
import { type Said, say } from "../text/say.ts";
import { faultName } from "../verdict/checks/run.ts";
import { meanRate } from "../verdict/window-length.ts";
import type { Outcome } from "./outcomes.ts";
import { refusalAdvice } from "./refusals.ts";
import { faultAt } from "./words.ts";
import { worstRun } from "./worst-repeat.ts";

/** What to do about an outcome that did not pass. */
export function adviceText(outcome: Outcome, result: Result): string {
	return adviceOn(outcome, result).text;
}

// --- internal ---

function adviceOn(outcome: Outcome, result: Result): Said {
	const { of, verdict } = outcome;
	if (of.kind === "damage") return say("copy-again");
	const run = worstRun(outcome, result);
	switch (verdict) {
		case "interrupted":
			// A search that had not begun is none of the result's, and refuses to be resumed all the same.
			return result.searches.length > 0 || result.command?.resumable === false
				? say("search-again")
				: say("resume", { command: resumeCommand(result.command, null, result.runId) });
		case "error":
			if (result.errorCause === "scenario") return say("change-the-question");
			return (
				(run && refusalAdvice(run.why ?? "", run)) ?? say("fix-and-rerun", { log: hasLog(run) })
			);
		case "invalid":
			return say("trust-first", { remedy: remedyOf(run, "invalid") });
		case "inconclusive": {
			if (of.kind === "gate" && [of.gate.code, of.gate.comparison?.code].includes("clocks"))
				return say("closer-clocks");
			if (of.kind === "gate" && of.gate.code === "floor-over-limit") return say("faster-floor");
			const remedy = of.kind === "run" ? remedyOf(of.run, "inconclusive") : null;
			if (remedy !== null) return say("decide-first", { remedy });
			return of.kind === "run" || (of.kind === "gate" && !of.gate.comparison)
				? say("more-samples", { repeats: Math.max(3, repeatsOf(of, result) + 2) })
				: moreRuns(outcome, result);
		}
		default:
			break;
	}
	if (of.kind === "comparison" || (of.kind === "gate" && of.gate.comparison))
		return differentNow(outcome, result);
	const own = of.kind === "gate" && run !== null && ownFaults(of.gate, run);
	if (own) return own;
	const held = throttled(run);
	if (held) return held;
	// What failed counts as slower than any limit: neither the machine nor its consumers explain it. A search means to find where that begins.
	const [error] = run?.errors ?? [];
	const refusal = run && error && refusalAdvice(error.message, run);
	// Some servers say only at the first message that a user may not send it.
	if (refusal?.code === "grant-rights") return refusal;
	if (of.kind !== "search" && run?.failed && error)
		return say("commonest-error", { failed: run.failed, error: error.message });
	const consumers = of.kind === "gate" && isCount(of.gate) ? null : theirs(run);
	if (consumers !== null) return consumers;
	if (of.kind === "search") {
		const next = say("slower-or-lower");
		return run === null ? next : unlessBusy(next, run);
	}
	if (of.kind === "run" || run === null)
		return say("find-the-rate", { remedy: remedyOf(run, "fail") });
	if (of.gate.cause !== null)
		return say("machine-first", {
			remedy: remedyOf(run, "warn", ["cores"]),
			next: (of.gate.metric === null ? nextOfTally : nextOfLatency)(of.gate, run).text,
		});
	return of.gate.metric === null
		? nextOfTally(of.gate, run)
		: unlessBusy(nextOfLatency(of.gate, run), run);
}

/** From this share of the window on it explains what broke. */
const THROTTLED_SHARE = 0.01;

/** A broker that keeps its clients waiting on purpose explains failures, and slow and missing messages; null: it did not, or hardly. */
function throttled(run: Run | null): Said | null {
	const throttledNs = run?.throttledNs ?? 0;
	if (run === null || throttledNs === 0) return null;
	const { startNs, endNs } = run.window;
	return throttledNs < THROTTLED_SHARE * (endNs - startNs)
		? null
		: say("throttled-first", { throttledNs, remedy: remedyOf(run, "warn", ["throttled"]) ?? "" });
}

/** What the scenario itself did to the broker comes before any error that followed from it; null: it did nothing. */
function ownFaults({ metric, sla }: Gate, run: Run): Said | null {
	const done = run.failover.filter(({ error }) => error === null);
	if (done.length === 0) return null;
	const [error] = run.failed ? run.errors : [];
	const latency = metric === null || metric === "lag" || metric === "queued" ? null : sla;
	return say("own-faults", {
		faults: done.map((f) => `${faultName(f)} at ${faultAt(f, run)}`),
		error: error?.message ?? null,
		latency,
	});
}

/** Lost, failed, duplicated: no wait for a consumer explains those. */
function isCount({ tally }: Gate): boolean {
	return tally?.unit === "messages";
}

/** What waits for our own consumers is neither the broker's doing nor the machine's; null: they had room. */
function theirs(run: Run | null): Said | null {
	const check = run?.validity.find((c) => c.check === "consumers" && c.status === "warn");
	if (!check) return null;
	const topic = check.code === "consumers-idle" ? "partitions" : "saturation";
	return say("consumers-first", { found: check.detail, remedy: check.remedy ?? "", topic });
}

/** A machine that was busy explains slow messages before the broker does. */
function unlessBusy(next: Said, run: Run): Said {
	const checks = run.validity
		.filter((c) => c.status === "warn" && TAKES_CPU.has(c.check))
		.map((c) => c.check);
	return checks.length === 0 ? next : say("busy-first", { checks, next: next.text });
}

/** mqbench itself has started the run's broker here, and keeps what it logs. */
function hasLog(run: Run | null): boolean {
	return run !== null && targets[run.load.target].here && !!run.brokerUrl;
}

/** The runs that were made for a comparison: of its own system, and of the baseline if that is of the same scenario. */
function comparedRuns({ system, case: name }: Outcome, { runs }: Result): Run[] {
	return runs.filter((run) => run.system === system && run.case === name);
}

/** A comparison is open. Its sentence says what would tell if all runs count; if they do not, more of the same would not help. */
function moreRuns(outcome: Outcome, result: Result): Said {
	const runs = comparedRuns(outcome, result);
	const out = runs.filter((run) => ["invalid", "error"].includes(run.verdict));
	return out.length > 0
		? say("why-not-counted", { out: out.length, runs: runs.length })
		: say("more-repeats-noise", { busy: busyText(outcome, result) });
}

/** A comparison says worse. */
function differentNow(outcome: Outcome, result: Result): Said {
	const again = !comparedRuns(outcome, result).some((run) => run.confirms);
	return say("see-both-curves", { busy: busyText(outcome, result), again });
}

/** What else went on while it was measured may be all that differs from the baseline; null: nothing did. */
function busyText(outcome: Outcome, result: Result): string | null {
	const runs = comparedRuns(outcome, result);
	const busy = runs.filter((run) =>
		run.validity.some((c) => c.status === "warn" && BUSY.has(c.check)),
	);
	if (busy.length === 0) return null;
	const { of } = outcome;
	const baseline =
		of.kind === "gate"
			? of.gate.comparison?.a.name
			: of.kind === "comparison"
				? of.comparison.a.name
				: null;
	const beside = result.runs.some((run) => run.system === baseline);
	return say("busy", { busy: busy.length, runs: runs.length, beside }).text;
}

/** Checks that warn of CPU that others took. */
const TAKES_CPU: ReadonlySet<string> = new Set(["others", "steal", "cpuQuota", "cores"]);

/** Checks that warn of other work on the machine. */
const BUSY: ReadonlySet<string> = new Set([...TAKES_CPU, "lag"]);

function nextOfTally(gate: Gate, run: Run): Said {
	const { tally } = gate;
	if (tally?.unit === "messages")
		return say("compare-with-log", { remedy: remedyOf(run, "warn", ["drain"]) });
	const scheduled = meanRate(run.load);
	return tally?.unit === "messages/s" &&
		run.load.pattern !== "fan-out" &&
		scheduled !== null &&
		scheduled < tally.limit
		? say("rate-too-low", { perSecond: scheduled })
		: say("see-rates");
}

function nextOfLatency(gate: Gate, run: Run): Said {
	const { metric } = gate;
	if (metric === "lag") return say("see-lag");
	const topic = run.load.schedule.kind === "closed" ? "closed" : "response";
	const part = metric === "response" ? largestPart(gate, run) : null;
	if (part === null)
		return say("see-part", {
			part: metric === "queued" || metric === "service" ? metric : "all",
			topic,
		});
	const { name, partNs, ofNs, around } = part;
	if (around !== null && ofNs !== null)
		return say("see-part-around", { part: name, percentile: around, share: partNs / ofNs, topic });
	return ofNs === null
		? say("see-largest-part", { part: name, percentile: gate.percentile ?? TAIL, partNs, topic })
		: say("see-part-of-slowest", { part: name, share: partNs / ofNs, topic });
}

/** From here on a percentile is of the slowest messages, which are known one by one. */
const TAIL = 99;

const PART_NAMES = ["service", "queued", "lag"] as const;
type PartName = (typeof PART_NAMES)[number];

/**
 * Which part of the response time is the largest (`ofNs`: of all of it): of the messages around that percentile. Where those are not known,
 * of the slowest messages, or where half of all are slow at that percentile.
 */
function largestPart(
	{ percentile }: Gate,
	run: Run,
): { name: PartName; partNs: number; ofNs: number | null; around: number | null } | null {
	const near = run.breakdown?.find(({ p }) => p === percentile);
	const whole = near?.response ?? null;
	const tail = percentile === null || percentile >= TAIL;
	const sum = (of: (m: Run["slowest"][number]) => number) =>
		run.slowest.reduce((a, m) => a + of(m), 0);
	const partOf = (name: PartName) => {
		if (whole !== null) return near?.[name] ?? 0;
		if (tail) return sum((m) => m[`${name}Ns`]);
		const { percentiles = [] } = run.metrics[name] ?? {};
		return percentiles.find((x) => x.p === percentile)?.value ?? 0;
	};
	const parts = PART_NAMES.map((name) => [name, partOf(name)] as const);
	const [name, most] = parts.reduce((a, b) => (b[1] > a[1] ? b : a));
	if (most === 0) return null;
	const all = whole ?? (tail ? sum((m) => m.responseNs) : null);
	// Clocks that disagree: a part that is more than the whole explains nothing.
	if (all !== null && most > all) return null;
	const around = whole === null ? null : percentile;
	return { name, partNs: most, ofNs: all, around };
}

/** What a check of the run advises. */
function remedyOf(
	run: Run | null,
	status: Run["validity"][number]["status"],
	checks?: readonly string[],
): string | null {
	return (
		run?.validity.find(
			(c) =>
				c.status === status &&
				c.remedy !== null &&
				(checks === undefined || checks.includes(c.check)),
		)?.remedy ?? null
	);
}

function repeatsOf(of: Outcome["of"], { runs }: Result): number {
	if (of.kind === "gate") return of.gate.repeats.length;
	if (of.kind !== "run") return 1;
	const { system, case: name } = of.run;
	return runs.filter((run) => run.system === system && run.case === name).length;
}
