import { faultsDone } from "../../evidence/members.ts";
import type { Counters } from "../../model/client-file.ts";
import { CATCH_UP } from "../../model/load.ts";
import { Metric, type Plan } from "../../model/plan.ts";
import { copies, intendedInWindow, mainMetric, samplesPerMessage } from "../../plan/samples.ts";
import { sum } from "../../stats/sum.ts";
import { formatCount, formatDuration, plural } from "../../units.ts";
import { distributionOf, type Facts, hasMetric, RECEIVES, sumsOf } from "../facts.ts";
import { limitIntervals, receivedTwice } from "../intervals.ts";
import { type Check, NOT_COUNTED, ok, SEE_COMPLETIONS, threshold, unknown } from "./check.ts";
import { hasClocks } from "./run.ts";

/** Is every message counted, and does the SLA judge its fate? */

export const identities: Check = {
	name: "identities",
	comesTo: "error",
	when: "counts do not add up (a bug of mqbench)",
	judge(facts) {
		if (!facts.collected.closed)
			return unknown("some counts are missing, so they were not added up");
		const broken = brokenIdentities(facts);
		return broken.length === 0
			? ok("all counts add up")
			: {
					status: "error",
					text: `counts do not add up, a bug of mqbench: ${broken.join("; ")}`,
					values: { broken },
					remedy: "report it, with this folder",
				};
	},
};

export const reconnects = threshold({
	name: "reconnects",
	when: "connections were replaced (with faults: only reported)",
	above: "warn",
	limit: 0,
	show: formatCount,
	remedy: "see in the broker's log why it lost connections",
	read({ collected }) {
		const { totals } = collected;
		if (totals === null) return NOT_COUNTED;
		const times = totals.reconnects;
		if (times === null) return { status: "unknown", text: "this driver does not count reconnects" };
		const figure = formatCount(times);
		if (times === 0) return ok("every connection held", { figure, limit: "0" });
		const text = `clients reconnected ${times === 1 ? "once" : `${figure} times`}`;
		const values = { times };
		return faultsDone(collected).length > 0
			? ok(`${text}, in a run with faults`, { values, figure })
			: { value: times, text: `${text}: messages under way then were delayed, or lost`, values };
	},
});

export const throttled = threshold({
	name: "throttled",
	when: "the broker throttled its clients by a quota or an alarm (`throttledNs`)",
	applies: ({ totals }) => totals !== null && totals.throttledNs !== null,
	above: "warn",
	limit: 0,
	show: (ns) => (ns === 0 ? "0" : formatDuration(ns)),
	remedy:
		"raise the broker's quota for this client, clear its memory or disk alarm, or lower the rate",
	read({ collected: { totals } }) {
		const throttledNs = totals?.throttledNs ?? 0;
		if (throttledNs === 0) return ok("the broker did not throttle its clients");
		const text = `throttled by the broker for ${formatDuration(throttledNs)}`;
		return { value: throttledNs, text, values: { throttledNs } };
	},
});

