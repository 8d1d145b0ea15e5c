import type { Machine } from "./this-machine.ts";

export interface FakeMachineParts
	extends Partial<Omit<Machine, "read" | "run" | "which" | "freeBytes">> {
	/** Text by path: /proc and /sys as far as a test cares. */
	readonly files?: Readonly<Record<string, string>>;
	/** What a command line prints: "java -version". */
	readonly commands?: Readonly<Record<string, string>>;
	/** Programs on PATH. */
	readonly programs?: readonly string[];
	/** Free bytes of every disk; null: unreadable. */
	readonly free?: number | null;
}

/** A machine for tests: nothing can be read of it but what a test gives. */
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
		aws: async () => {
			throw new Error("no project");
		},
		...parts,
	};
}
