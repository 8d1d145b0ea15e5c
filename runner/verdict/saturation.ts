import type { Machine } from "../evidence/collect.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import { sum } from "../stats/sum.ts";
import { percent } from "../text/percent.ts";
import { clientName, type Facts, isElsewhere, windowOf } from "./facts.ts";
import { intervalNs } from "./intervals.ts";

/** How free a machine's cores were in the window, over readable samples. */
export type Saturation = NonNullable<ReturnType<typeof saturationOf>>;

/** With less idle CPU time, a thread that becomes ready mostly finds no free core. */
export const IDLE_SHARE = 0.1;
/** Waiting for a larger share of the wanted time shows in latencies. */
const WAIT_SHARE = 0.1;

/** Subtle: low-priority work uses idle time but takes none from generator and broker. So idle time decides only if waiting is unknown. */
export function saturationOf(machine: Machine, { collected }: Facts) {
	if (collected.t0Ms === null) return null;
	const { startNs, endNs } = windowOf(collected);
	const windowNs = endNs - startNs;
	const zeroMs = collected.t0Ms + startNs / 1e6;
	// If broker nodes have their own hosts, `broker` in this machine's samples describes the nodes.
	const here = machine.client === null && collected.nodes.length === 0;
	const ours = ({ generator, broker }: ResourceLine) =>
		machine.node !== undefined ? [broker] : here ? [generator, broker] : [generator];
	const each = intervalNs(collected.plan);
	const pieces = machine.samples.slice(1).flatMap((now, i) => {
		const before = machine.samples[i] ?? now;
		const [fromNs, toNs] = [(before.unixMs - zeroMs) * 1e6, (now.unixMs - zeroMs) * 1e6];
		const all = grown(before.machine.cpuNs, now.machine.cpuNs);
		const idle = grown(before.machine.idleNs, now.machine.idleNs);
		// Stopped before the window, or two samples at once: no time to judge.
		if (!(toNs > Math.max(0, fromNs)) || fromNs >= windowNs || !all || idle === null) return [];
		const was = ours(before);
		const used = ours(now).flatMap((one, k) => {
			const waitNs = grown(was[k]?.waitNs, one?.waitNs);
			const cpuNs = grown(was[k]?.cpuNs, one?.cpuNs);
			return waitNs === null || cpuNs === null ? [] : [{ waitNs, cpuNs }];
		});
		const waited = sum(used.map((one) => one.waitNs));
		const wanted = waited + sum(used.map((one) => one.cpuNs));
		const saturated =
			idle < IDLE_SHARE * all && (used.length === 0 || waited > WAIT_SHARE * wanted);
		return [{ fromNs, toNs, all, idle, waited, wanted, saturated }];
	});
	if (pieces.length === 0) return null;
	const of = (each: (piece: (typeof pieces)[number]) => number) => sum(pieces.map(each));
	const wanted = of((p) => p.wanted);
	const intervals = new Map<number, number>();
	for (const { fromNs, toNs } of pieces.filter((p) => p.saturated))
		for (let i = Math.max(0, Math.floor(fromNs / each)); i * each < Math.min(toNs, windowNs); i++)
			intervals.set(i, 1);
	return {
		/** Share of CPU time. */
		idle: of((p) => p.idle) / of((p) => p.all),
		/** Waiting share of the time in which generator or broker threads wanted a core. */
		wait: wanted > 0 ? of((p) => p.waited) / wanted : null,
		/** Share of the window in which no core was free and generator or broker waited. */
		share: of((p) => (p.saturated ? p.toNs - p.fromNs : 0)) / of((p) => p.toNs - p.fromNs),
		/** 100 ms intervals of the window in which that was so. */
		intervals,
	};
}

export function saturationsOf(facts: Facts): (Saturation & { readonly where: string })[] {
	return machinesOf(facts).flatMap((machine) => {
		const found = saturationOf(machine, facts);
		return found === null ? [] : [{ ...found, where: machineName(machine) }];
	});
}

/** "no core was free in 98 % of the window (2 % of the CPU time was idle, ...)" */
export function saturatedText({ idle, wait, share }: Saturation): string {
	const waited =
		wait === null
			? ""
			: `, and the processes of the run waited for ${percent(wait)} of the time in which they wanted a core`;
	return `no core was free in ${percent(share)} of the window (${percent(idle)} of the CPU time was idle${waited})`;
}

/** Machines that ran generators and broker nodes, with their samples. */
export function machinesOf({ collected }: Facts): Machine[] {
	const elsewhere = collected.parts.filter(isElsewhere);
	const here = { client: null, samples: collected.resources };
	const samplesOf = (client: Machine["client"]) =>
		collected.hosts.find((h) => h.client === client)?.samples ?? [];
	return [
		...(elsewhere.length < collected.parts.length ? [here] : []),
		...elsewhere.map((client) => ({ client, samples: samplesOf(client) })),
		...collected.nodes,
	];
}

export const THIS_MACHINE = "this machine";

/** "the host of the broker's node 2", "client 1 (bench@10.0.0.11)", "this machine" */
export function machineName({ client, node }: Machine): string {
	if (node !== undefined) return `the host of the broker's node ${node}`;
	return client === null ? THIS_MACHINE : clientName(client);
}

/** Null if not read, or if it went backwards. */
export function grown(from: number | null | undefined, to: number | null | undefined) {
	return from == null || to == null || to < from ? null : to - from;
}
