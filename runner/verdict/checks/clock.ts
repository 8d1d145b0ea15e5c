import type { ClientPart, Collected } from "../../evidence/collect.ts";
import { largestOf, smallestOf } from "../../extremes.ts";
import { crosses, type Metric } from "../../model/plan.ts";
import type { ClientEnd } from "../../model/run-file.ts";
import { formatDuration, plural, plusMinus } from "../../units.ts";
import { type Facts, RECEIVES, sumsOf } from "../facts.ts";
import { type Check, type Finding, unknown } from "./check.ts";
import { clientName } from "./run.ts";

/** Clocks of clients on several machines. What one client sends and another receives is timed by two of them. */

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
	return RECEIVES.has(metric) ? (clockBoundNs(facts.collected) ?? 0) : 0;
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
				text: `the clock of ${clientName(unread)} was not compared again after the run, so how far it moved is not known${crossing ? ", and messages cross from client to client" : ""}`,
				remedy: "see why it could not be reached at the end, and measure again",
			};
		const own = largestOf(parts.map((p) => boundOf(p) ?? 0));
		const boundNs = crossing ? (clockBoundNs(collected) ?? 0) : own;
		const figure = plusMinus(boundNs);
		const early = crossing ? earlyOf(facts, boundNs) : null;
		if (early !== null) return { ...early, figure };
		// What ours has drifted by meanwhile is nothing to clocks that keep each other's time.
		const moved = largestOf(parts.map(({ end }) => (end?.clock && movedBy(end.clock)) ?? 0));
		const how = parts.some(({ end }) => end?.clock?.source === "chrony")
			? ", by chrony on each of them"
			: `; their clocks moved by at most ${formatDuration(moved)} during the run`;
		return {
			status: "ok",
			text: `${crossing ? "times across clients are exact to" : "clients share their start to"} ${figure}${how}`,
			values: { boundNs },
			figure,
		};
	},
};

/** Is the clock that the kernel uses one to time messages with? */
export const clockSource: Check = {
	name: "clockSource",
	judge({ clockSource: source }) {
		if (source === null)
			return unknown(
				"the clock source cannot be read",
				"measure on Linux, where /sys says which clock the kernel uses",
			);
		const status = SLOW_SOURCES[source] ?? "ok";
		return {
			status,
			text: `clock source ${source}${status === "ok" ? "" : " is too slow or too coarse to time messages"}`,
			values: { source },
			figure: source,
			remedy: "use a machine whose kernel trusts tsc, kvm-clock or arch_sys_counter",
		};
	},
};

/** What a clock went wrong by during the run, against this machine's, ns; null: it was not read again. */
export function movedBy(clock: NonNullable<ClientEnd["clock"]>): number | null {
	return clock.afterNs === null ? null : Math.abs(clock.afterNs - (clock.readNs ?? clock.beforeNs));
}

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

/** Samples that were negative by more than the bound; null: there are none. */
function earlyOf({ collected }: Facts, boundNs: number): Finding | null {
	const all = [...RECEIVES].map((metric) =>
		sumsOf({ collected }, metric, { from: Number.NEGATIVE_INFINITY }),
	);
	const messages = largestOf(all.map((s) => s.negative));
	const earliestNs = messages === 0 ? 0 : -smallestOf(all.map((s) => s.lowest));
	return earliestNs <= boundNs
		? null
		: {
				status: "invalid",
				text: `${plural(messages, "message")} arrived up to ${formatDuration(earliestNs)} before being sent: the clocks are further apart than ${plusMinus(boundNs)}`,
				values: { messages, earliestNs, boundNs },
				remedy: "keep the clocks of all clients in step (chrony, or PTP), and measure again",
			};
}
