import type { Counters } from "../../model/client-file.ts";
import { Metric } from "../../model/plan.ts";
import { copies, intendedInWindow, samplesPerMessage } from "../../plan/samples.ts";
import { type Said, say } from "../../text/say.ts";
import type { Facts } from "../facts.ts";
import { sumsOf } from "../facts.ts";
import { limitIntervals } from "../intervals.ts";
import { receivedTwice } from "../received-twice.ts";
import { type Check, unknown } from "./check.ts";

/** Do all counts add up? */
export const identities: Check = {
	name: "identities",
	judge(facts) {
		if (!facts.collected.closed) return unknown(say("counts-incomplete"), say("again"));
		const broken = brokenIdentities(facts);
		return broken.length === 0
			? { status: "ok", said: say("counts-add-up") }
			: {
					status: "error",
					said: say("counts-differ", { broken: broken.map(({ text }) => text) }),
					remedy: say("report-bug"),
				};
	},
};

/**
 * What must be equal if mqbench has counted right (reports/README.md, "Counts"). Empty, or what is not. Only
 * asked of files that are closed: in others some counts are missing.
 */
export function brokenIdentities(facts: Facts): Said[] {
	const { plan, counters, closed, seconds, ledgers, breakdown } = facts.collected;
	if (!closed) return [];
	const broken: Said[] = [];
	const same = (a: number, b: number, otherwise: () => Said) => {
		if (a !== b) broken.push(otherwise());
	};
	for (const scope of ["warmup", "window"] as const) {
		const c = counters[scope];
		if (c === null) continue;
		const ledger = ledgers?.[scope];
		if (ledger !== undefined) {
			for (const kind of ["sent", "failed", "acked"] as const) {
				const [a, b] = [c[kind] ?? 0, ledger[kind] ?? 0];
				same(a, b, () => say("ledgers-differ", { scope, kind, counters: a, ledgers: b }));
			}
			if (ledger.strange > 0)
				broken.push(say("strange-messages", { scope, messages: ledger.strange }));
		}
		for (const [equation, left, right] of equations(c, copies(plan)))
			same(left, right, () => say("equation-broken", { scope, equation, left, right }));
	}
	for (const [scope, planned] of [
		["window", intendedInWindow(plan)],
		["warmup", plan.schedule.warmupMessages],
	] as const) {
		const counted = counters[scope]?.intended ?? planned;
		same(counted, planned, () => say("intended-differs", { scope, counters: counted, planned }));
	}
	for (const metric of Metric.options) {
		const histogram = facts.merged.get(metric)?.whole.count ?? 0;
		const counted = sumsOf(facts, metric).count;
		same(histogram, counted, () =>
			say("histogram-differs", { metric, histogram, counters: counted }),
		);
	}
	if (breakdown !== null) {
		const responses = breakdown.reduce((n, b) => n + b.messages, 0);
		const counted = sumsOf(facts, "response").count;
		same(responses, counted, () =>
			say("breakdown-differs", { broken: responses, counters: counted }),
		);
	}
	for (const [k, { metric }] of plan.limits.entries()) {
		const second = receivedTwice(facts.collected, metric);
		const intervals = limitIntervals(plan, seconds, k, second);
		const pieces = intervals.reduce((n, i) => n + i.n - i.censored, 0) + second;
		const counted = sumsOf(facts, metric).count;
		same(pieces, counted, () => say("pieces-differ", { metric, pieces, counters: counted }));
		if (intervals.some((i) => i.censored < 0)) broken.push(say("more-than-intended", { metric }));
	}
	for (const metric of Metric.options) {
		const most = intendedInWindow(plan) * samplesPerMessage(plan, metric);
		const second = receivedTwice(facts.collected, metric);
		if (most > 0 && sumsOf(facts, metric).count > most + second)
			broken.push(say("more-than-window", { metric }));
	}
	return broken;
}

// --- internal ---

function equations(c: Counters, each: number): [what: string, a: number, b: number][] {
	const all: [string, number, number][] = [
		["intended = sent + notOffered", c.intended, c.sent + c.notOffered],
	];
	if (c.acked !== null)
		all.push(["sent = acked + failed + unknown", c.sent, c.acked + c.failed + c.unknown]);
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
	else all.push([`${times}acked = delivered + lost`, each * c.acked, delivered + lost]);
	return all;
}