/** Was anything missing after the drain, and does an SLA line count it? */
export const drain: Check = {
	name: "drain",
	comesTo: "invalid",
	when: "messages are missing after the drain, and no SLA line counts them (warning: one does)",
	judge({ collected: { plan, counters, state, run } }, judgements) {
		const { warmup, window } = counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		if (state === "aborted")
			return unknown(
				"the run was stopped before its drain",
				"take abort off the SLA line to see a whole run",
			);
		const before = (warmup.lost ?? 0) + warmup.unknown;
		const lost = (warmup.lost ?? 0) + (window.lost ?? 0);
		const unanswered = warmup.unknown + window.unknown;
		const missing = lost + unanswered;
		const figure = formatCount(missing);
		if (missing === 0) return ok("nothing was outstanding at the end", { figure, limit: "0" });
		const lines = [...(lost > 0 ? ["lost == 0"] : []), ...(unanswered > 0 ? ["unknown == 0"] : [])];
		const counted =
			judgements.length > 0 && (countedBySla(plan, "lost") || countedBySla(plan, "unknown"));
		const [one, many] = plan.pattern === "fan-out" ? ["copy", "copies"] : ["message", "messages"];
		const warmed = before === 0 ? "" : ` (${formatCount(before)} of the warm-up)`;
		// Without a broker the drain ends early, and a longer one recovers nothing.
		const broke = run?.error != null;
		const then =
			state === "interrupted" || broke
				? "the run was stopped"
				: `the drain (${formatDuration(plan.drainNs)}) was over`;
		const why = broke
			? "see why the run broke: a longer drain brings nothing back"
			: "see whether they are lost or late: measure with a longer drain";
		const by = counted ? "the SLA counts them" : "no SLA line counts them";
		const [what, are] = missing === 1 ? [one, "was"] : [many, "were"];
		return {
			status: counted ? "warn" : "invalid",
			text: `${figure} ${what}${warmed} ${are} still missing when ${then}; ${by}`,
			values: { missing, warmup: before },
			figure,
			limit: "0",
			remedy: counted ? why : addToSla(lines),
		};
	},
};

const KINDS = ["failed", "unknown", "lost"] as const;
type Kind = (typeof KINDS)[number];

/** `lost == 0` alone would pass a broker that refuses everything. Latency lines count incomplete messages; ack lines, all but lost ones. */
export const uncounted: Check = {
	name: "uncounted",
	comesTo: "inconclusive",
	when: "messages did not complete, and no SLA line counts them; or none of the window completed, and no line asks for that (`failed == all`)",
	judge(facts) {
		const { plan, counters, state } = facts.collected;
		const { warmup, window } = counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		// In a stopped run, `failed` includes messages that the stop held back.
		if (state !== "complete") return unknown("the run was not completed");
		// Whether what a catch-up reads was sent, the main load judges.
		const kinds = plan.pattern === CATCH_UP ? (["lost"] as const) : KINDS;
		const missing = kinds
			.map((kind) => [kind, (warmup[kind] ?? 0) + (window[kind] ?? 0)] as const)
			.filter(([kind, n]) => n > 0 && !countedBySla(plan, kind));
		if (missing.length > 0) {
			const intended = warmup.intended + window.intended;
			const counts = missing.map(([kind, n]) => `${formatCount(n)} ${kind}`).join(", ");
			return {
				status: "inconclusive",
				text: `${counts} of ${plural(intended, "message")}; no SLA line counts them`,
				values: { intended, ...Object.fromEntries(missing) },
				figure: formatCount(sum(missing.map(([, n]) => n))),
				limit: "0",
				remedy: addToSla(
					missing.map(([kind]) => `${kind} == 0`),
					", or a latency,",
				),
			};
		}
		// The SLA asks for it, or a latency FAILs.
		const judged = plan.sla.some((s) =>
			s.kind === "tally" ? s.all : RECEIVES.has(s.metric) || s.metric === "ack",
		);
		return !judged && intendedInWindow(plan) > 0 && nothingCompleted(facts)
			? {
					status: "inconclusive",
					text: `none of the ${formatCount(window.intended)} messages of the window completed`,
					values: { intended: window.intended },
					figure: "0",
					remedy: SEE_COMPLETIONS,
				}
			: ok("the SLA counts every kind of missing message", { figure: "0", limit: "0" });
	},
};

export const range = threshold({
	name: "range",
	when: "times below 0 or above 1 h, recorded as 0 and 1 h",
	above: "warn",
	limit: 0,
	show: formatCount,
	remedy: "see whether the machine's clock was set back meanwhile",
	read(facts) {
		const sums = Metric.options.map((m) => sumsOf(facts, m));
		const clamped = sum(sums.map((s) => s.clamped));
		// Between clocks, the `clock` check explains negative values.
		const negative = hasClocks(facts.collected) ? 0 : sum(sums.map((s) => s.negative));
		return {
			value: clamped + negative,
			text: `${plural(clamped, "value")} above 1h and ${formatCount(negative)} below 0 were recorded as 1h and as 0`,
			values: { clamped, negative },
		};
	},
});

