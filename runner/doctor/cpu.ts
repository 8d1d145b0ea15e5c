import { formatCount, formatDuration } from "../units.ts";
import { bad, type Check, type Found, ok, unknown, warn } from "./finding.ts";
import type { Machine } from "./this-machine.ts";
import { timeAt, timesText } from "./times.ts";

/** The cores: how many, how fast they wake up, and who else has them. */
export const cpuChecks: readonly Check[] = [
	{ name: "load", alone: true, look: load },
	{ name: "wake-up", alone: true, look: wakeUp },
	{ name: "cores", alone: false, look: cores },
	{ name: "governor", alone: false, look: governor },
	{ name: "clock source", alone: false, look: clockSource },
	{ name: "steal", alone: false, look: steal },
];

// --- internal ---

/** From so many cores on broker and generator do not share one. */
const ENOUGH_CORES = 4;

function cores({ cores: count }: Machine): Found {
	const figure = `${count} core${count === 1 ? "" : "s"}`;
	if (count >= ENOUGH_CORES)
		return ok(figure, "Broker and load generator can each have their own.");
	return (count > 1 ? warn : bad)(
		figure,
		count > 1
			? "Broker and load generator share them, so slow messages may be the fault of either."
			: "Broker and load generator take turns on it, and each waits for the other.",
		`Use a machine with ${ENOUGH_CORES} cores or more, or put the broker on another machine (--target existing).`,
	);
}

async function governor(machine: Machine): Promise<Found> {
	const folder = "/sys/devices/system/cpu";
	const names = (await machine.list(folder)).filter((name) => /^cpu\d+$/.test(name));
	const read = await Promise.all(
		names.map((name) => machine.read(`${folder}/${name}/cpufreq/scaling_governor`)),
	);
	const governors = [...new Set(read.filter((text) => text !== null))].sort();
	if (governors.length === 0)
		return unknown(
			"Not visible, as on most virtual machines: the host decides how fast the cores run.",
		);
	const figure = governors.join(", ");
	if (figure === "performance") return ok(figure, "The cores run at full speed all the time.");
	return warn(
		figure,
		"Idle cores slow down, so low rates show higher latency than high rates.",
		"sudo cpupower frequency-set -g performance",
	);
}

async function clockSource(machine: Machine): Promise<Found> {
	const folder = "/sys/devices/system/clocksource/clocksource0";
	const source = await machine.read(`${folder}/current_clocksource`);
	if (source === null) return unknown("The kernel does not name its clock source.");
	const slow = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"].includes(source);
	if (!slow && source !== "xen") return ok(source, "It counts nanoseconds, and is fast to read.");
	const others = await machine.read(`${folder}/available_clocksource`);
	return (slow ? bad : warn)(
		source,
		slow
			? "It is too coarse or takes microseconds to read, and every timestamp is off by that."
			: "Each reading takes a system call, which adds to every timestamp.",
		others?.split(/\s+/).includes("tsc")
			? `echo tsc | sudo tee ${folder}/current_clocksource`
			: "Measure on another machine: this kernel offers no tsc.",
	);
}

/** Share of the time, since boot, in which the host gave our cores to somebody else. */
async function steal(machine: Machine): Promise<Found> {
	const times = cpuTimes(await machine.read("/proc/stat"));
	if (!times) return unknown("The kernel does not say how much CPU time the host takes.");
	const share = times.all === 0 ? 0 : times.steal / times.all;
	const figure = `${percent(share)} since boot`;
	if (share <= 0.02) return ok(figure, "The host gives this machine all of its CPU time.");
	return warn(
		figure,
		"The host gives CPU time to other machines; messages that wait for it look slow.",
		"Use a machine with dedicated cores, not a burstable one.",
	);
}

async function load(machine: Machine): Promise<Found> {
	const before = cpuTimes(await machine.read("/proc/stat"));
	await machine.sleep(LOAD_MS);
	const after = cpuTimes(await machine.read("/proc/stat"));
	const minute = (await machine.read("/proc/loadavg"))?.split(" ")[0];
	if (!before || !after || after.all <= before.all)
		return unknown("The kernel does not say how busy the cores are.");
	const share = 1 - (after.idle - before.idle) / (after.all - before.all);
	const figure = `${percent(share)} busy${minute === undefined ? "" : `, load ${minute} over the last minute`}`;
	if (share <= 0.2) return ok(figure, "No other program keeps the cores busy now.");
	return warn(
		figure,
		"Other programs keep the cores busy now, and would slow down what you measure.",
		"Stop them (top shows which), or wait until they finish.",
	);
}

async function wakeUp(machine: Machine): Promise<Found> {
	const times = await machine.wakeUp();
	if (times.length === 0) return unknown("Nothing could be measured.");
	const figure = timesText(times);
	const what = `How late this machine wakes a sleeping thread (Atomics.wait, 1 ms, ${formatCount(times.length)} times).`;
	if (timeAt(times, 99) <= LATE_NS) return ok(figure, what);
	return warn(
		figure,
		`${what} Above ${formatDuration(LATE_NS)} it adds to the slowest messages of every broker.`,
		"Stop other programs. On hardware, turn off deep sleep states (sudo cpupower idle-set -D 10); on a virtual machine, use dedicated cores.",
	);
}

const LOAD_MS = 300;
const LATE_NS = 1e6;

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
