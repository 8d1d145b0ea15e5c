import { percentile } from "../histogram/percentiles.ts";
import { Metric, type Plan } from "../plan/plan.ts";
import { formatCount, formatDuration } from "../units.ts";
import { type Facts, sampleOf, sumsOf } from "./facts.ts";
import { brokenIdentities } from "./identities.ts";
import type { Judgement } from "./sla.ts";

/** Is the measurement itself to be trusted? `error`: mqbench contradicts itself, which is a bug of ours. */
export interface Check {
	readonly check: string;
	readonly status: "ok" | "warn" | "unknown" | "invalid" | "error";
	readonly detail: string;
	/** For people; null where one word says it. */
	readonly figure: string | null;
	readonly limit: string | null;
}

/** All checks on a run of which there is data, in the order in which a report shows them. */
export function validity(
	facts: Facts,
	judgements: readonly Judgement[],
): Check[] {
	return CHECKS.map((check) => check(facts, judgements));
}

// --- internal ---

type CheckFunction = (facts: Facts, judgements: readonly Judgement[]) => Check;

function result(
	check: string,
	status: Check["status"],
	detail: string,
	figure: string | null = null,
	limit: string | null = null,
): Check {
	return { check, status, detail, figure, limit };
}

const complete: CheckFunction = ({ collected, unreadable }) => {
	if (unreadable !== null) return result("complete", "error", unreadable);
	const { state, problem, run } = collected;
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
	return broken.length === 0
		? result("identities", "ok", "all counts add up")
		: result(
				"identities",
				"error",
				`counts do not add up, a bug of mqbench: ${broken.join("; ")}`,
			);
};

const lag: CheckFunction = (facts, judgements) => {
	const { plan } = facts.collected;
	const sample = sampleOf(facts, "lag");
	if (sample.n === 0) return result("lag", "unknown", "no message completed");
	const p50 = percentile(sample, 50, 1).value;
	const p99 = percentile(sample, 99, 1).value ?? sample.max ?? 0;
	const figures = `lag p50 ${p50 === null ? "n/a" : formatDuration(p50)}, p99 ${formatDuration(p99)}`;
	const decided = judgements.filter((j) => j.lagDecided);
	if (decided.length > 0)
		return result(
			"lag",
			"invalid",
			`the generator's lateness decided ${decided.map((j) => j.sla).join(", ")}; ${figures}`,
			formatDuration(p99),
		);
	const tightest = tightestLimitNs(plan);
	if (tightest !== null)
		return p99 > tightest / 10
			? result(
					"lag",
					"warn",
					`${figures}: more than 10 % of the tightest limit`,
					formatDuration(p99),
					formatDuration(tightest / 10),
				)
			: result(
					"lag",
					"ok",
					figures,
					formatDuration(p99),
					formatDuration(tightest / 10),
				);
	const response = sampleOf(facts, "response");
	const half = (percentile(response, 99, 1).value ?? response.max ?? 0) / 2;
	const bad = (p50 ?? p99) > MAX_LAG_P50_NS || p99 > half;
	return result(
		"lag",
		bad ? "invalid" : "ok",
		bad
			? `${figures}: the generator is a large part of what was measured`
			: figures,
		formatDuration(p99),
		formatDuration(half),
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

const MAX_LAG_P50_NS = 1_000_000;

/** Sources with which reading the time costs a trip to the kernel or a device, or that tick in ms. */
const CLOCKS: Readonly<Record<string, Check["status"]>> = {
	hpet: "invalid",
	acpi_pm: "invalid",
	jiffies: "invalid",
	"refined-jiffies": "invalid",
	xen: "warn",
};

function tightestLimitNs(plan: Plan): number | null {
	const limits = plan.sla.flatMap((s) =>
		s.kind === "tally" ? [] : [s.limitNs],
	);
	return limits.length === 0 ? null : Math.min(...limits);
}
