import path from "node:path";
import { cacheFolder } from "../../infra/binaries/cache.ts";
import { smallestOf } from "../extremes.ts";
import { formatBytes, formatDuration } from "../units.ts";
import { type Check, unknown } from "./finding.ts";
import type { Machine } from "./this-machine.ts";
import { timeAt } from "./wake-up.ts";

/** A fact about the machine that a measurement suffers from: what is read, where it is good enough, and what each verdict means. */
interface Fact {
	readonly name: string;
	readonly alone?: true;
	/** null: it cannot be read. */
	read(machine: Machine): Promise<Reading | null> | Reading;
	/** A sentence for each verdict that it may have. */
	readonly means: Readonly<Partial<Record<Reading["verdict"] | "unknown", string>>>;
	readonly remedy: string;
}

interface Reading {
	readonly verdict: "ok" | "warn" | "bad";
	readonly figure: string;
	/** Instead of the fact's own. */
	readonly remedy?: string;
}

const LOAD_MS = 300;
const LATE_NS = 1e6;
/** From so many cores on broker and generator do not share one. */
const ENOUGH_CORES = 4;
const SWAP_BYTES = 64 * 1024 ** 2;
const TIGHT_BYTES = 1024 ** 3;
const FULL_BYTES = 50 * 1024 ** 2;
const CLOCK = "/sys/devices/system/clocksource/clocksource0";
const WAKES = "How late this machine wakes a thread that sleeps for 1 ms (Atomics.wait).";

const FACTS: readonly Fact[] = [
	{
		name: "load",
		alone: true,
		async read(machine) {
			const before = cpuTimes(await machine.read("/proc/stat"));
			await machine.sleep(LOAD_MS);
			const after = cpuTimes(await machine.read("/proc/stat"));
			if (!before || !after || after.all <= before.all) return null;
			const share = 1 - (after.idle - before.idle) / (after.all - before.all);
			return { verdict: share <= 0.2 ? "ok" : "warn", figure: `${percent(share)} busy` };
		},
		means: {
			ok: "No other program keeps the cores busy now.",
			warn: "Other programs keep the cores busy now, and would slow down what you measure.",
			unknown: "The kernel does not say how busy the cores are.",
		},
		remedy: "Stop them (top shows which), or wait until they finish.",
	},
	{
		name: "wake-up",
		alone: true,
		async read(machine) {
			const times = await machine.wakeUp();
			const [p50, p99] = [timeAt(times, 50), timeAt(times, 99)];
			const figure = `p50 ${formatDuration(p50)}, p99 ${formatDuration(p99)}`;
			return { verdict: p99 <= LATE_NS ? "ok" : "warn", figure };
		},
		means: {
			ok: WAKES,
			warn: `${WAKES} Above ${formatDuration(LATE_NS)} it adds to the slowest messages of every broker.`,
		},
		remedy:
			"Stop other programs. On hardware, turn off deep sleep states (sudo cpupower idle-set -D 10); on a virtual machine, use dedicated cores.",
	},
	{
		name: "cores",
		read: ({ cores }) => ({
			verdict: cores >= ENOUGH_CORES ? "ok" : cores > 1 ? "warn" : "bad",
			figure: `${cores} core${cores === 1 ? "" : "s"}`,
		}),
		means: {
			ok: "Broker and load generator can each have their own.",
			warn: "Broker and load generator share them, so slow messages may be the fault of either.",
			bad: "Broker and load generator take turns on it, and each waits for the other.",
		},
		remedy: `Use a machine with ${ENOUGH_CORES} cores or more, or put the broker on another machine (--target existing).`,
	},
	{
		name: "governor",
		async read(machine) {
			const folder = "/sys/devices/system/cpu";
			const names = (await machine.list(folder)).filter((name) => /^cpu\d+$/.test(name));
			const read = await Promise.all(
				names.map((name) => machine.read(`${folder}/${name}/cpufreq/scaling_governor`)),
			);
			const figure = [...new Set(read.filter((text) => text !== null))].sort().join(", ");
			return figure === "" ? null : { verdict: figure === "performance" ? "ok" : "warn", figure };
		},
		means: {
			ok: "The cores run at full speed all the time.",
			warn: "Idle cores slow down, so low rates show higher latency than high rates.",
			unknown: "Not visible, as on most virtual machines: the host decides how fast the cores run.",
		},
		remedy: "sudo cpupower frequency-set -g performance",
	},
	{
		name: "clock source",
		async read(machine) {
			const figure = await machine.read(`${CLOCK}/current_clocksource`);
			if (figure === null) return null;
			const slow = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"].includes(figure);
			const others = await machine.read(`${CLOCK}/available_clocksource`);
			return {
				verdict: slow ? "bad" : figure === "xen" ? "warn" : "ok",
				figure,
				...(others?.split(/\s+/).includes("tsc") && {
					remedy: `echo tsc | sudo tee ${CLOCK}/current_clocksource`,
				}),
			};
		},
		means: {
			ok: "It counts nanoseconds, and is fast to read.",
			warn: "Each reading takes a system call, which adds to every timestamp.",
			bad: "It is too coarse or takes microseconds to read, and every timestamp is off by that.",
			unknown: "The kernel does not name its clock source.",
		},
		remedy: "Measure on another machine: this kernel offers no tsc.",
	},
	{
		name: "steal",
		async read(machine) {
			const times = cpuTimes(await machine.read("/proc/stat"));
			if (!times) return null;
			const share = times.all === 0 ? 0 : times.steal / times.all;
			return { verdict: share <= 0.02 ? "ok" : "warn", figure: `${percent(share)} since boot` };
		},
		means: {
			ok: "The host gives this machine all of its CPU time.",
			warn: "The host gives CPU time to other machines; messages that wait for it look slow.",
			unknown: "The kernel does not say how much CPU time the host takes.",
		},
		remedy: "Use a machine with dedicated cores, not a burstable one.",
	},
	{
		name: "CPU quota",
		async read(machine) {
			const groups = await machine.read("/proc/self/cgroup");
			if (groups === null) return null;
			const limits = await Promise.all(folders(groups).map((folder) => quota(machine, folder)));
			const cores = smallestOf(limits);
			return cores === Number.POSITIVE_INFINITY
				? { verdict: "ok", figure: "none" }
				: { verdict: "warn", figure: `${Number(cores.toPrecision(3))} of ${machine.cores} cores` };
		},
		means: {
			ok: "No control group limits the CPU time.",
			warn: "Once the share of a period (usually 100 ms) is used up, every process here stands still until the next period.",
			unknown: "The kernel does not say whether CPU is limited.",
		},
		remedy:
			"Remove the limit, or assign whole cores instead (docker --cpuset-cpus; Kubernetes: the static CPU manager).",
	},
	{
		name: "swap",
		async read(machine) {
			const text = (await machine.read("/proc/meminfo")) ?? "";
			const bytes = (name: string) =>
				Number(new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(text)?.[1]) * 1024;
			const used = bytes("SwapTotal") - bytes("SwapFree");
			if (Number.isNaN(used)) return null;
			return {
				verdict: used <= SWAP_BYTES ? "ok" : "warn",
				figure: `${formatBytes(used)} in use`,
			};
		},
		means: {
			ok: "No message waits for memory that was swapped to disk.",
			warn: "Memory was short; each page that comes back from disk during a run adds milliseconds of latency.",
			unknown: "The kernel does not say how much is swapped out.",
		},
		remedy: "Stop what uses the memory, then: sudo swapoff -a",
	},
	...[
		disk("disk of the cache", cacheOf, "the load generator and its tools", "MQBENCH_CACHE_DIR"),
		disk("disk for temporary files", ({ temporary }) => temporary, "the brokers' data", "TMPDIR"),
		disk("disk here", ({ cwd }) => cwd, "the results, in reports/", "--out"),
	],
];

