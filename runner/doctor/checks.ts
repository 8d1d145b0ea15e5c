import { cacheFolder } from "../../infra/programs/cache.ts";
import { brokers, builtPrograms } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { percent } from "../text/percent.ts";
import { formatBytes, formatDuration, plural } from "../units.ts";
import { SLOW_CLOCKS } from "../verdict/checks/machine.ts";
import type { Check, Reading, Verdict } from "./finding.ts";
import type { Machine } from "./this-machine.ts";

const LOAD_MS = 300;
const LATE_NS = 1e6;
/** From here on broker and generator need not share a core. */
const ENOUGH_CORES = 4;
const SWAP_BYTES = 64 * 1024 ** 2;
const TIGHT_BYTES = 1024 ** 3;
const FULL_BYTES = 50 * 1024 ** 2;
const CLOCK = "/sys/devices/system/clocksource/clocksource0";
const WAKES = "How late this machine wakes a thread that sleeps for 1 ms (Atomics.wait).";
const PROGRAMS = ["k6", ...builtPrograms.map(({ name }) => name), "agent"].join(", ");

/** In the order of the report. */
const ofMachine: readonly Check[] = [
	{
		name: "load",
		alone: true,
		async read(machine) {
			const before = cpuTimes(await machine.read("/proc/stat"));
			await machine.sleep(LOAD_MS);
			const after = cpuTimes(await machine.read("/proc/stat"));
			if (!before || !after || after.all <= before.all) return null;
			const share = 1 - (after.idle - before.idle) / (after.all - before.all);
			return { verdict: okIf(share <= 0.2), figure: `${percent(share)} busy` };
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
			const at = (part: number) => times[Math.max(1, Math.ceil(times.length * part)) - 1] ?? 0;
			const figure = `p50 ${formatDuration(at(0.5))}, p99 ${formatDuration(at(0.99))}`;
			return { verdict: okIf(at(0.99) <= LATE_NS), figure };
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
			figure: plural(cores, "core"),
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
			const figure = await machine.governor();
			return figure === null ? null : { verdict: okIf(figure === "performance"), figure };
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
			const slow = SLOW_CLOCKS.includes(figure);
			return { verdict: slow ? "bad" : okIf(figure !== "xen"), figure };
		},
		means: {
			ok: "It counts nanoseconds, and is fast to read.",
			warn: "Each reading takes a system call, which adds to every timestamp.",
			bad: "It is too coarse or takes microseconds to read, and every timestamp is off by that.",
			unknown: "The kernel does not name its clock source.",
		},
		remedy: `echo tsc | sudo tee ${CLOCK}/current_clocksource\nIf the kernel refuses it, it has no tsc: measure on another machine.`,
	},
	{
		name: "steal",
		async read(machine) {
			const times = cpuTimes(await machine.read("/proc/stat"));
			if (!times) return null;
			const share = times.all === 0 ? 0 : times.steal / times.all;
			return { verdict: okIf(share <= 0.02), figure: `${percent(share)} since boot` };
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
		read({ cores, cpuQuotaCores: quota }) {
			if (quota === null) return { verdict: "ok", figure: "none" };
			return { verdict: "warn", figure: `${Number(quota.toPrecision(3))} of ${cores} cores` };
		},
		means: {
			ok: "No control group limits the CPU time.",
			warn: "Once the share of a period (usually 100 ms) is used up, every process here stands still until the next period.",
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
			return { verdict: okIf(used <= SWAP_BYTES), figure: `${formatBytes(used)} in use` };
		},
		means: {
			ok: "No message waits for memory that was swapped to disk.",
			warn: "Memory was short; each page that comes back from disk during a run adds milliseconds of latency.",
			unknown: "The kernel does not say how much is swapped out.",
		},
		remedy: "Stop what uses the memory, then: sudo swapoff -a",
	},
	disk(
		"disk of the cache",
		({ env }) => cacheFolder(env, process.platform),
		"the load generator and its tools",
		"MQBENCH_CACHE_DIR",
	),
	disk("disk for temporary files", ({ temporary }) => temporary, "the brokers' data", "TMPDIR"),
	disk("disk here", ({ cwd }) => cwd, "the results, in reports/", "--out"),
];

/** Without the load generator's parts no run is possible; a broker's own needs (target local) count against that broker only. */
const ofPrograms: readonly Check[] = [
	{ name: "generator", read: generator },
	{
		name: "Go",
		async read(machine) {
			const { from } = await machine.generator();
			try {
				return { verdict: "ok", figure: await machine.go() };
			} catch (error) {
				// It did not answer in time.
				if (!(error instanceof MqbenchError) || error.code === "interrupted") return null;
				const figure = error.code === "go-missing" ? "not found" : "too old";
				return from === "build"
					? { verdict: "bad", figure, remedy: error.message }
					: { verdict: "info", figure };
			}
		},
		means: {
			ok: "New enough to build the load generator.",
			info: "Not needed now: the load generator is built already.",
			bad: "The load generator has to be built once, with Go.",
		},
	},
	...Object.values(brokers).flatMap(({ title, install }): Check[] =>
		install === null
			? []
			: [
					{
						name: title,
						async read(machine) {
							const { here, figure, sentence } = await install.look(machine);
							return { verdict: here ? "ok" : "info", figure, sentence };
						},
					},
				],
	),
	{
		name: "Docker",
		async read(machine) {
			const text = await machine.run("docker", "version", "--format", "{{.Server.Version}}");
			const version = /^\d\S*/.exec(text ?? "")?.[0];
			return version === undefined
				? { verdict: "info", figure: "no engine answers this user" }
				: { verdict: "ok", figure: version };
		},
		means: {
			ok: "Brokers and clients can be containers (target: docker, clients: { docker: n }).",
			info: "Needed only for brokers and clients in containers.",
		},
	},
];

export const checks: readonly Check[] = [...ofMachine, ...ofPrograms];

// --- internal ---

function okIf(good: boolean): Verdict {
	return good ? "ok" : "warn";
}

function disk(
	name: string,
	folder: (machine: Machine) => string,
	holds: string,
	option: string,
): Check {
	const sentence = `It holds ${holds}.`;
	return {
		name,
		async read(machine) {
			const free = await machine.freeBytes(folder(machine));
			if (free === null) return null;
			return {
				verdict: free >= FULL_BYTES ? okIf(free >= TIGHT_BYTES) : "bad",
				figure: `${formatBytes(free)} free`,
				sentence,
			};
		},
		remedy: `Free some space, or choose another folder with ${option}.`,
	};
}

function cpuTimes(stat: string | null): { all: number; idle: number; steal: number } | null {
	const line = /^cpu +([\d ]+)$/m.exec(stat ?? "")?.[1];
	if (line === undefined) return null;
	// user nice system idle iowait irq softirq steal; user and nice already include guest times.
	const ticks = line.trim().split(/ +/).map(Number).slice(0, 8);
	const [, , , idle = 0, iowait = 0, , , stolen = 0] = ticks;
	return { all: ticks.reduce((sum, one) => sum + one, 0), idle: idle + iowait, steal: stolen };
}

async function generator(machine: Machine): Promise<Reading> {
	const found = await machine.generator();
	if (found.from === "MQBENCH_K6")
		return "k6" in found
			? reading("ok", found.k6, `MQBENCH_K6 names it; ${PROGRAMS} are in one folder.`)
			: {
					...reading("bad", "unusable", "MQBENCH_K6 is set, so mqbench uses no other."),
					remedy: found.unusable,
				};
	if (found.from === "package")
		return reading("ok", found.name, `${PROGRAMS} are the package's, built with ${found.go}.`);
	const why = found.why === null ? "" : ` ${found.why}`;
	if (found.from === "cache")
		return reading(
			"ok",
			`built ${formatDuration(Math.max(0, found.ageMs) * 1e6)} ago with ${found.go}`,
			`${PROGRAMS} are in the cache (${found.key}).${why}`,
		);
	return reading(
		"info",
		found.damaged ? "damaged in the cache" : "not built yet",
		`The first run builds ${PROGRAMS} with Go, which takes a minute or two (cache: ${found.key}).${why}`,
	);
}

function reading(verdict: Verdict, figure: string, sentence: string): Reading {
	return { verdict, figure, sentence };
}
