import path from "node:path";
import { type Check, type Found, ok, unknown, warn } from "./finding.ts";
import type { Machine } from "./this-machine.ts";

/** The control group: how much CPU it leaves us, and how often it has stopped us so far. */
export const quotaCheck: Check = { name: "CPU quota", alone: false, look };

// --- internal ---

async function look(machine: Machine): Promise<Found> {
	const groups = await machine.read("/proc/self/cgroup");
	if (groups === null) return unknown("The kernel does not say whether CPU is limited.");
	const limits = await Promise.all(folders(groups).map((folder) => limit(machine, folder)));
	const tightest = limits.filter((one) => one !== null).sort((a, b) => a.cores - b.cores)[0];
	if (!tightest) return ok("none", "No control group limits the CPU time.");
	const { cores, throttled, periods } = tightest;
	return warn(
		`${Number(cores.toPrecision(3))} of ${machine.cores} cores${throttled === null ? "" : `; stopped in ${throttled} of ${periods} periods so far`}`,
		"Once the share of a period (usually 100 ms) is used up, every process here stands still until the next period.",
		"Remove the limit, or assign whole cores instead (docker --cpuset-cpus; Kubernetes: the static CPU manager).",
	);
}

interface Limit {
	readonly cores: number;
	/** Periods in which it was used up, of all periods in which we ran. */
	readonly throttled: number | null;
	readonly periods: number | null;
}

/** Folders of our group and of all groups around it: a limit on any of them holds for us. Version 2, then 1. */
function folders(groups: string): string[] {
	return groups.split("\n").flatMap((line) => {
		const [, controllers = "", group = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
		const root =
			controllers === ""
				? ["/sys/fs/cgroup"]
				: controllers.split(",").includes("cpu")
					? ["/sys/fs/cgroup/cpu", `/sys/fs/cgroup/${controllers}`]
					: [];
		return root.flatMap((base) => around(group).map((one) => path.posix.join(base, one)));
	});
}

/** "/a/b" -> "/a/b", "/a", "/". In a container the path may lead out of what is mounted; the root is then ours. */
function around(group: string): string[] {
	const all: string[] = [];
	for (let one = path.posix.normalize(group); ; one = path.posix.dirname(one)) {
		all.push(one);
		if (one === "/" || one === ".") return all;
	}
}

async function limit(machine: Machine, folder: string): Promise<Limit | null> {
	const [max, quota, period, stat] = await Promise.all(
		["cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.stat"].map((file) =>
			machine.read(path.posix.join(folder, file)),
		),
	);
	const [us, of] = max ? max.split(" ").map(Number) : [quota, period].map(Number);
	// "max" is no number, -1 is the older word for it.
	if (!us || !of || us <= 0) return null;
	const count = (name: string) => {
		const value = new RegExp(`^${name} (\\d+)$`, "m").exec(stat ?? "")?.[1];
		return value === undefined ? null : Number(value);
	};
	return { cores: us / of, throttled: count("nr_throttled"), periods: count("nr_periods") };
}
