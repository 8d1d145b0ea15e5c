import { readdirSync, readFileSync } from "node:fs";

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

/** For tests: the processes of `some` that are still there; a zombie is not. */
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
	return pids().map((pid) => read(`/proc/${pid}/cmdline`));
}

// --- internal ---

/** "42 (name) S 1 ...": the name may hold blanks and parentheses; states Z and X are zombies. */
function processes(): Process[] {
	return pids().flatMap((pid) => {
		const stat = read(`/proc/${pid}/stat`);
		const end = stat.lastIndexOf(")");
		const [state = "X", parent] = stat.slice(end + 2).split(" ");
		const name = stat.slice(stat.indexOf("(") + 1, end);
		return end < 0 || /^[ZX]/.test(state) ? [] : [{ pid, parent: Number(parent), name }];
	});
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
