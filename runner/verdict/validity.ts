import { Metric } from "../plan/plan.ts";
import { formatCount, formatDuration } from "../units.ts";
import { type Check, type CheckFunction, result } from "./check.ts";
import { type Facts, sumsOf } from "./facts.ts";
import { brokenIdentities } from "./identities.ts";
import { lag } from "./lag.ts";
import type { Judgement } from "./sla.ts";

/** All checks on a run of which there is data, in the order in which a report shows them. */
export function validity(
	facts: Facts,
	judgements: readonly Judgement[],
): Check[] {
	return CHECKS.map((check) => check(facts, judgements));
}

// --- internal ---

const complete: CheckFunction = ({ collected, unreadable }) => {
	const { state, problem, run } = collected;
	// Bytes that match their sum and cannot be read were written wrongly: our bug.
	if (unreadable !== null)
		return result(
			"complete",
			collected.closed ? "error" : "invalid",
			unreadable,
		);
	if (state !== "complete")
		return result("complete", "invalid", problem ?? state);
	if (run && run.k6Exit !== 0)
		return result(
			"complete",
			"warn",
			`all results are there, but k6 ended with ${run.k6Signal ?? `exit code ${run.k6Exit}`}`,
		);
	return result("complete", "ok", "every file is closed and matches its sum");
};

const identities: CheckFunction = (facts) => {
	const broken = brokenIdentities(facts);
	if (!facts.collected.closed)
		return result(
			"identities",
			"unknown",
			"not all counts are there to be added up",
		);
	return broken.length === 0
		? result("identities", "ok", "all counts add up")
		: result(
				"identities",
				"error",
				`counts do not add up, a bug of mqbench: ${broken.join("; ")}`,
			);
};

const offered: CheckFunction = ({ collected }) => {
	const { warmup, window } = collected.counters;
	if (warmup === null || window === null)
		return result("offered", "unknown", "no client has counted");
	const missing = warmup.notOffered + window.notOffered;
	// Whoever stops a run keeps messages from being offered: that is no fault of the generator.
	if (missing > 0 && collected.state === "interrupted")
		return result(
			"offered",
			"warn",
			`${formatCount(missing)} messages were not offered: the run was stopped`,
		);
	return missing > 0
		? result(
				"offered",
				"invalid",
				`${formatCount(missing)} of ${formatCount(warmup.intended + window.intended)} messages were not offered: the generator could not keep up`,
				formatCount(missing),
				"0",
			)
		: result("offered", "ok", "every intended message was sent");
};

const clientDropped: CheckFunction = ({ collected }) => {
	const dropped = collected.totals?.clientDropped;
	if (dropped === undefined)
		return result("client", "unknown", "no client has counted");
	return dropped > 0
		? result(
				"client",
				"invalid",
				`the client library itself dropped ${formatCount(dropped)} messages: they are not the broker's loss`,
				formatCount(dropped),
				"0",
			)
		: result("client", "ok", "the client library dropped nothing");
};

const claim: CheckFunction = ({ collected }) => {
	const first = collected.totals?.firstClaimNs;
	if (first === undefined)
		return result("claim", "unknown", "no client has counted");
	return first > 0
		? result(
				"claim",
				"invalid",
				`the first part of the schedule was claimed ${formatDuration(first)} after its start`,
				formatDuration(first),
				"0s",
			)
		: result(
				"claim",
				"ok",
				`the schedule was claimed ${formatDuration(-first)} ahead of its start`,
			);
};

const clockSource: CheckFunction = ({ clockSource: name }) => {
	if (name === null)
		return result("clock", "unknown", "the clock source cannot be read");
	const status = CLOCKS[name] ?? "ok";
	return result(
		"clock",
		status,
		status === "ok"
			? `clock source ${name}`
			: `clock source ${name} is too slow or too coarse to time messages`,
		name,
	);
};

const drain: CheckFunction = ({ collected }, judgements) => {
	const { plan, counters } = collected;
	if (counters.warmup === null || counters.window === null)
		return result("drain", "unknown", "no client has counted");
	const missing =
		counters.warmup.lost +
		counters.warmup.unknown +
		counters.window.lost +
		counters.window.unknown;
	if (missing === 0)
		return result("drain", "ok", "nothing was outstanding at the end");
	const judged = plan.sla.some(
		(s) => s.kind !== "tally" || s.tally === "lost" || s.tally === "unknown",
	);
	const said = `${formatCount(missing)} messages were still missing when the drain (${formatDuration(plan.drainNs)}) was over`;
	return judged && judgements.length > 0
		? result(
				"drain",
				"warn",
				`${said}; the SLA counts them`,
				formatCount(missing),
			)
		: result(
				"drain",
				"invalid",
				`${said}, and no SLA line counts them: add lost == 0`,
				formatCount(missing),
			);
};

const range: CheckFunction = (facts) => {
	const sums = Metric.options.map((m) => sumsOf(facts, m));
	const clamped = sums.reduce((n, s) => n + s.clamped, 0);
	const negative = sums.reduce((n, s) => n + s.negative, 0);
	return clamped + negative > 0
		? result(
				"range",
				"warn",
				`${formatCount(clamped)} values above 1h were recorded as 1h, ${formatCount(negative)} below 0 as 0`,
			)
		: result("range", "ok", "every value was within 0 and 1h");
};

const CHECKS: readonly CheckFunction[] = [
	complete,
	identities,
	lag,
	offered,
	clientDropped,
	claim,
	clockSource,
	drain,
	range,
];

/** Sources with which reading the time costs a trip to the kernel or a device, or that tick in ms. */
const CLOCKS: Readonly<Record<string, Check["status"]>> = {
	hpet: "invalid",
	acpi_pm: "invalid",
	jiffies: "invalid",
	"refined-jiffies": "invalid",
	xen: "warn",
};