/** What of this machine would bend a measurement, in the order in which it is reported. */
export const machineChecks: readonly Check[] = FACTS.map(({ means, remedy, ...fact }) => ({
	...fact,
	async look(machine) {
		const found = await fact.read(machine);
		if (found === null) return unknown(means.unknown ?? "It cannot be read.");
		const { verdict, figure } = found;
		return {
			verdict,
			figure,
			sentence: means[verdict] ?? "",
			remedy: verdict === "ok" ? null : (found.remedy ?? remedy),
		};
	},
}));

// --- internal ---

function cacheOf({ env }: Machine): string {
	return cacheFolder(env, process.platform);
}

function disk(
	name: string,
	folder: (machine: Machine) => string,
	holds: string,
	option: string,
): Fact {
	const sentence = `It holds ${holds}.`;
	return {
		name,
		async read(machine) {
			const free = await machine.freeBytes(folder(machine));
			if (free === null) return null;
			return {
				verdict: free >= TIGHT_BYTES ? "ok" : free >= FULL_BYTES ? "warn" : "bad",
				figure: `${formatBytes(free)} free`,
			};
		},
		means: { ok: sentence, warn: sentence, bad: sentence },
		remedy: `Free some space, or choose another folder with ${option}.`,
	};
}

/** All cores together, in ticks since boot. */
function cpuTimes(stat: string | null): { all: number; idle: number; steal: number } | null {
	const line = /^cpu +([\d ]+)$/m.exec(stat ?? "")?.[1];
	if (line === undefined) return null;
	// user nice system idle iowait irq softirq steal; guest times are part of user and nice already.
	const ticks = line.trim().split(/ +/).map(Number).slice(0, 8);
	const [, , , idle = 0, iowait = 0, , , stolen = 0] = ticks;
	return { all: ticks.reduce((sum, one) => sum + one, 0), idle: idle + iowait, steal: stolen };
}

function percent(share: number): string {
	return `${Number((share * 100).toPrecision(2))} %`;
}

/** Folders of our group and of all groups around it: a limit on any of them holds for us. Version 2, then 1. */
function folders(groups: string): string[] {
	return groups.split("\n").flatMap((line) => {
		const [, controllers = "", group = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
		if (controllers !== "" && !controllers.split(",").includes("cpu")) return [];
		const root = path.posix.join("/sys/fs/cgroup", controllers);
		return around(group).map((one) => path.posix.join(root, one));
	});
}

/** "/a/b" -> "/a/b", "/a", "/". In a container the path may lead out of what is mounted; the root is then ours. */
function around(group: string): string[] {
	const one = path.posix.normalize(group);
	return one === "/" || one === "." ? [one] : [one, ...around(path.posix.dirname(one))];
}

/** Cores that the group may use; Infinity: as many as there are. */
async function quota(machine: Machine, folder: string): Promise<number> {
	const [max, us, period] = await Promise.all(
		["cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"].map((file) =>
			machine.read(path.posix.join(folder, file)),
		),
	);
	const [used, of] = max ? max.split(" ").map(Number) : [us, period].map(Number);
	// "max" is no number, -1 is the older word for it.
	return used && of && used > 0 ? used / of : Number.POSITIVE_INFINITY;
}
