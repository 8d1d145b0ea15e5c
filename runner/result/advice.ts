import { resumeCommand } from "../model/command-file.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import { targets } from "../model/targets.ts";
import { formatCount as count, formatDuration as duration, plural } from "../units.ts";
import { faultName } from "../verdict/checks/run.ts";
import { meanRate } from "../verdict/window-length.ts";
import type { Outcome } from "./outcomes.ts";
import { GRANT_RIGHTS, refusalAdvice } from "./refusals.ts";
import { at } from "./select.ts";
import { faultAt } from "./words.ts";

/** What to do about an outcome that did not pass. */
export function adviceOn(outcome: Outcome, result: Result): string {
	const { kind, verdict, run } = outcome;
	if (kind === "damage")
		return "copy the file again from where the folder comes from, or use the version of mqbench that made it";
	switch (verdict) {
		case "interrupted":
			// A search that had not begun is none of the result's, and refuses to be resumed all the same.
			return result.searches.length > 0 || result.command?.resumable === false
				? "start again: a scenario with a search cannot be resumed, as each run of a search follows from those before"
				: `continue where it was stopped: ${resumeCommand(result.command, null, result.runId)}`;
		case "error":
			if (result.errorCause === "scenario")
				return "change the SLA line or the load: the run was made, and cannot answer it";
			return (
				(run && refusalAdvice(run.why ?? "", run)) ??
				`fix the cause named above and run again${hasLog(run) ? "; broker.log is in the run's folder" : ""}`
			);
		case "invalid":
			return `${remedyOf(run, "invalid") ?? "free the machine from other work; mqbench doctor shows what bends a measurement"} (mqbench explain invalid)`;
		case "inconclusive":
			return onOpen(outcome, result);
		default:
			return onFailed(outcome, result);
	}
}

// --- internal ---

function onOpen(outcome: Outcome, { runs }: Result): string {
	const { kind, gate, comparison, run } = outcome;
	const codes = [gate?.code, comparison?.code];
	if (codes.includes("clocks"))
		return "keep the clocks of the clients in step more closely (chrony, PTP), or let whoever sends receive its own messages (round-trip): longer runs do not help";
	if (gate?.code === "floor-over-limit")
		return "raise the limit, lower the rate, or use a faster machine: no system can keep this limit here";
	const remedy = kind === "run" ? remedyOf(run, "inconclusive") : null;
	if (remedy !== null) return `${remedy}, and measure again (mqbench explain inconclusive)`;
	if (kind === "run" || (gate && !comparison)) {
		const alike = at(outcome, runs);
		const repeats = Math.max(3, (gate?.repeats.length ?? alike.length) + 2);
		return `measure longer (workload.duration), or repeat: ${repeats} (mqbench explain inconclusive)`;
	}
	// Its sentence says what would tell if all runs count; if they do not, more of the same would not help.
	const out = outcome.runs.filter(({ verdict }) => verdict === "invalid" || verdict === "error");
	return out.length > 0
		? `see first why ${out.length} of ${plural(outcome.runs.length, "run")} ${out.length === 1 ? "does" : "do"} not count (mqbench explain invalid), then measure again`
		: `${busyText(outcome, runs) ?? "measure with more repeats or for longer"}; mqbench calibrate says what this machine can tell (mqbench explain baseline)`;
}

/** The first explanation that there is: of what was done on purpose, of what was refused, of those who share the machine, of the system. */
function onFailed(outcome: Outcome, { runs }: Result): string {
	const { kind, gate, comparison, run, search } = outcome;
	if (comparison)
		return [
			busyText(outcome, runs),
			"mqbench compare <baseline> <this run> --html compare.html draws both curves",
			outcome.runs.some(({ confirms }) => confirms)
				? null
				: "measure once more before you believe it (--confirm)",
		]
			.filter((text) => text !== null)
			.join("; ");
	const first =
		(gate && run && ownFaults(gate, run)) ??
		throttled(run) ??
		errors(run, search !== undefined) ??
		// Lost, failed, duplicated: no wait for a consumer explains those.
		(gate?.tally?.unit === "messages" ? null : consumers(run));
	if (first) return first;
	if (search)
		return unlessBusy(
			"allow a slower answer (sla), or begin at a lower rate (mqbench explain max-rate)",
			run,
		);
	if (kind === "run" || !gate || run === null)
		return `${remedyOf(run, "fail") ?? "look at the rates over time in report.html"}; ${FIND_RATE}`;
	const next = gate.metric === null ? nextOfTally(gate, run) : nextOfLatency(gate, run);
	if (gate.cause !== null)
		return `first ${remedyOf(run, "warn", ["cores"])}, and measure again: no core was free (mqbench explain saturation); if it stays, ${next}`;
	return gate.metric === null ? next : unlessBusy(next, run);
}

