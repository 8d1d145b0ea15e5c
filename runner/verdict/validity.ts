import { Metric } from "../model/plan.ts";
import type { Collected } from "../run/collect.ts";
import { formatCount, formatDuration } from "../units.ts";
import { stoppedAfter } from "./aborted.ts";
import { backlog } from "./backlog.ts";
import { drainOf } from "./backlog-drain.ts";
import { type Check, type CheckFunction, result } from "./check.ts";
import { claim, clientName, clients, onlySome } from "./clients.ts";
import { clock, hasClocks } from "./clock.ts";
import { type Facts, sumsOf } from "./facts.ts";
import { faults } from "./faults.ts";
import { floor } from "./floor.ts";
import { brokenIdentities } from "./identities.ts";
import { lag } from "./lag.ts";
import {
	cpuQuota,
	gcPause,
	knowsOthers,
	others,
	ownCpu,
	schedLatency,
	steal,
} from "./machine.ts";
import type { Judgement } from "./sla.ts";
import { steady } from "./steady.ts";
import { countedBySla, uncounted } from "./uncounted.ts";

/** All checks on a run of which there is data, in the order in which a report shows them. */
export function validity(
	facts: Facts,
	judgements: readonly Judgement[],
): Check[] {
	return CHECKS.filter((check) => applies(check, facts.collected)).map(
		(check) => check(facts, judgements),
	);
}

// --- internal ---

/** A check that could find nothing in such a run is left out: that it found nothing would be no evidence. */
function applies(check: CheckFunction, collected: Collected): boolean {
	const { plan } = collected;
	const closed = plan.schedule.kind === "closed";
	if (check === clients) return plan.client.count > 1;
	// One client alone, to which no start was told, always claims its part in time.
	if (check === claim)
		return (
			(plan.client.count > 1 ||
				collected.parts.some((p) => p.end?.kind === "ssh")) &&
			!closed
		);
	if (check === clock) return hasClocks(collected);
	if (check === faults) return plan.faults.length > 0;
	// Without a schedule nothing is late.
	if (check === lag) return !closed;
	if (check === backlog) return !closed && plan.pattern !== "backlog";
	// A load that changes moves p50 by itself; consumers that pause have none.
	if (check === steady)
		return (
			!closed && plan.schedule.kind !== "stages" && plan.pattern !== "backlog"
		);
	if (check === others) return knowsOthers(collected);
	if (check === backlogDrain) return plan.pattern === "backlog";
	return true;
}

const complete: CheckFunction = (facts) => {
	const { state, problem, run, closed } = facts.collected;
	// Bytes that match their sum and cannot be read were written wrongly: our bug.
	if (facts.unreadable !== null)
		return result("complete", closed ? "error" : "invalid", facts.unreadable, {
			remedy: closed ? REPORT_BUG : AGAIN,
		});
	if (state === "aborted")
		return result(
			"complete",
			"warn",
			`stopped after ${stoppedAfter(facts)}: ${run?.abortedBy} could not pass any more`,
			{ remedy: "take abort off the SLA line to see a whole run" },
		);
	if (onlySome(facts.collected))
		return result(
			"complete",
			"invalid",
			"not every client's result is whole: see clients",
			{ remedy: AGAIN },
		);
	if (state !== "complete")
		return result("complete", "invalid", problem ?? state, { remedy: AGAIN });
	const ended = oddEnd(facts.collected);
	if (ended !== null)
		return result(
			"complete",
			"warn",
			`all results are there, but k6 ended with ${ended}`,
			{ remedy: "see what k6 printed" },
		);
	return result("complete", "ok", "every file is closed and matches its sum");
};

/** "exit code 3", with several clients "exit code 3 on client 1 (bench@10.0.0.11)"; null: as it should. */
function oddEnd({ run, parts }: Collected): string | null {
	const ofOne = (code: number | null, signal: string | null) =>
		code === 0 ? null : (signal ?? `exit code ${code}`);
	for (const part of parts) {
		if (parts.length === 1 || part.end === null) continue;
		const how = ofOne(part.end.k6Exit, part.end.k6Signal);
		if (how !== null) return `${how} on ${clientName(part)}`;
	}
	return run === null ? null : ofOne(run.k6Exit, run.k6Signal);
}

