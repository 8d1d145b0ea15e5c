import type { Machine } from "./this-machine.ts";

export interface FakeMachineParts
	extends Partial<Omit<Machine, "read" | "run" | "which" | "freeBytes">> {
	/** By path, for /proc and /sys. */
	readonly files?: Readonly<Record<string, string>>;
	/** Output by command line: "java -version". */
	readonly commands?: Readonly<Record<string, string>>;
	readonly programs?: readonly string[];
	/** For every disk; null if unreadable. */
	readonly free?: number | null;
}

/** Unreadable except for the parts that a test gives. */
export function fakeMachine({
	files = {},
	commands = {},
	programs = [],
	free = null,
	...parts
}: FakeMachineParts = {}): Machine {
	return {
		env: { HOME: "/home/me" },
		cwd: "/home/me/work",
		temporary: "/tmp",
		cores: 8,
		cpuQuotaCores: null,
		governor: async () => null,
		read: async (file) => files[file] ?? null,
		sleep: async () => {},
		run: async (program, ...args) => commands[[program, ...args].join(" ")] ?? null,
		which: async (program) => (programs.includes(program) ? `/usr/bin/${program}` : null),
		freeBytes: async () => free,
		wakeUp: async () => {
			throw new Error("no timer");
		},
		go: async () => {
			throw new Error("no process");
		},
		generator: async () => {
			throw new Error("no cache");
		},
		...parts,
	};
}
