import { readFileSync } from "node:fs";
import { readOr } from "./read-or.ts";

/** Whether a process with this pid exists, of any user. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}

/** Signals a process, unless it has just ended. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
	try {
		process.kill(pid, name);
	} catch {
		// Whoever waits for it notices that.
	}
}

/** Running children of the main thread of `pid`; none without /proc. */
export function childrenOf(pid: number): number[] {
	const file = `/proc/${pid}/task/${pid}/children`;
	const text = readOr("", () => readFileSync(file, "utf8"));
	return text.split(" ").filter(Boolean).map(Number);
}

/** A process and all of its descendants, as far as /proc shows them. */
export function treeOf(pid: number): number[] {
	return [pid, ...childrenOf(pid).flatMap(treeOf)];
}
