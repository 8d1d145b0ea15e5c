import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** For tests: a process of this machine. */
export interface Process {
	readonly pid: number;
	readonly parent: number;
	/** "nats-server", "k6", "agent". */
	readonly name: string;
}

/** For tests: all processes below `pid`, at any depth. */
export function descendants(pid: number): Process[] {
	const all = processes();
	const found: Process[] = [];
	let parents = [pid];
	while (parents.length > 0) {
		const children = all.filter(({ parent }) => parents.includes(parent));
		found.push(...children);
		parents = children.map((child) => child.pid);
	}
	return found;
}

/** For tests: the process of that name below `pid`, or undefined. */
export function descendant(pid: number, name: string): Process | undefined {
	return descendants(pid).find((process) => process.name === name);
}

/** For tests: those of `some` that are still there; one that nobody has waited for yet (a zombie) is not. */
export function alive(some: readonly Process[]): Process[] {
	const now = new Set(processes().map((p) => `${p.pid} ${p.name}`));
	return some.filter((p) => now.has(`${p.pid} ${p.name}`));
}

/** For tests: whether a process runs, zombies apart. */
export function runs(pid: number): boolean {
	return processes().some((process) => process.pid === pid);
}

/** For tests: command lines of all processes. */
export function commandLines(): string[] {
	if (!PROC) return ps("args=");
	return pids().map((pid) => read(`/proc/${pid}/cmdline`));
}

// --- internal ---

/** Slim Linux images have no ps, other systems no /proc. */
const PROC = existsSync("/proc/self/stat");

function processes(): Process[] {
	const all = PROC ? pids().flatMap(parse) : ps("pid=,ppid=,state=,comm=").flatMap(parsePs);
	return all.filter(({ state }) => !/^[ZX]/.test(state));
}

type Seen = Process & { readonly state: string };

/** "42 (name) S 1 ...": the name may hold blanks and parentheses. */
function parse(pid: number): Seen[] {
	const stat = read(`/proc/${pid}/stat`);
	const end = stat.lastIndexOf(")");
	if (end < 0) return [];
	const [state = "", parent] = stat.slice(end + 2).split(" ");
	const name = stat.slice(stat.indexOf("(") + 1, end);
	return [{ pid, parent: Number(parent), state, name }];
}

function parsePs(line: string): Seen[] {
	const [, pid, parent, state = "", command = ""] =
		/^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
	if (!pid) return [];
	const name = path.basename(command);
	return [{ pid: Number(pid), parent: Number(parent), state, name }];
}

function ps(columns: string): string[] {
	return execFileSync("ps", ["-axo", columns], { encoding: "utf8" }).split("\n");
}

function pids(): number[] {
	return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function read(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
