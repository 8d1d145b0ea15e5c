import type { Counters } from "../../model/client-file.ts";
import { Metric } from "../../model/plan.ts";
import {
	copies,
	intendedInWindow,
	samplesPerMessage,
} from "../../plan/samples.ts";
import { say } from "../../text/say.ts";
import type { Facts } from "../facts.ts";
import { sumsOf } from "../facts.ts";
import { limitIntervals } from "../intervals.ts";
import { receivedTwice } from "../received-twice.ts";
import { type Check, unknown } from "./check.ts";

/** Do all counts add up? */
export const identities: Check = {
	name: "identities",
	judge(facts) {
		if (!facts.collected.closed)
			return unknown(say("counts-incomplete"), say("again"));
		const broken = brokenIdentities(facts);
		return broken.length === 0
			? { status: "ok", said: say("counts-add-up") }
			: {
					status: "error",
					said: say("counts-differ", { broken }),
					remedy: say("report-bug"),
				};
	},
};

/**
 * What must be equal if mqbench has counted right (reports/README.md, "Counts"). Empty, or sentences about what is not. Only
 * asked of files that are closed: in others some counts are missing.
 */
export function brokenIdentities(facts: Facts): string[] {
	const { plan, counters, closed, seconds, ledgers } = facts.collected;
	if (!closed) return [];
	const broken: string[] = [];
	const same = (what: string, a: number, b: number) => {
		if (a !== b) broken.push(`${what}: ${a} and ${b}`);
	};
	for (const scope of ["warmup", "window"] as const) {
		const c = counters[scope];
		if (c === null) continue;
		const ledger = ledgers?.[scope];
		if (ledger !== undefined) {
			same(`${scope} sent in counters and ledgers`, c.sent, ledger.sent);
			same(`${scope} failed in counters and ledgers`, c.failed, ledger.failed);
			same(
				`${scope} acked in counters and ledgers`,
				c.acked ?? 0,
				ledger.acked ?? 0,
			);
			if (ledger.strange > 0)
				broken.push(
					`${scope}: ${ledger.strange} messages received that no client has sent`,
				);
		}
		for (const [what, a, b] of equations(c, copies(plan)))
			same(`${scope} ${what}`, a, b);
	}
	if (counters.window)
		same(
			"intended in the window",
			counters.window.intended,
			intendedInWindow(plan),
		);
	if (counters.warmup)
		same(
			"intended in the warm-up",
			counters.warmup.intended,
			plan.schedule.warmupMessages,
		);
	for (const metric of Metric.options)
		same(
			`${metric} in histogram and counters`,
			facts.merged.get(metric)?.whole.count ?? 0,
			sumsOf(facts, metric).count,
		);
	for (const [k, limit] of plan.limits.entries()) {
		const second = receivedTwice(facts.collected, limit.metric);
		const intervals = limitIntervals(plan, seconds, k, second);
		same(
			`${limit.metric} per 100 ms and in counters`,
			intervals.reduce((n, i) => n + i.n - i.censored, 0) + second,
			sumsOf(facts, limit.metric).count,
		);
		if (intervals.some((i) => i.censored < 0))
			broken.push(`more ${limit.metric} than intended messages in 100 ms`);
	}
	for (const metric of Metric.options) {
		const most = intendedInWindow(plan) * samplesPerMessage(plan, metric);
		const second = receivedTwice(facts.collected, metric);
		if (most > 0 && sumsOf(facts, metric).count > most + second)
			broken.push(`more ${metric} than the window's messages can have`);
	}
	return broken;
}

// --- internal ---

function equations(
	c: Counters,
	each: number,
): [what: string, a: number, b: number][] {
	const all: [string, number, number][] = [
		["intended = sent + notOffered", c.intended, c.sent + c.notOffered],
	];
	if (c.acked !== null)
		all.push([
			"sent = acked + failed + unknown",
			c.sent,
			c.acked + c.failed + c.unknown,
		]);
	const { received, delivered, lost } = c;
	// Where messages are only published nobody receives any.
	if (received === null || delivered === null || lost === null) return all;
	all.push([
		"received = delivered + unackedReceived + failedReceived",
		received,
		delivered + (c.unackedReceived ?? 0) + (c.failedReceived ?? 0),
	]);
	// Without acknowledgements a message that was sent without error is delivered or lost; of a fan-out each of its copies.
	const times = each === 1 ? "" : `${each} x `;
	if (c.acked === null)
		all.push([
			each === 1
				? "sent = delivered + lost + failed + unknown"
				: `${times}(sent - failed - unknown) = delivered + lost`,
			each === 1 ? c.sent : each * (c.sent - c.failed - c.unknown),
			delivered + lost + (each === 1 ? c.failed + c.unknown : 0),
		]);
	else
		all.push([
			`${times}acked = delivered + lost`,
			each * c.acked,
			delivered + lost,
		]);
	return all;
}