const identities: CheckFunction = (facts) => {
	const broken = brokenIdentities(facts);
	if (!facts.collected.closed)
		return result(
			"identities",
			"unknown",
			"not all counts are there to be added up",
			{ remedy: AGAIN },
		);
	return broken.length === 0
		? result("identities", "ok", "all counts add up")
		: result(
				"identities",
				"error",
				`counts do not add up, a bug of mqbench: ${broken.join("; ")}`,
				{ remedy: REPORT_BUG },
			);
};

const offered: CheckFunction = ({ collected }) => {
	const { warmup, window } = collected.counters;
	if (warmup === null || window === null)
		return result("offered", "unknown", NOT_COUNTED, { remedy: AGAIN });
	const missing = warmup.notOffered + window.notOffered;
	const all = warmup.intended + window.intended;
	const figure = formatCount(missing);
	// Whoever stops a run keeps messages from being offered: that is no fault of the generator.
	if (collected.state === "aborted")
		return result("offered", "ok", "what was due until the stop was sent", {
			figure,
		});
	if (missing > 0 && collected.state === "interrupted")
		return result(
			"offered",
			"warn",
			`${figure} messages were not offered: the run was stopped`,
			{ figure, limit: "0", remedy: AGAIN },
		);
	if (missing > 0 && collected.plan.schedule.kind === "closed") {
		const { schedule, drainNs } = collected.plan;
		// What is lost stays in flight: a load that waits for it stands still, and is ended before its time.
		const stuck = (collected.totals?.endNs ?? 0) < schedule.durationNs;
		return result(
			"offered",
			"inconclusive",
			`${figure} of ${formatCount(all)} messages were not sent: ${stuck ? `nothing completed any more for ${formatDuration(drainNs)}` : "the load was not through when its time was over"}`,
			{
				figure,
				limit: "0",
				remedy: stuck
					? "see what became of those in flight: lost, failed, unknown, errors"
					: "give it more time (duration), or fewer messages",
			},
		);
	}
	return missing > 0
		? result(
				"offered",
				"invalid",
				`${figure} of ${formatCount(all)} messages were not offered: the generator could not keep up`,
				{
					figure,
					limit: "0",
					remedy:
						"lower the rate, give the generator more cores, or use more clients",
				},
			)
		: result("offered", "ok", "every intended message was sent", {
				figure,
				limit: "0",
			});
};

const clientDropped: CheckFunction = ({ collected }) => {
	const dropped = collected.totals?.clientDropped;
	if (dropped === undefined)
		return result("clientDropped", "unknown", NOT_COUNTED, { remedy: AGAIN });
	const figure = formatCount(dropped);
	return dropped > 0
		? result(
				"clientDropped",
				"invalid",
				`the client library itself dropped ${figure} messages: they are not the broker's loss`,
				{
					figure,
					limit: "0",
					remedy:
						"lower the rate, use more connections, or raise the library's buffers in the system's options",
				},
			)
		: result("clientDropped", "ok", "the client library dropped nothing", {
				figure,
				limit: "0",
			});
};

const clockSource: CheckFunction = ({ clockSource: name }) => {
	if (name === null)
		return result("clockSource", "unknown", "the clock source cannot be read", {
			remedy: "measure on Linux, where /sys says which clock the kernel uses",
		});
	const status = CLOCKS[name] ?? "ok";
	return result(
		"clockSource",
		status,
		status === "ok"
			? `clock source ${name}`
			: `clock source ${name} is too slow or too coarse to time messages`,
		{
			figure: name,
			remedy:
				"use a machine whose kernel trusts tsc, kvm-clock or arch_sys_counter",
		},
	);
};

