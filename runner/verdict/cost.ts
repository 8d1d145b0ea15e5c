import type { Collected } from "../evidence/collect.ts";
import { grownBetween } from "../evidence/resources.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import type { Run } from "../model/result.ts";
import { sum } from "../stats/sum.ts";
import { coresOf } from "./checks/machine.ts";
import { windowOf } from "./facts.ts";
import { ratesOf } from "./rates.ts";

/** What a message took of the broker and of the load generator, over the whole window. Null for a run that did not complete. */
export function costOf(collected: Collected): Run["cost"] {
	const { run, state, nodes, parts } = collected;
	const { startNs, endNs } = windowOf(collected);
	const messages = deliveredIn(collected);
	if (state !== "complete" || messages === 0 || endNs - startNs < SHORTEST_NS) return null;
	const each = (all: number | null | undefined) => (all == null ? null : short(all / messages));
	const perCoreSecond = (cpuNs: number | null | undefined) =>
		cpuNs ? short((messages * 1e9) / cpuNs) : null;
	const cpu = brokerUse(collected, ({ broker }) => broker?.cpuNs);
	const written = brokerUse(collected, ({ broker }) => broker?.writeBytes);
	const apart = nodes.length > 0 && !run?.sameHost && !run?.nodesShareHost;
	const sent = apart ? brokerUse(collected, ({ network }) => network?.txBytes) : null;
	const cores = parts.map((part) => coresOf({ collected }, part));
	const generatorNs = cores.some((one) => one === null)
		? null
		: sum(cores.map((one) => one ?? 0)) * (endNs - startNs);
	return {
		messages,
		cpuPerMessageNs: each(cpu?.by),
		cpuWithinNs: each(cpu && cpu.within + TICKS_NS),
		messagesPerCoreSecond: perCoreSecond(cpu?.by),
		generatorCpuPerMessageNs: each(generatorNs),
		generatorMessagesPerCoreSecond: perCoreSecond(generatorNs),
		diskPerMessageBytes: each(written?.by),
		networkPerMessageBytes: each(sent?.by),
	};
}

// --- internal ---

/** /proc counts user and system time in hundredths of a second, for each process. */
const TICKS_NS = 50_000_000;
/** In less time they would show. */
const SHORTEST_NS = 1e9;
/** Hosts are sampled once a second, not at the window's edges, so a short window cannot be told from what is around it. */
const EXACT = 0.05;

/** A sum without one of the nodes would be wrong. */
function brokerUse(
	collected: Collected,
	counter: (line: ResourceLine) => number | null | undefined,
): { readonly by: number; readonly within: number } | null {
	const { plan, t0Ms, resources, nodes } = collected;
	// Nobody can tell what the broker did for one of several loads.
	if (t0Ms === null || !plan.server || plan.loads > 1) return null;
	const { startNs, endNs } = windowOf(collected);
	const window = [t0Ms + startNs / 1e6, t0Ms + endNs / 1e6] as const;
	const all = nodes.length > 0 ? nodes.map(({ samples }) => samples) : [resources];
	const grown = all.flatMap((samples) => grownBetween(samples, window, counter) ?? []);
	const by = sum(grown.map((one) => one.by));
	const within = sum(grown.map((one) => one.within));
	return grown.length === all.length && within <= EXACT * by ? { by, within } : null;
}

function deliveredIn(collected: Collected): number {
	const { schedule } = collected.plan;
	const { window } = collected.counters;
	if (schedule.kind === "closed")
		return window === null ? 0 : (window.received ?? window.acked ?? window.sent - window.failed);
	const { received, sent, achieved } = ratesOf(collected);
	return Math.round(((received ?? sent ?? achieved ?? 0) * schedule.durationNs) / 1e9);
}

function short(value: number): number {
	return Number(value.toPrecision(6));
}
