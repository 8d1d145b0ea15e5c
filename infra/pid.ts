import { readFileSync } from "node:fs";

/** Whether a process with this pid exists, of any user. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}

/** Running children of the main thread of `pid`; none without /proc. */
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

/** A process and all of its descendants, as far as /proc shows them. */
export function treeOf(pid: number): number[] {
	return [pid, ...childrenOf(pid).flatMap(treeOf)];
}
