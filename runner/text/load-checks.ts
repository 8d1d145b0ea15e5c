import {
	formatCount as count,
	formatDuration as duration,
	formatDurationExact as exactly,
	plural,
} from "../units.ts";
import { percent } from "./percent.ts";

/** What the checks say of the load: was it sent as asked for, did all of it come back, and did the system carry it? */
export const loadChecks = {
	"lag-unknown": () => "no message completed",
	lag: (d: Lag) => lagText(d),
	"lag-decided": (d: Lag & { lines: readonly string[] }) =>
		`the generator's lateness decided ${d.lines.join(", ")}; ${lagText(d)}`,
	"lag-near-limit": (d: Lag) => `${lagText(d)}: more than 10 % of the tightest limit`,
	"lag-large-compared": (d: Lag) =>
		`${lagText(d)}: more than half of what was measured; comparisons are judged without it too`,
	"lag-large": (d: Lag) => `${lagText(d)}: the generator is a large part of what was measured`,

	"offered-until-stop": () => "what was due until the stop was sent",
	"all-offered": () => "every intended message was sent",
	"not-offered-stopped": (d: { messages: number }) =>
		`${plural(d.messages, "message")} ${wasWere(d.messages)} not offered: the run was stopped`,
	"not-offered": (d: Missing) => `${ofAll(d)} not offered: the generator could not keep up`,
	"offered-late": (d: { p50Ns: number; limitNs: number }) =>
		`the generator could not offer this load: it sent half of the messages at least ${duration(d.p50Ns)} late, more than the limit of ${exactly(d.limitNs)}`,
	"not-sent-stalled": (d: Missing & { stalledNs: number }) =>
		`${ofAll(d)} not sent: nothing completed for ${duration(d.stalledNs)}, so the load waited in vain`,
	"not-sent-in-time": (d: Missing) =>
		`${ofAll(d)} not sent: the load was not through when its time was over`,
	"client-drops-not-counted": () => "this driver does not count what its client library drops",
	"client-dropped": (d: { messages: number }) =>
		`the client library itself dropped ${plural(d.messages, "message")}: that is not the broker's loss`,
	"client-dropped-none": () => "the client library dropped nothing",
	"held-not-counted": () => "what waits in the client library could not be counted",
	"held-most": (d: { held: number }) =>
		d.held === 0
			? "nothing waited in the client library"
			: `at most ${plural(d.held, "message")} waited in the client library`,
	"held-when": (d: {
		held: number;
		/** Since the window's start. */
		atNs: number;
		/** In this share of the samples it was more than `over`. */
		over: number;
		share: number;
		/** Consumers work on each message: the scenario makes them wait. */
		working: boolean;
	}) =>
		`${d.working ? "messages waited in the client library for the consumers' work" : "the client library held messages back"}: ${count(d.held)} at ${duration(d.atNs)}, the most, and more than ${d.over} in ${percent(d.share)} of the window`,
	"held-long": (d: HeldUp) => `${heldText(d)}, but that decided no line of the SLA`,
	"held-decided": (d: HeldUp & { lines: readonly string[] }) =>
		`${heldText(d)}: that decided ${d.lines.join(", ")}`,
	"reconnects-not-counted": () => "this driver does not count connections that are made anew",
	"reconnects-none": () => "every connection held",
	"reconnects-by-fault": (d: { times: number }) => `${reconnected(d)}, in a run with faults`,
	reconnects: (d: { times: number }) =>
		`${reconnected(d)}: what was under way then was delayed, or lost`,

	"throttled-none": () => "the broker did not throttle its clients",
	throttled: (d: { throttledNs: number }) =>
		`throttled by the broker for ${duration(d.throttledNs)}`,

	"drain-stopped": () => "the run was stopped before its drain",
	"drain-empty": () => "nothing was outstanding at the end",
	"drain-missing": (d: Outstanding) => `${outstanding(d)}; the SLA counts them`,
	"drain-missing-uncounted": (d: Outstanding & { lines: readonly string[] }) =>
		`${outstanding(d)}, and no SLA line counts them: add ${d.lines.join(" and ")}`,

	"queue-run-unfinished": () => "the run was not completed",
	"queue-few-samples": (d: { samples: number }) =>
		`${plural(d.samples, "sample")} of the queue ${d.samples === 1 ? "is" : "are"} too few for a trend`,
	"queue-few-samples-calm": (d: { samples: number }) =>
		`the queue grew during a fault or a stop of the load generator; the rest of the run has ${plural(d.samples, "sample")} of it, too few for a trend`,
	"queue-grew": (d: Queue & { perSecond: number }) =>
		`${d.phase === null ? QUEUE_GREW : `at ${d.phase} the queue grew: percentiles depend on the duration`} (by ${count(d.perSecond)} messages per second; ${thirds(d)})`,
	"queue-longer": (d: Queue & { limitNs: number }) =>
		`${d.phase === null ? "" : `at ${d.phase} `}the queue was longer at the end than at the start (${thirds(d)}), by more messages than pass in ${duration(d.limitNs)}: percentiles depend on the duration`,
	"queue-level": (
		d: Queue & {
			/** null: no more than in the thirds. */
			most: number | null;
			outsideFaults: boolean;
		},
	) =>
		`${d.outsideFaults ? "outside of faults and stops of the load generator " : ""}the queue did not grow (${thirds(d)}${d.most === null ? "" : `, at most ${count(d.most)} in between`})`,

	"backlog-drained": (d: { peak: number; drainNs: number }) =>
		`a backlog of ${plural(d.peak, "message")} was drained in ${duration(d.drainNs)}`,
	"backlog-broken-off": () => "the run broke off before its consumers went on",
	"backlog-too-small": (d: { waiting: number; drainedAt: number }) =>
		`the backlog was ${plural(d.waiting, "message")} when consumers went on, and up to ${count(d.drainedAt)} count as drained: build a larger one`,
	"backlog-not-drained": (d: { waiting: number; peak: number }) =>
		`the backlog was not drained by the end of the window: ${count(d.waiting)} of ${plural(d.peak, "message")} ${wasWere(d.waiting)} still waiting`,

	"warmed-up": (d: { warmupNs: number }) =>
		`p50 was level after ${duration(d.warmupNs)} of warm-up`,
	"never-steady": (d: { warmupNs: number }) =>
		`p50 was not level after ${duration(d.warmupNs)} of warm-up, the longest that warmup: steady waits`,
	"drift-unknown": (d: { seconds: number }) =>
		`a drift of p50 needs at least ${d.seconds} whole seconds of a completed run`,
	drifted: (d: { share: number; medianNs: number }) => {
		const part = Math.abs(d.share);
		const median = `that of the median second (${duration(d.medianNs)})`;
		// Nothing falls by more than 100 % of what it was.
		const by =
			part > 1
				? `${duration(part * d.medianNs)}, more than ${median},`
				: `${percent(part)} of ${median}`;
		return `p50 ${d.share > 0 ? "rose" : "fell"} by ${by} over the window`;
	},
	"no-drift": () => "p50 did not drift over the window, or too little to matter",

	"floor-not-measured": () => "not measured",
	"floor-failed": (d: { problem: string }) =>
		`the floor of the generator was not measured: ${d.problem}`,
	"floor-problem": (d: { problem: string }) => d.problem,
	"floor-not-comparable": () => "nothing to compare the generator's floor with",
	"floor-below-loss": () => "p99 lies among messages that never completed",
	"floor-disturbed": (d: { floorNs: number; p99Ns: number }) =>
		`without any broker p99 was ${duration(d.floorNs)} at best, more than the ${duration(d.p99Ns)} with one: other work disturbed the machine`,
	"floor-near": (d: { floorNs: number; p99Ns: number }) =>
		`p99 ${duration(d.p99Ns)} is close to what this generator needs by itself: without any broker p99 is ${duration(d.floorNs)} at best`,
	"floor-breaks": (d: { floorNs: number; lines: readonly string[] }) =>
		`without any broker p99 is ${duration(d.floorNs)} at best: no system can keep ${d.lines.join(" and ")} here`,
	floor: (d: { floorNs: number }) => `without any broker p99 is ${duration(d.floorNs)} at best`,
	"ceiling-near": (d: { perSecond: number; ceilingPerSecond: number }) =>
		`${count(d.perSecond)}/s is close to the most that this generator can send: without any broker it carries ${count(d.ceilingPerSecond)}/s`,
	ceiling: (d: { ceilingPerSecond: number }) =>
		`without any broker the generator carries ${count(d.ceilingPerSecond)}/s`,
};

