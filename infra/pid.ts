import { readFileSync } from "node:fs";

/** Whether a process with this number exists, ours or somebody else's. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}

/** Processes that the main thread of `pid` has started and that have not ended; none where /proc does not tell. */
export function childrenOf(pid: number): number[] {
	try {
		return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
			.split(" ")
			.filter(Boolean)
			.map(Number);
	} catch {
		return [];
	}
}

/** A process and all that it has started, and they, as far as /proc tells. */
export function treeOf(pid: number): number[] {
	return [pid, ...childrenOf(pid).flatMap(treeOf)];
}
