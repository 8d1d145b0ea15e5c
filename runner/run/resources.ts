import { appendFileSync, existsSync, readdirSync } from "node:fs";
import { childrenOf } from "../../infra/pid.ts";
import { type ResourceLine, type Usage, usageOf } from "../model/resource-file.ts";
import { sum as total } from "../stats/sum.ts";
import { cpuGroupFile, readText as read } from "./cgroup.ts";

export interface Sampling {
	stop(): void;
}

/** Processes to sample, each with all of its children. Empty if they are not ours, or not all on this machine. */
interface Sampled {
	readonly generatorPids: readonly number[];
	readonly brokerPids: readonly number[];
}

/** What processes had used when they were last seen, by pid. */
export type LastSeen = Map<number, Usage>;

/** Appends a sample now and every second until stopped. Asks `sampled` each time, because a run's clients start one by one. */
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
			// If the disk is full, the run itself reports it. What is missing here is unknown, not wrong.
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

/** `seen` holds earlier samples: a sum must not fall because one of several processes has ended. */
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

/** A process that has ended still counts with its last use, but without memory, until all have ended. */
function usage(pids: readonly number[], seen: LastSeen): Usage {
	const now = pids.map((pid) => {
		const all = family(pid);
		return [pid, usageOf((field) => sum(all.map(USED[field])))] as const;
	});
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

const USED: Readonly<Record<keyof Usage, (pid: number) => number | null>> = {
	cpuNs,
	waitNs,
	rssBytes,
	readBytes: (pid) => io(pid, "read_bytes"),
	writeBytes: (pid) => io(pid, "write_bytes"),
};

/** Main threads start what counts here (agent its command, Redis a copy to save); the hundreds of others of a JVM are not asked. */
function family(pid: number): number[] {
	return [pid, ...childrenOf(pid).flatMap(family)];
}

function stat(pid: number): string[] | undefined {
	const text = read(`/proc/${pid}/stat`);
	// The name is in parentheses and may contain blanks.
	return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function cpuNs(pid: number): number | null {
	const fields = stat(pid);
	if (!fields) return null;
	// proc(5): fields 14 to 17 are utime, stime, and cutime and cstime of children that have ended; the name is field 2.
	return total(fields.slice(11, 15).map(Number)) * TICK_NS;
}

/** Field 2 of each thread's schedstat: the process's own file covers only its main thread. */
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
 * proc(5): user nice system idle iowait irq softirq steal. The total is cores x time: where work wakes with the tick that samples user and
 * system time, the columns add up to too much (on 2 cores to 2.6 s a second), which would show as others' work.
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

/** Columns 1 and 9 of /proc/net/dev. Bridges and tunnels carry bytes again, so they count only without a device (in a container). */
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

function throttled(): number | null {
	const value = /^nr_throttled (\d+)$/m.exec(cpuGroupFile("cpu.stat") ?? "")?.[1];
	return value === undefined ? null : Number(value);
}

/** Leaves out processes that have ended. */
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