const FIND_RATE =
	"find: max-rate in the scenario searches for the rate that it carries (mqbench explain max-rate)";

/** What the scenario itself did to the broker comes before any error that followed from it; null: it did nothing. */
function ownFaults({ metric, sla }: Gate, run: Run): string | null {
	const done = run.failover.filter(({ error }) => error === null);
	if (done.length === 0) return null;
	const [error] = run.failed ? run.errors : [];
	const faults = done.map((fault) => `${faultName(fault)} at ${faultAt(fault, run)}`).join(", ");
	const latency = metric !== null && metric !== "lag" && metric !== "queued";
	return [
		`first see what the scenario's own faults cost, in the table Failover (mqbench explain failover): ${faults}`,
		...(error ? [`the commonest error: ${error.message}`] : []),
		...(latency ? [`to ask how long a fault may show write e.g. recovered(${sla}) < 10s`] : []),
	].join("; ");
}

/** From this share of the window on it explains what broke. */
const THROTTLED_SHARE = 0.01;

/** A broker that keeps its clients waiting on purpose explains failures, and slow and missing messages; null: it did not, or hardly. */
function throttled(run: Run | null): string | null {
	const { throttledNs = 0, window } = run ?? {};
	return throttledNs === 0 ||
		!window ||
		throttledNs < THROTTLED_SHARE * (window.endNs - window.startNs)
		? null
		: `first ${remedyOf(run, "warn", ["throttled"]) ?? ""}: the broker throttled its clients for ${duration(throttledNs)} (mqbench explain throttled)`;
}

/** What failed counts as slower than any limit: neither the machine nor its consumers explain it. A search means to find where that begins. */
function errors(run: Run | null, searched: boolean): string | null {
	const [error] = run?.errors ?? [];
	if (!run || !error) return null;
	// Some servers say only at the first message that a user may not send it.
	if (refusalAdvice(error.message, run) === GRANT_RIGHTS) return GRANT_RIGHTS;
	return searched || !run.failed
		? null
		: `${plural(run.failed, "message")} failed; fix the commonest error first: ${error.message}`;
}

/** What waits for our own consumers is neither the broker's doing nor the machine's; null: they had room. */
function consumers(run: Run | null): string | null {
	const check = run?.validity.find((c) => c.check === "consumers" && c.status === "warn");
	if (!check) return null;
	const topic = check.code === "consumers-idle" ? "partitions" : "saturation";
	return `first give the consumers room: ${check.remedy ?? ""}; ${check.detail}, which is the consumers' share and not the broker's (mqbench explain ${topic})`;
}

/** Checks that warn of CPU that others took. */
const TAKES_CPU: readonly string[] = ["others", "steal", "cpuQuota", "cores"];

function warned({ validity }: Run, of: readonly string[]): string[] {
	return validity.flatMap(({ status, check }) =>
		status === "warn" && of.includes(check) ? [check] : [],
	);
}

/** A machine that was busy explains slow messages before the broker does. */
function unlessBusy(next: string, run: Run | null): string {
	const checks = run ? warned(run, TAKES_CPU) : [];
	return checks.length === 0
		? next
		: `first free the machine from other work and measure again: ${checks.join(" and ")} ${checks.length === 1 ? "warns" : "warn"} that generator and broker did not have the CPU for themselves; if it stays, ${next}`;
}

