import type { Counters } from "../../model/client-file.ts";
import { Metric } from "../../model/plan.ts";
import { copies, intendedInWindow, samplesPerMessage } from "../../plan/samples.ts";
import { type Facts, sumsOf } from "../facts.ts";
import { limitIntervals } from "../intervals.ts";
import { receivedTwice } from "../received-twice.ts";
import { type Check, unknown } from "./check.ts";

/** Do all counts add up? */
export const identities: Check = {
	name: "identities",
	judge(facts) {
		if (!facts.collected.closed)
			return unknown("some counts are missing, so they were not added up");
		const broken = brokenIdentities(facts);
		return broken.length === 0
			? { status: "ok", text: "all counts add up" }
			: {
					status: "error",
					text: `counts do not add up, a bug of mqbench: ${broken.join("; ")}`,
					values: { broken },
					remedy: "report it, with this folder",
				};
	},
};

/**
 * What must be equal if mqbench has counted right (reports/README.md, "Counts"). Empty, or what is not. Only
 * asked of files that are closed: in others some counts are missing.
 */
export function brokenIdentities(facts: Facts): string[] {
	const { plan, counters, closed, ledgers, breakdown } = facts.collected;
	if (!closed) return [];
	const broken: string[] = [];
	const same = (what: string, a: number, b: number) => {
		if (a !== b) broken.push(`${what}: ${a} and ${b}`);
	};
	const counted = (metric: Metric) => sumsOf(facts, metric).count;
	for (const scope of ["warmup", "window"] as const) {
		const c = counters[scope];
		if (c === null) continue;
		const ledger = ledgers?.[scope];
		if (ledger !== undefined) {
			for (const kind of ["sent", "failed", "acked"] as const)
				same(`${scope} ${kind} in counters and ledgers`, c[kind] ?? 0, ledger[kind] ?? 0);
			if (ledger.strange > 0)
				broken.push(`${scope}: ${ledger.strange} messages received that no client has sent`);
		}
		for (const [equation, left, right] of equations(c, copies(plan)))
			same(`${scope} ${equation}`, left, right);
	}
	for (const [name, scope, planned] of [
		["window", "window", intendedInWindow(plan)],
		["warm-up", "warmup", plan.schedule.warmupMessages],
	] as const)
		same(`intended in the ${name}`, counters[scope]?.intended ?? planned, planned);
	for (const metric of Metric.options) {
		const histogram = facts.merged.get(metric)?.whole.count ?? 0;
		same(`${metric} in histogram and counters`, histogram, counted(metric));
	}
	if (breakdown !== null) {
		const responses = breakdown.reduce((n, b) => n + b.messages, 0);
		same("response broken down and in counters", responses, counted("response"));
	}
	for (const [k, { metric }] of plan.limits.entries()) {
		const second = receivedTwice(facts.collected, metric);
		const intervals = limitIntervals(facts.collected, k);
		const pieces = intervals.reduce((n, i) => n + i.n - i.censored, 0) + second;
		same(`${metric} per 100 ms and in counters`, pieces, counted(metric));
		if (intervals.some((i) => i.censored < 0))
			broken.push(`more ${metric} than intended messages in 100 ms`);
	}
	for (const metric of Metric.options) {
		const most = intendedInWindow(plan) * samplesPerMessage(plan, metric);
		if (most > 0 && counted(metric) > most + receivedTwice(facts.collected, metric))
			broken.push(`more ${metric} than the window's messages can have`);
	}
	return broken;
}

// --- internal ---

function equations(c: Counters, each: number): [what: string, a: number, b: number][] {
	const { sent, failed, unknown, acked, received, delivered, lost } = c;
	const all: [string, number, number][] = [
		["intended = sent + notOffered", c.intended, sent + c.notOffered],
	];
	if (acked !== null) all.push(["sent = acked + failed + unknown", sent, acked + failed + unknown]);
	// Where messages are only published nobody receives any.
	if (received === null || delivered === null || lost === null) return all;
	const strange = (c.unackedReceived ?? 0) + (c.failedReceived ?? 0);
	// Without acknowledgements a message that was sent without error is delivered or lost; of a fan-out each of its copies.
	const owed = acked ?? sent - failed - unknown;
	const times = each === 1 ? "" : `${each} x `;
	return [
		...all,
		["received = delivered + unackedReceived + failedReceived", received, delivered + strange],
		[
			`${times}${acked === null ? "(sent - failed - unknown)" : "acked"} = delivered + lost`,
			each * owed,
			delivered + lost,
		],
	];
}
