import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { treeOf } from "./pid.ts";

/** A process of ours behind `agent`, which ends it when mqbench is gone, kill -9 included. */
export interface Supervised {
	readonly pid: number;
	/** Resolves when the process has ended and its output is read. Never rejects. */
	readonly ended: Promise<Ended>;
	/** Writes one line to the process's standard input; only where `control` asked for one. */
	say(line: string): void;
	/** Sends one signal to the process, through agent. */
	signal(name: "SIGINT" | "SIGTERM"): void;
	/** Ends it for sure: agent interrupts it, and kills its process group after the grace. */
	abandon(): void;
	/** Kills agent and everything below it at once: for when agent itself does not answer. */
	kill(): void;
}

export interface Ended {
	/** Exit code; null when a signal ended it. */
	readonly code: number | null;
	readonly signal: string | null;
}

export interface SupervisedOptions {
	readonly agent: string;
	readonly argv: readonly string[];
	readonly cwd: string;
	/** All of its environment: nothing is inherited. */
	readonly env: Readonly<Record<string, string>>;
	/** How long it may take to end by itself once mqbench is gone or has abandoned it. */
	readonly graceMs: number;
	/** Whether the process has a standard input, which takes what is said. Default: it has none. */
	readonly control?: boolean;
	onStdout(line: string): void;
	onStderr(line: string): void;
}

/** Starts `argv` behind agent. A program that cannot be started ends with code 127 and a line on stderr. */
export function startSupervised(options: SupervisedOptions): Supervised {
	const child = spawn(
		options.agent,
		[
			"supervise",
			...(options.control ? ["-control"] : []),
			"-grace",
			`${options.graceMs}ms`,
			"--",
			...options.argv,
		],
		{
			cwd: options.cwd,
			env: { ...options.env },
			stdio: ["pipe", "pipe", "pipe"],
			// Its own group: the terminal's Ctrl-C reaches mqbench alone, which decides.
			detached: true,
		},
	);
	// Agent may be gone before its pipe is closed; that is no error.
	child.stdin?.on("error", () => {});
	lines(child, "stdout", options.onStdout);
	lines(child, "stderr", options.onStderr);
	const ended = new Promise<Ended>((resolve) => {
		child.once("error", (error) => {
			options.onStderr(`cannot start ${options.agent}: ${error.message}`);
			resolve({ code: 127, signal: null });
		});
		child.once("close", (code, signal) => resolve(endOf(code, signal)));
	});
	return {
		pid: child.pid ?? -1,
		ended,
		say(line) {
			if (!options.control) throw new Error("nothing can be said to it");
			child.stdin?.write(`say ${line}\n`);
		},
		signal: (name) => void child.kill(name),
		abandon: () => void child.stdin?.destroy(),
		kill() {
			if (child.pid === undefined) return;
			// A stopped process takes no signal but this one.
			for (const pid of treeOf(child.pid))
				try {
					process.kill(pid, "SIGKILL");
				} catch {
					// It is gone already.
				}
		},
	};
}

/** The smallest environment in which programs run: where to find others, and a home of their own. */
export function bareEnvironment(
	home: string,
	env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
	const bare: Record<string, string> = { HOME: home };
	for (const name of ["PATH", "TMPDIR", "SystemRoot", "TEMP"]) {
		const value = env[name];
		if (value !== undefined) bare[name] = value;
	}
	return bare;
}

/** "exit code 1", "SIGKILL": how a process ended, for people. */
export function describeEnd(ended: Ended): string {
	return ended.signal ?? `exit code ${ended.code}`;
}

/** How a command behind agent ended, by agent's own end: it exits with 128 + n when signal n ended its command. */
export function endOf(code: number | null, signal: string | null): Ended {
	if (code === null) return { code, signal };
	const name = SIGNALS[code - 128];
	return name ? { code: null, signal: name } : { code, signal: null };
}

// --- internal ---

function lines(
	child: ChildProcess,
	stream: "stdout" | "stderr",
	take: (line: string) => void,
): void {
	const input = child[stream];
	if (input) createInterface({ input, crlfDelay: Infinity }).on("line", take);
}

const SIGNALS: Readonly<Record<number, string>> = {
	2: "SIGINT",
	6: "SIGABRT",
	9: "SIGKILL",
	11: "SIGSEGV",
	15: "SIGTERM",
};