/** What else went on while it was measured may be all that differs from the baseline; null: nothing did. */
function busyText({ comparison, runs }: Outcome, all: readonly Run[]): string | null {
	const busy = runs.filter((run) => warned(run, [...TAKES_CPU, "lag"]).length > 0).length;
	if (busy === 0) return null;
	const beside = all.some(({ system }) => system === comparison?.a.name);
	return `the machine was busy in ${busy} of ${plural(runs.length, "run")} (see the warnings)${beside ? ": free it from other work" : ", and a baseline of another time does not share that: measure both in one command, in turns (baseline: <system>)"}`;
}

/** mqbench itself has started the run's broker here, and keeps what it logs. */
function hasLog(run: Run | null): boolean {
	return run !== null && targets[run.load.target].here && !!run.brokerUrl;
}

function nextOfTally({ tally }: Gate, run: Run): string {
	if (tally?.unit === "messages")
		return `${remedyOf(run, "warn", ["drain"]) ?? "compare that time with the broker's log"} (mqbench explain lost)`;
	const scheduled = meanRate(run.load);
	return tally?.unit === "messages/s" &&
		run.load.pattern !== "fan-out" &&
		scheduled !== null &&
		scheduled < tally.limit
		? `raise workload.rate or lower the limit: only ${count(scheduled)}/s are scheduled, so no system could reach it`
		: `look at offered against achieved rate and at the broker's CPU and disk in report.html; ${FIND_RATE}`;
}

const SEE =
	"look at latency over time and at the broker's CPU and disk in report.html, and at the broker's log";

const PARTS = {
	service: `the broker, or the way to it, held them; ${SEE}`,
	queued:
		"the system pushed back, earlier sends blocked or waited at inFlight; look at queued and in flight in report.html, offer less or use more connections",
	lag: "the generator itself was late; mqbench doctor looks at the machine",
};
type Part = keyof typeof PARTS;
const PARTS_NAMED = Object.keys(PARTS) as Part[];

function nextOfLatency({ metric, percentile }: Gate, run: Run): string {
	if (metric === "lag") return PARTS.lag;
	const more = `(mqbench explain ${run.load.schedule.kind === "closed" ? "closed" : "response"})`;
	if (metric !== "response")
		return `${metric === "queued" || metric === "service" ? PARTS[metric] : SEE} ${more}`;
	const [of, parts] = partsOf(percentile, run);
	const [largest = "service"] = PARTS_NAMED.toSorted((a, b) => parts[b] - parts[a]);
	const share = parts[largest] / PARTS_NAMED.reduce((all, name) => all + parts[name], 0);
	// Clocks that disagree: a part that is more than the whole explains nothing.
	return share > 0 && share <= 1
		? `of the ${of} ${Math.round(100 * share)} % is ${largest}: ${PARTS[largest]} ${more}`
		: `${SEE} ${more}`;
}

/** From here on a percentile is of the slowest messages, which are known one by one. */
const TAIL = 99;

/** What the messages around a percentile waited for; where that was not counted, and it is a deep one, what the slowest ones did. */
function partsOf(percentile: number | null, run: Run): [string, Readonly<Record<Part, number>>] {
	const near = run.breakdown?.find(({ p }) => p === percentile);
	if (near?.response) {
		const { queued, lag, service } = near;
		return [
			`messages around p${percentile}`,
			{ queued: queued ?? 0, lag: lag ?? 0, service: service ?? 0 },
		];
	}
	const slowest = percentile === null || percentile >= TAIL ? run.slowest : [];
	const total = (name: Part) => slowest.reduce((all, message) => all + message[`${name}Ns`], 0);
	return [
		"slowest messages",
		{ queued: total("queued"), lag: total("lag"), service: total("service") },
	];
}

/** What a check of the run advises. */
function remedyOf(
	run: Run | null,
	status: Run["validity"][number]["status"],
	checks?: readonly string[],
): string | null {
	const found = run?.validity.find(
		(c) =>
			c.status === status &&
			c.remedy !== null &&
			(checks === undefined || checks.includes(c.check)),
	);
	return found?.remedy ?? null;
}
