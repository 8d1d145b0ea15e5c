import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { reasonOf } from "../../runner/reason.ts";
import { findOnPath } from "../local/program.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Why packets of containers cannot be delayed here, as the end of a sentence; null if they can. Tried on a separate network. */
export async function cannotDelay(
	env: Env,
	user: number | undefined = process.getuid?.(),
	find: typeof findOnPath = findOnPath,
): Promise<string | null> {
	const [unshare, nsenter, tc] = ["unshare", "nsenter", "tc"].map((program) => find(program, env));
	if (!unshare || !nsenter) return "it needs nsenter and unshare on PATH (package util-linux)";
	if (!tc) return "it needs tc on PATH (package iproute2)";
	if (user !== 0) return "it needs root to change the network of a container";
	try {
		await run(unshare, ["--net", tc, ...netem("lo", 1_000_000)]);
		return null;
	} catch (error) {
		return `this kernel has no netem, which delays packets (${wordsOf(error)}; modprobe sch_netem may load it)`;
	}
}

/** Delays packets sent by a process's network; the returned function ends that. */
export async function delayPackets(
	pid: number,
	delayNs: number,
	env: Env,
): Promise<() => Promise<void>> {
	const devices = devicesIn(await readFile(`/proc/${pid}/net/dev`, "utf8"));
	const nsenter = findOnPath("nsenter", env) ?? "nsenter";
	const within = async (args: readonly string[]) => {
		try {
			await run(nsenter, [...delayCommand(pid, env), ...args]);
		} catch (error) {
			throw new Error(`its packets cannot be delayed (${wordsOf(error)})`);
		}
	};
	for (const device of devices) await within(netem(device, delayNs));
	return async () => {
		for (const device of devices) await within(["qdisc", "del", "dev", device, "root"]);
	};
}

/** Put before tc's arguments: enters only the network of that process. */
export function delayCommand(pid: number, env: Env): string[] {
	return [`--target=${pid}`, "--net", "--", findOnPath("tc", env) ?? "tc"];
}

/** tc's arguments, with a limit high enough for all waiting packets: netem drops packets beyond its default of 1000. */
export function netem(device: string, delayNs: number): string[] {
	const delay = `${Math.max(1, Math.round(delayNs / 1000))}us`;
	return ["qdisc", "add", "dev", device, "root", "netem", "delay", delay, "limit", "1000000"];
}

/** Names of network devices in /proc/<pid>/net/dev, without the loopback. */
export function devicesIn(text: string): string[] {
	return [...text.matchAll(/^\s*([^\s:]+):/gm)]
		.map(([, name]) => name ?? "")
		.filter((name) => name !== "lo");
}

// --- internal ---

const run = promisify(execFile);

function wordsOf(error: unknown): string {
	const { stderr } = error as { stderr?: string };
	const line = stderr?.trim().split("\n")[0] ?? "";
	return line.replace(/^Error: /, "").replace(/\.$/, "") || reasonOf(error);
}
