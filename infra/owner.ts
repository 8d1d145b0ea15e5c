import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import os from "node:os";
import { sha256 } from "../runner/sha256.ts";
import { isAlive } from "./pid.ts";
import { readOr } from "./read-or.ts";

/**
 * Whether the process of an owner's text has certainly ended. Several machines and containers may share an engine or a folder, and a pid means
 * something only where it comes from.
 */
export function isGone(owner: string): boolean {
	const parsed = /^(\d+):(\w*)@(\w+)\.(\w+)\.(\w+)$/.exec(owner);
	if (!parsed) return false;
	const [, pid, began, ...there] = parsed;
	const [host, boot, space] = place();
	if (there[0] !== host) return false;
	// The machine has been restarted since.
	if (there[1] !== boot) return true;
	if (there[2] !== space) return false;
	return !isAlive(Number(pid)) || beginningOf(Number(pid)) !== began;
}

/** Whether the owner's pid means something here: on another machine, or in another container, the same number is another process. */
export function isHere(owner: string): boolean {
	return owner.endsWith(`@${place().join(".")}`);
}

/** "4711:88123@3f2a.9b01.77de": pid, start time of the process, and where the pid is valid: machine, its boot, and container. */
export function ownerText(pid: number): string {
	return `${pid}:${beginningOf(pid)}@${place().join(".")}`;
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
	const env = { ...process.env, LC_ALL: "C" };
	const ps = () => execFileSync("ps", ["-o", "lstart=", "-p", `${pid}`], { encoding: "utf8", env });
	return readOr("", ps).replaceAll(/\W+/g, "");
}

let known: readonly string[] | undefined;

/** The machine, its current boot, and where pids are valid: containers have their own. */
function place(): readonly string[] {
	known ??= [
		os.hostname(),
		readOr("", () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
		readOr("", () => readlinkSync("/proc/self/ns/pid")),
	].map((fact) => sha256(fact).slice(0, 8));
	return known;
}