/** Violated equations of reports/METHOD.md, "Counts". Ask only for closed files: others lack counts. */
export function brokenIdentities(facts: Facts): string[] {
	const { plan, counters, ledgers, breakdown } = facts.collected;
	const broken: string[] = [];
	const same = (what: string, a: number, b: number) => {
		if (a !== b) broken.push(`${what}: ${a} and ${b}`);
	};
	const counted = (metric: Metric) => sumsOf(facts, metric).count;
	const intended = intendedInWindow(plan);
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
	const { opened, held = 0, closed = 0, gone = 0 } = facts.collected.totals?.connections ?? {};
	if (opened !== undefined) {
		const acked = (counters.warmup?.acked ?? 0) + (counters.window?.acked ?? 0);
		same("acked and connections opened", acked, opened);
		same("connections opened = held + closed + gone", opened, held + closed + gone);
		if (held > plan.hold) broken.push(`${held} connections held, of ${plan.hold}`);
	}
	for (const [name, scope, planned] of [
		["window", "window", intended],
		["warm-up", "warmup", plan.schedule.warmupMessages],
	] as const)
		same(`intended in the ${name}`, counters[scope]?.intended ?? planned, planned);
	for (const metric of Metric.options) {
		const histogram = facts.merged.get(metric)?.whole.count ?? 0;
		same(`${metric} in histogram and counters`, histogram, counted(metric));
	}
	if (breakdown !== null) {
		const responses = sum(breakdown.map((b) => b.messages));
		same("response broken down and in counters", responses, counted("response"));
	}
	const { sizes } = plan.message;
	if (sizes !== null) {
		const main = mainMetric(plan);
		const classes = sizes.classes.map((most) => facts.merged.get(`${main}.${most}B`)?.whole.count);
		same(`${main} by size and in counters`, sum(classes.map((n) => n ?? 0)), counted(main));
	}
	for (const [k, { metric }] of plan.limits.entries()) {
		const second = receivedTwice(facts.collected, metric);
		const intervals = limitIntervals(facts.collected, k);
		const pieces = sum(intervals.map((i) => i.n - i.censored)) + second;
		same(`${metric} per 100 ms and in counters`, pieces, counted(metric));
		if (intervals.some((i) => i.censored < 0))
			broken.push(`more ${metric} than intended messages in 100 ms`);
	}
	for (const metric of Metric.options) {
		const most = intended * samplesPerMessage(plan, metric);
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
	if (received === null || delivered === null || lost === null) return all;
	const strange = (c.unackedReceived ?? 0) + (c.failedReceived ?? 0);
	// Without acknowledgements a message sent without error is delivered or lost, in a fan-out each copy.
	const owed = acked ?? sent - failed - unknown;
	const what = `${each === 1 ? "" : `${each} x `}${acked === null ? "(sent - failed - unknown)" : "acked"}`;
	return [
		...all,
		["received = delivered + unackedReceived + failedReceived", received, delivered + strange],
		[`${what} = delivered + lost`, each * owed, delivered + lost],
	];
}

function countedBySla({ sla }: Plan, kind: Kind): boolean {
	return sla.some((s) =>
		s.kind === "tally"
			? s.tally === kind
			: RECEIVES.has(s.metric) || (s.metric === "ack" && kind !== "lost"),
	);
}

function addToSla(lines: readonly string[], or = ""): string {
	return `add ${lines.join(" and ")}${or} to the SLA`;
}

function nothingCompleted(facts: Facts): boolean {
	const { counters } = facts.collected;
	// A backlog has receipts but no latency.
	return hasMetric(facts, "service")
		? distributionOf(facts, "service").count === 0
		: counters.window?.received === 0;
}