const drain: CheckFunction = ({ collected }, judgements) => {
	const { plan, counters } = collected;
	if (counters.warmup === null || counters.window === null)
		return result("drain", "unknown", NOT_COUNTED, { remedy: AGAIN });
	if (collected.state === "aborted")
		return result("drain", "unknown", "the run was stopped before its drain", {
			remedy: "take abort off the SLA line to see a whole run",
		});
	const missing =
		(counters.warmup.lost ?? 0) +
		counters.warmup.unknown +
		(counters.window.lost ?? 0) +
		counters.window.unknown;
	const figure = formatCount(missing);
	if (missing === 0)
		return result("drain", "ok", "nothing was outstanding at the end", {
			figure,
			limit: "0",
		});
	const judged = countedBySla(plan, "lost") || countedBySla(plan, "unknown");
	const said = `${figure} ${plan.pattern === "fan-out" ? "copies" : "messages"} were still missing when the drain (${formatDuration(plan.drainNs)}) was over`;
	return judged && judgements.length > 0
		? result("drain", "warn", `${said}; the SLA counts them`, {
				figure,
				limit: "0",
				// A broker that was gone has taken them with it.
				remedy:
					collected.run?.error == null
						? "see whether they are lost or late: measure with a longer drain"
						: "see why the run broke (its broker.log): a longer drain brings nothing back",
			})
		: result(
				"drain",
				"invalid",
				`${said}, and no SLA line counts them: add lost == 0`,
				{ figure, limit: "0", remedy: "add lost == 0 to the SLA" },
			);
};

const range: CheckFunction = (facts) => {
	const sums = Metric.options.map((m) => sumsOf(facts, m));
	const clamped = sums.reduce((n, s) => n + s.clamped, 0);
	// Of clocks on several machines `clock` says what they mean.
	const negative = hasClocks(facts.collected)
		? 0
		: sums.reduce((n, s) => n + s.negative, 0);
	return clamped + negative > 0
		? result(
				"range",
				"warn",
				`${formatCount(clamped)} values above 1h were recorded as 1h, ${formatCount(negative)} below 0 as 0`,
				{
					figure: formatCount(clamped + negative),
					limit: "0",
					remedy: "see whether the machine's clock was set back meanwhile",
				},
			)
		: result("range", "ok", "every value was within 0 and 1h", {
				figure: "0",
				limit: "0",
			});
};

const reconnects: CheckFunction = ({ collected }) => {
	const times = collected.totals?.reconnects;
	if (times === undefined)
		return result("reconnects", "unknown", NOT_COUNTED, { remedy: AGAIN });
	const figure = formatCount(times);
	const { plan, run } = collected;
	if (times > 0 && plan.faults.length > 0 && run && run.faults.length > 0)
		return result(
			"reconnects",
			"ok",
			`connections were made anew ${times === 1 ? "once" : `${figure} times`}, in a run with faults`,
			{ figure },
		);
	return times > 0
		? result(
				"reconnects",
				"warn",
				`connections were made anew ${times === 1 ? "once" : `${figure} times`}: what was under way then was delayed, or lost`,
				{
					figure,
					limit: "0",
					remedy: "see in the broker's log why it lost connections",
				},
			)
		: result("reconnects", "ok", "every connection held", {
				figure,
				limit: "0",
			});
};

const backlogDrain: CheckFunction = ({ collected }) => {
	const drain = drainOf(collected);
	if (drain === null)
		return result("backlogDrain", "unknown", NOT_COUNTED, { remedy: AGAIN });
	if (drain.drainNs === null)
		return result("backlogDrain", "warn", drain.problem ?? "not drained", {
			limit: `${formatCount(drain.drainedAt)} waiting`,
			remedy:
				"see what consumers wait for, or give the drain a longer part of the window",
		});
	const figure = formatDuration(drain.drainNs);
	return result(
		"backlogDrain",
		"ok",
		`a backlog of ${formatCount(drain.peak ?? 0)} messages was drained in ${figure}`,
		{ figure },
	);
};

const NOT_COUNTED = "no client has counted";
const AGAIN = "make the run again";
const REPORT_BUG = "report it, with this folder";

const CHECKS: readonly CheckFunction[] = [
	complete,
	clients,
	identities,
	lag,
	offered,
	clientDropped,
	claim,
	clock,
	faults,
	reconnects,
	backlog,
	backlogDrain,
	steady,
	drain,
	uncounted,
	range,
	floor,
	cpuQuota,
	steal,
	others,
	ownCpu,
	schedLatency,
	gcPause,
	clockSource,
];

/** Sources with which reading the time costs a trip to the kernel or a device, or that tick in ms. */
const CLOCKS: Readonly<Record<string, Check["status"]>> = {
	hpet: "invalid",
	acpi_pm: "invalid",
	jiffies: "invalid",
	"refined-jiffies": "invalid",
	xen: "warn",
};
