import type { ClientPart, Collected } from "../../evidence/collect.ts";
import { largestOf, smallestOf } from "../../extremes.ts";
import { crosses, Metric } from "../../model/plan.ts";
import type { ClientEnd } from "../../model/run-file.ts";
import { type Said, say } from "../../text/say.ts";
import { formatCount, plusMinus } from "../../units.ts";
import { type Facts, sumsOf } from "../facts.ts";
import { type Check, type Finding, unknown } from "./check.ts";
import { clientName } from "./run.ts";

/** Clocks of clients on several machines. What one client sends and another receives is timed by two of them. */

/** Latencies that end at a client which need not be the one that sent. */
export const ACROSS: ReadonlySet<Metric> = new Set(["response", "service", "last"]);

/**
 * Most that a latency across clients may be wrong by, ns: the sum of the two largest bounds of their clocks. 0: one clock. null: no message
 * crosses from client to client, or a bound is not known (`clock`).
 */
export function clockBoundNs({ plan, parts }: Collected): number | null {
	if (!crosses(plan)) return null;
	const bounds = parts.map(boundOf);
	if (bounds.some((ns) => ns === null)) return null;
	const [a = 0, b = 0] = bounds.map((ns) => ns ?? 0).sort((x, y) => y - x);
	return a + b;
}

/** The same of one metric; 0 where it is timed by one clock. */
export function boundOfMetric(facts: Facts, metric: Metric): number {
	return ACROSS.has(metric) ? (clockBoundNs(facts.collected) ?? 0) : 0;
}

/** Are there clients with another clock than this machine's? */
export function hasClocks({ parts }: Collected): boolean {
	return parts.some((p) => p.end !== null && p.end.clock !== null);
}

/**
 * Were the clocks of all clients known well enough? A message that was received before it was sent by more than their bound shows that they
 * were not.
 */
export const clock: Check = {
	name: "clock",
	applies: hasClocks,
	judge(facts) {
		const { collected } = facts;
		const { plan, parts } = collected;
		const crossing = crosses(plan);
		const unread = parts.find((p) => boundOf(p) === null);
		if (unread)
			return {
				status: crossing ? "invalid" : "warn",
				said: say("clock-not-compared", { client: clientName(unread), crossing }),
				remedy: say("reach-client"),
			};
		const own = largestOf(parts.map((p) => boundOf(p) ?? 0));
		const bound = crossing ? (clockBoundNs(collected) ?? 0) : own;
		const figure = plusMinus(bound);
		const early = crossing ? earlyOf(facts, bound) : null;
		if (early !== null)
			return { status: "invalid", said: early, figure, remedy: say("keep-clocks") };
		// What ours has drifted by meanwhile is nothing to clocks that keep each other's time.
		const movedNs = parts.some(isKept)
			? null
			: largestOf(parts.map(({ end }) => (end?.clock && movedBy(end.clock)) ?? 0));
		return { status: "ok", said: say("clock-kept", { boundNs: bound, crossing, movedNs }), figure };
	},
};

/** Is the clock that the kernel uses one to time messages with? */
export const clockSource: Check = {
	name: "clockSource",
	judge({ clockSource: name }) {
		if (name === null) return unknown(say("clock-source-unknown"), say("linux-clock"));
		const status = SLOW_SOURCES[name] ?? "ok";
		const code = status === "ok" ? "clock-source-good" : "clock-source-slow";
		return { status, said: say(code, { source: name }), figure: name, remedy: say("better-clock") };
	},
};

/** What a clock went wrong by during the run, against this machine's, ns; null: it was not read again. */
export function movedBy(clock: NonNullable<ClientEnd["clock"]>): number | null {
	return clock.afterNs === null ? null : Math.abs(clock.afterNs - (clock.readNs ?? clock.beforeNs));
}

/** Was every value one that a histogram can hold? */
export const range: Check = {
	name: "range",
	judge(facts) {
		const sums = Metric.options.map((m) => sumsOf(facts, m));
		const clamped = sums.reduce((n, s) => n + s.clamped, 0);
		// Of clocks on several machines `clock` says what they mean.
		const negative = hasClocks(facts.collected) ? 0 : sums.reduce((n, s) => n + s.negative, 0);
		return {
			...(clamped + negative > 0
				? { status: "warn", said: say("values-out-of-range", { clamped, negative }) }
				: { status: "ok", said: say("values-in-range") }),
			figure: formatCount(clamped + negative),
			limit: "0",
			remedy: say("clock-set-back"),
		};
	},
};

// --- internal ---

/** Sources with which reading the time costs a trip to the kernel or a device, or that tick in ms. */
const SLOW_SOURCES: Readonly<Record<string, Finding["status"]>> = {
	hpet: "invalid",
	acpi_pm: "invalid",
	jiffies: "invalid",
	"refined-jiffies": "invalid",
	xen: "warn",
};

/** ns; null: it was not measured again after the run. Of a client with this machine's clock 0. */
function boundOf({ end }: ClientPart): number | null {
	const clock = end?.clock ?? null;
	if (clock === null) return 0;
	return clock.afterNs === null ? null : clock.boundNs;
}

/** All of them, or none. */
function isKept({ end }: ClientPart): boolean {
	return end?.clock?.source === "chrony";
}

/** Samples that were negative by more than the bound; null: there are none. */
function earlyOf({ collected }: Facts, boundNs: number): Said | null {
	const all = [...ACROSS].map((metric) =>
		sumsOf({ collected }, metric, { from: Number.NEGATIVE_INFINITY }),
	);
	const negative = largestOf(all.map((s) => s.negative));
	if (negative === 0) return null;
	const lowest = smallestOf(all.map((s) => s.lowest));
	return -lowest > boundNs
		? say("clock-contradicted", { messages: negative, earliestNs: -lowest, boundNs })
		: null;
}
