import { machineOf, machineText } from "../compare/machine.ts";
import { CATCH_UP } from "../model/load.ts";
import type { Result, Run } from "../model/result.ts";
import { isElsewhere } from "../model/run-file.ts";
import { systemText, topologyText } from "../result/words.ts";
import { formatCount, formatDuration, formatIn, plural } from "../units.ts";

export function sameHostText({ runs }: Result): string | null {
	const sharing = runs.filter((run) => run.sameHost).length;
	const which = sharing < runs.length ? ` in ${sharing} of ${runs.length} runs` : "";
	return sharing === 0
		? null
		: `generator and broker shared one host${which}: each took CPU from the other`;
}

/** "nats-server 2.15.2; durability: none, nothing is stored; 3 nodes on 1 host, which share its cores and disk" */
export function systemFacts(run: Run): string {
	return [systemText(run), topologyText(run)].filter((part) => part !== null).join("; ");
}

/** "Measured on linux x64 6.1.0, 4 cores", on a rig its machines; "Started from ..." if clients ran only elsewhere. */
export function measuredText(result: Result): string | null {
	const known = machineOf(result.environment);
	if (known === null) return null;
	const machine = machineText({ ...known, rig: undefined });
	const rig = result.environment?.rig ?? null;
	if (rig)
		return `Measured on ${rig.machines}, ${rig.here ? "with the load from" : "started from"} ${machine}`;
	const elsewhere =
		result.runs.length > 0 &&
		result.runs.every(
			({ clients }) => clients.length > 0 && clients.every(({ kind }) => isElsewhere(kind)),
		);
	return elsewhere
		? `Started from ${machine}; clients on other machines made the load`
		: `Measured on ${machine}`;
}

export function receivedColumn({ load }: Pick<Run, "load">): string {
	return load.pattern === "fan-out" ? "copies/s" : "received/s";
}

/** The shortest and the longest path: "68us to 79us, medians of TCP connects" */
export function networkText({ network }: Pick<Run, "network">): string | null {
	const known = network.flatMap(({ p50Ns }) => p50Ns ?? []).sort((a, b) => a - b);
	const ends = new Set([known[0] ?? 0, known.at(-1) ?? 0].map(formatDuration));
	const unknown = network.filter(({ p50Ns }) => p50Ns === null);
	const texts = [
		known.length === 0 ? null : `${[...ends].join(" to ")}, medians of TCP connects`,
		unknown.length === 0
			? null
			: `${unknown.length} of ${plural(network.length, "path")} not known (${unknown[0]?.error})`,
	];
	return texts.filter((text) => text !== null).join("; ") || null;
}

/** "a backlog of 50 000 messages was drained in 2.1s, 25 000/s: until at most 1 000 waited" */
export function drainText({ drain, load }: Run): string | null {
	if (drain === null) return null;
	if (load.pattern === CATCH_UP && drain.drainNs !== null) {
		const rate = drain.perSecond === null ? "" : `, at ${formatCount(drain.perSecond)}/s`;
		return `it had caught up ${formatDuration(drain.drainNs)} after it began to read, with ${plural(drain.peak ?? 0, "message")} due by then${rate}: a whole second then brought nothing older than 1s`;
	}
	return drain.drainNs === null
		? drain.problem
		: `a backlog of ${formatCount(drain.peak ?? 0)} messages was drained in ${formatDuration(drain.drainNs)}, ${formatCount(drain.perSecond ?? 0)} received/s: until at most ${formatCount(drain.drainedAt)} waited, with producers going on`;
}

/** "per delivered message: broker 178us of CPU (5 611 per core-second), 135B to disk; load generator ..."; null if its processes were not sampled */
export function costText(cost: Run["cost"]): string | null {
	if (cost === null || cost.cpuPerMessageNs === null) return null;
	const { generatorCpuPerMessageNs: own, diskPerMessageBytes: disk } = cost;
	const network = cost.networkPerMessageBytes;
	const cpu = (ns: number, perCoreSecond: number | null) =>
		`${formatDuration(ns)} of CPU (${formatCount(perCoreSecond ?? 0)} per core-second)`;
	const broker = [
		`broker ${cpu(cost.cpuPerMessageNs, cost.messagesPerCoreSecond)}`,
		...(disk === null ? [] : [`${formatIn("bytes", disk)} to disk`]),
		...(network === null ? [] : [`${formatIn("bytes", network)} over the network`]),
	];
	const generator =
		own === null ? "" : `; load generator ${cpu(own, cost.generatorMessagesPerCoreSecond)}`;
	return `per delivered message: ${broker.join(", ")}${generator}`;
}

export const CLOSED_MEANS = "closed loop: fills the machine, shows no queueing";

/** The meaning of "~". */
export const WEAK_MEANS =
	"based on few samples, or on slow messages that came in few clusters; or the window is too short (below 10s) to tell";

export const EXPLAIN = "npx mqbench explain response, breakdown or support";