/** What a queue that grows means, whatever the percentiles say. */
export const QUEUE_GREW = "the queue grew over the run: percentiles depend on the duration";

export interface HeldUp {
	/** Most messages that waited in the client library. */
	readonly held: number;
	/** How many are due within the limit. */
	readonly explained: number;
	readonly limitNs: number;
}

export function heldText(d: HeldUp): string {
	return `the receiving side was slow (up to ${plural(d.held, "message")} waited in the client library, and ${count(d.explained)} are due within ${duration(d.limitNs)})`;
}

/** "5 waiting in the first third, 80 in the last": medians. What lies between their middles is two thirds of the window. */
export function thirds({ firstThird, lastThird }: Pick<Queue, "firstThird" | "lastThird">): string {
	return `${count(firstThird)} waiting in the first third, ${count(lastThird)} in the last`;
}

// --- internal ---

interface Lag {
	/** Of several clients the latest one; null: the only one. */
	readonly client: string | null;
	/** null: too few messages. */
	readonly p50Ns: number | null;
	readonly p99Ns: number;
}

function lagText({ client, p50Ns, p99Ns }: Lag): string {
	return `${client === null ? "" : `${client}: `}lag p50 ${p50Ns === null ? "n/a" : duration(p50Ns)}, p99 ${duration(p99Ns)}`;
}

interface Missing {
	readonly messages: number;
	readonly intended: number;
}

function ofAll({ messages, intended }: Missing): string {
	return `${count(messages)} of ${plural(intended, "message")} ${wasWere(messages)}`;
}

function reconnected({ times }: { readonly times: number }): string {
	return `connections were made anew ${times === 1 ? "once" : `${count(times)} times`}`;
}

interface Outstanding {
	readonly missing: number;
	/** Of `missing`, those that were due in the warm-up. */
	readonly warmup: number;
	readonly copies: boolean;
	/** null: the run was stopped before its drain was over. */
	readonly drainNs: number | null;
}

function outstanding({ missing, warmup, copies, drainNs }: Outstanding): string {
	const what = copies
		? `${count(missing)} ${missing === 1 ? "copy" : "copies"}`
		: plural(missing, "message");
	const before =
		warmup === 0
			? ""
			: warmup === missing
				? ` (${missing === 1 ? "" : "all "}of the warm-up)`
				: ` (${count(warmup)} of the warm-up)`;
	return `${what}${before} ${wasWere(missing)} still missing when ${drainNs === null ? "the run was stopped" : `the drain (${duration(drainNs)}) was over`}`;
}

interface Queue {
	/** A step of the load; null: the whole window. */
	readonly phase: string | null;
	readonly firstThird: number;
	readonly lastThird: number;
}

function wasWere(n: number): string {
	return n === 1 ? "was" : "were";
}
