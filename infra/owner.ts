import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import os from "node:os";
import { sha256 } from "../runner/sha256.ts";
import { isAlive } from "./pid.ts";

/**
 * Whether the process of an owner's text has certainly ended. Several machines and containers may share an engine or a folder, and a pid means
 * something only where it comes from.
 */
export function isGone(owner: string): boolean {
	const parsed = /^(\d+):(\w*)@(\w+)\.(\w+)\.(\w+)$/.exec(owner);
	if (!parsed) return false;
	const [, pid, began, host, boot, space] = parsed;
	const here = place();
	if (host !== here.host) return false;
	// The machine has been restarted since.
	if (boot !== here.boot) return true;
	if (space !== here.space) return false;
	return !isAlive(Number(pid)) || beginningOf(Number(pid)) !== began;
}

/** Whether the owner's pid means something here: on another machine, or in another container, the same number is another process. */
export function isHere(owner: string): boolean {
	return owner.split("@")[1] === ownerText(process.pid).split("@")[1];
}

/** "4711:88123@3f2a.9b01.77de": pid, start time of the process, and where the pid is valid: machine, its boot, and container. */
export function ownerText(pid: number): string {
	const { host, boot, space } = place();
	return `${pid}:${beginningOf(pid)}@${host}.${boot}.${space}`;
}

// --- internal ---

/** Pids are reused: the process is the same only if its start time is, too. The unit depends on the system. */
function beginningOf(pid: number): string {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		// proc(5): field 22; the name, which may contain blanks, is field 2.
		return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
	} catch {
		if (process.platform === "linux" || process.platform === "win32") return "";
	}
	try {
		return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
			encoding: "utf8",
			env: { ...process.env, LC_ALL: "C" },
		}).replaceAll(/\W+/g, "");
	} catch {
		return "";
	}
}

interface Place {
	readonly host: string;
	/** The machine's current boot. */
	readonly boot: string;
	/** Where pids are valid: containers have their own. */
	readonly space: string;
}

let known: Place | undefined;

function place(): Place {
	known ??= {
		host: brief(os.hostname()),
		boot: brief(attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"))),
		space: brief(attempt(() => readlinkSync("/proc/self/ns/pid"))),
	};
	return known;
}

function brief(fact: string): string {
	return sha256(fact).slice(0, 8);
}

function attempt(read: () => string): string {
	try {
		return read();
	} catch {
		return "";
	}
}
