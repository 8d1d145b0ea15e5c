import type { Machine } from "../evidence/collect.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import { sum } from "../stats/sum.ts";
import { IDLE_SHARE, WAIT_SHARE } from "./checks/limits.ts";
import { type Facts, windowOf } from "./facts.ts";
import { intervalNs, type Shares } from "./intervals.ts";

/** How free a machine's cores were in the window; of the time between samples that can be read. */
export interface Saturation {
	readonly machine: Machine;
	/** Of its CPU time. */
	readonly idle: number;
	/** Of the time in which threads of generator or broker wanted a core, the part that they waited for one; null: not known. */
	readonly wait: number | null;
	/** Of the window: no core was free, and generator or broker waited. */
	readonly share: number;
	/** The window's 100 ms intervals in which that was so. */
	readonly intervals: Shares;
}

/**
 * A machine is saturated while less than a tenth of its CPU time is idle and generator and broker wait for a core. Subtle: work of low priority
 * uses all idle time and takes nothing from them, so idle time tells only where waiting is not known. null: nobody has looked, or the load
 * never began.
 */
export function saturationOf(machine: Machine, { collected }: Facts): Saturation | null {
	if (collected.t0Ms === null) return null;
	const { startNs, endNs } = windowOf(collected);
	const zeroMs = collected.t0Ms + startNs / 1e6;
	const ours = (line: ResourceLine) => [
		machine.node === undefined ? line.generator : null,
		// Where its nodes have hosts of their own, samples of this machine tell of those.
		machine.node !== undefined || (machine.client === null && collected.nodes.length === 0)
			? line.broker
			: null,
	];
	const each = intervalNs(collected.plan);
	const pieces = machine.samples.slice(1).flatMap((now, i) => {
		const before = machine.samples[i] ?? now;
		const [fromNs, toNs] = [before, now].map(({ unixMs }) => (unixMs - zeroMs) * 1e6) as [
			number,
			number,
		];
		const all = grown(before.machine.cpuNs, now.machine.cpuNs);
		const idle = grown(before.machine.idleNs, now.machine.idleNs);
		// Of a run that was stopped before its window, or of two samples at once, there is no time to judge.
		if (!(toNs > Math.max(0, fromNs)) || fromNs >= endNs - startNs || !all || idle === null)
			return [];
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
		return [{ fromNs, toNs, all, idle, waited, wanted, saturated, used: used.length }];
	});
	if (pieces.length === 0) return null;
	const of = (each: (piece: (typeof pieces)[number]) => number) => sum(pieces.map(each));
	const wanted = of((p) => p.wanted);
	const intervals = pieces
		.filter((p) => p.saturated)
		.flatMap(({ fromNs, toNs }) => {
			const first = Math.max(0, Math.floor(fromNs / each));
			const end = Math.ceil(Math.min(toNs, endNs - startNs) / each);
			return Array.from({ length: end - first }, (_, k) => first + k);
		});
	return {
		machine,
		idle: of((p) => p.idle) / of((p) => p.all),
		wait: wanted > 0 ? of((p) => p.waited) / wanted : null,
		share: of((p) => (p.saturated ? p.toNs - p.fromNs : 0)) / of((p) => p.toNs - p.fromNs),
		intervals: new Map(intervals.map((i) => [i, 1])),
	};
}

/** How much a counter grew; null: not read, or it went backwards. */
export function grown(
	from: number | null | undefined,
	to: number | null | undefined,
): number | null {
	return from == null || to == null || to < from ? null : to - from;
}
