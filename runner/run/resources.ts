import { appendFileSync, existsSync, readdirSync } from "node:fs";
import { childrenOf } from "../../infra/pid.ts";
import { type ResourceLine, type Usage, usageOf } from "../model/resource-file.ts";
import { sum as total } from "../stats/sum.ts";
import { cpuGroupFile, readText as read } from "./cgroup.ts";

export interface Sampling {
	stop(): void;
}

/** Processes to sample, each with all of its children; none: not ours, or not all of them here. */
interface Sampled {
	readonly generatorPids: readonly number[];
	readonly brokerPids: readonly number[];
}

/** What processes had used when they were last seen, by pid. */
export type LastSeen = Map<number, Usage>;

/**
 * Appends a line to `file` now and every second, until stopped, and tells it. `sampled` is asked each time: clients of a run start and
 * end one after the other. Where there is no /proc, nothing is written.
 */
export function sampleResources(
	file: string,
	sampled: () => Sampled,
	nowMs: () => number,
): Sampling {
	const seen: LastSeen = new Map();
	const sample = () => {
		try {
			const line = readResources(sampled(), nowMs(), seen);
			appendFileSync(file, `${JSON.stringify(line)}\n`);
		} catch {
			// A full disk: the run itself will say so. What is missing here is unknown, not wrong.
		}
	};
	if (read("/proc/stat") === null) return { stop() {} };
	sample();
	const timer = setInterval(sample, 1000);
	return {
		stop() {
			clearInterval(timer);
			sample();
		},
	};
}

/** One sample. `seen` is what earlier ones saw: a sum never falls because one of several processes has ended. */
export function readResources(
	{ generatorPids, brokerPids }: Sampled,
	unixMs: number,
	seen: LastSeen = new Map(),
): ResourceLine {
	return {
		unixMs,
		generator: generatorPids.length === 0 ? null : usage(generatorPids, seen),
		broker: brokerPids.length === 0 ? null : usage(brokerPids, seen),
		machine: machine(),
		network: network(),
	};
}

// --- internal ---

/** USER_HZ: the unit of /proc's CPU times, 100 a second on every Linux. */
const TICK_NS = 1e7;
const PAGE_BYTES = 4096;

/** null once all have ended. One of several that has ended counts with what it had used, and holds no memory any more. */
function usage(pids: readonly number[], seen: LastSeen): Usage {
	const now = pids.map((pid) => [pid, usageOfFamily(pid)] as const);
	const anyRuns = now.some(([, { cpuNs }]) => cpuNs !== null);
	const all = now.flatMap(([pid, one]): Usage[] => {
		if (one.cpuNs !== null) {
			seen.set(pid, one);
			return [one];
		}
		const last = anyRuns ? seen.get(pid) : undefined;
		return last ? [{ ...last, rssBytes: null }] : [];
	});
	return usageOf((field) => sum(all.map((one) => one[field])));
}

/** Of a process and its children. One that has ended has used nothing that could be read. */
function usageOfFamily(pid: number): Usage {
	const all = family(pid);
	return usageOf((field) => sum(all.map(USED[field])));
}

const USED: Readonly<Record<keyof Usage, (pid: number) => number | null>> = {
	cpuNs,
	waitNs,
	rssBytes,
	readBytes: (pid) => io(pid, "read_bytes"),
	writeBytes: (pid) => io(pid, "write_bytes"),
};

/** Main threads start what counts here (agent its command, Redis a copy of itself to save): a JVM's hundred others are not asked. */
function family(pid: number): number[] {
	return [pid, ...childrenOf(pid).flatMap(family)];
}

/** Fields behind the name, which is in parentheses and may hold blanks. */
function stat(pid: number): string[] | undefined {
	const text = read(`/proc/${pid}/stat`);
	return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function cpuNs(pid: number): number | null {
	const fields = stat(pid);
	if (!fields) return null;
	// proc(5): utime and stime are fields 14 and 15, cutime and cstime (of children that have ended) the next; the name is 2.
	const ticks = fields.slice(11, 15).map(Number);
	return total(ticks) * TICK_NS;
}

/** Field 2 of a thread's schedstat; the process's own file is of its main thread alone. */
function waitNs(pid: number): number | null {
	const waits = list(`/proc/${pid}/task`).map((thread) => {
		const ns = read(`/proc/${pid}/task/${thread}/schedstat`)?.split(" ")[1];
		return ns === undefined ? null : Number(ns);
	});
	return sum(waits);
}

function rssBytes(pid: number): number | null {
	const pages = read(`/proc/${pid}/statm`)?.split(" ")[1];
	return pages === undefined ? null : Number(pages) * PAGE_BYTES;
}

function io(pid: number, name: string): number | null {
	const value = new RegExp(`^${name}: (\\d+)`, "m").exec(read(`/proc/${pid}/io`) ?? "")?.[1];
	return value === undefined ? null : Number(value);
}

/**
 * proc(5): user nice system idle iowait irq softirq steal. Idle time is taken by the clock, user and system time by who runs when a tick comes: where
 * work wakes with the tick, the columns add up to too much (on 2 cores to 2.6 s a second), and the difference would be told as others' work. So the
 * total is cores x time.
 */
function machine(): ResourceLine["machine"] {
	const text = read("/proc/stat") ?? "";
	const ticks = /^cpu +(.*)$/m.exec(text)?.[1]?.split(" ").map(Number);
	const cores = text.match(/^cpu\d/gm)?.length ?? 0;
	const seconds = Number(read("/proc/uptime")?.split(" ")[0]);
	return {
		cpuNs: cores * seconds > 0 ? Math.round(cores * seconds * 1e9) : null,
		idleNs: ticks ? ((ticks[3] ?? 0) + (ticks[4] ?? 0)) * TICK_NS : null,
		stealNs: ticks ? (ticks[7] ?? 0) * TICK_NS : null,
		throttled: throttled(),
	};
}

/**
 * What the machine's network devices have carried: columns 1 and 9 of /proc/net/dev. Bridges, tunnels and the like carry the same
 * bytes once more: they count only where there is no device, in a container.
 */
function network(): ResourceLine["network"] {
	const text = read("/proc/net/dev");
	if (text === null) return null;
	const rows = text.split("\n").flatMap((line) => {
		const [, name, rest = ""] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
		if (name === undefined || name === "lo") return [];
		const [rx = Number.NaN, , , , , , , , tx = Number.NaN] = rest.split(/\s+/).map(Number);
		return [{ rx, tx, real: existsSync(`/sys/class/net/${name}/device`) }];
	});
	const devices = rows.some(({ real }) => real) ? rows.filter(({ real }) => real) : rows;
	return {
		rxBytes: total(devices.map(({ rx }) => rx)),
		txBytes: total(devices.map(({ tx }) => tx)),
	};
}

/** null: not known. */
function throttled(): number | null {
	const value = /^nr_throttled (\d+)$/m.exec(cpuGroupFile("cpu.stat") ?? "")?.[1];
	return value === undefined ? null : Number(value);
}

/** null as soon as one part is not known, except for processes that have ended: those are left out. */
function sum(values: readonly (number | null)[]): number | null {
	const known = values.filter((value) => value !== null);
	return known.length === 0 ? null : total(known);
}

function list(path: string): string[] {
	try {
		return readdirSync(path);
	} catch {
		return [];
	}
}
