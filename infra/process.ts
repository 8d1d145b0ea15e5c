import { type ChildProcessByStdio, spawn } from "node:child_process";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { sendSignal, treeOf } from "./pid.ts";

/** A process of ours behind `agent`, which ends it when mqbench is gone, even after kill -9. */
export interface Supervised {
	readonly pid: number;
	/** Resolves when the process has ended and its output is read. Never rejects. */
	readonly ended: Promise<Ended>;
	/** Writes one line to the process's standard input; only with `control`. */
	say(line: string): void;
	/** Sends one signal to the process, through agent. */
	signal(name: "SIGINT" | "SIGTERM"): void;
	/** Ends it: agent interrupts it, and kills its process group after the grace period. */
	abandon(): void;
	/** Kills agent and everything below it at once, for when agent itself does not answer. */
	kill(): void;
}

export interface Ended {
	/** Exit code; null when a signal ended it. */
	readonly code: number | null;
	readonly signal: string | null;
	/** The reason for its end from elsewhere, the end of a sentence: "its node has evicted it". Absent without one. */
	readonly why?: string;
}

export interface SupervisedOptions {
	readonly agent: string;
	readonly argv: readonly string[];
	readonly cwd: string;
	/** Its whole environment: nothing is inherited. */
	readonly env: Readonly<Record<string, string>>;
	/** How long it may take to end by itself after mqbench is gone or has abandoned it. */
	readonly graceMs: number;
	/** Whether the process has a standard input for `say`. Default: no. */
	readonly control?: boolean;
	onStdout(line: string): void;
	onStderr(line: string): void;
}

/** Starts `argv` behind agent. If the program cannot be started, it ends with code 127 and a line on stderr. */
export function startSupervised(options: SupervisedOptions): Supervised {
	const { agent, argv, cwd, env, graceMs, control } = options;
	const words = supervise(argv, graceMs, control ? ["-control"] : []);
	const child = startApart(agent, words, { cwd, env });
	createInterface({ input: child.stdout, crlfDelay: Infinity }).on("line", options.onStdout);
	createInterface({ input: child.stderr, crlfDelay: Infinity }).on("line", options.onStderr);
	const ended = new Promise<Ended>((resolve) => {
		child.once("error", (error) => {
			options.onStderr(`cannot start ${agent}: ${error.message}`);
			resolve({ code: 127, signal: null });
		});
		child.once("close", (code, signal) => resolve(endOf(code, signal)));
	});
	return {
		pid: child.pid ?? -1,
		ended,
		say(line) {
			if (!control) throw new Error("nothing can be said to it");
			child.stdin.write(`say ${line}\n`);
		},
		signal: (name) => void child.kill(name),
		abandon: () => void child.stdin.destroy(),
		kill() {
			if (child.pid === undefined) return;
			// A stopped process accepts no other signal.
			for (const pid of treeOf(child.pid)) sendSignal(pid, "SIGKILL");
		},
	};
}

/** Starts a program in a separate process group: the terminal's Ctrl-C reaches only mqbench, which decides. `env` is all that it gets. */
export function startApart(
	program: string,
	args: readonly string[],
	{ cwd, env }: { readonly cwd?: string; readonly env: Readonly<Record<string, string>> },
): ChildProcessByStdio<Writable, Readable, Readable> {
	const child = spawn(program, args, {
		cwd,
		env: { ...env },
		detached: true,
		stdio: ["pipe", "pipe", "pipe"],
	});
	// It may end before its input is read; its exit code shows why.
	child.stdin.on("error", () => {});
	return child;
}

/** Arguments of agent that run a command, with `graceMs` to end by itself when mqbench is gone. */
export function supervise(
	argv: readonly string[],
	graceMs: number,
	options: readonly string[],
): string[] {
	return ["supervise", ...options, "-grace", `${graceMs}ms`, "--", ...argv];
}

/** Asks a process behind the agent to end, and makes sure that it does. */
export async function terminate(
	child: Pick<Supervised, "signal" | "abandon" | "kill" | "ended">,
	stopMs: number,
): Promise<void> {
	child.signal("SIGTERM");
	const abandoned = setTimeout(() => child.abandon(), stopMs);
	// The agent kills after another stopMs, unless it is frozen: 3 s more are enough.
	const killed = setTimeout(() => child.kill(), 2 * stopMs + 3_000);
	await child.ended;
	clearTimeout(abandoned);
	clearTimeout(killed);
	child.abandon();
}

/** The smallest environment in which programs run: a PATH, a separate home, and UTC, by which logs are read. */
export function bareEnvironment(
	home: string,
	env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
	const bare: Record<string, string> = { HOME: home, TZ: "UTC" };
	for (const name of ["PATH", "TMPDIR", "SystemRoot", "TEMP"]) {
		const value = env[name];
		if (value !== undefined) bare[name] = value;
	}
	return bare;
}

/** An environment without undefined variables. */
export function defined(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
	);
}

/** "exit code 1", "SIGKILL": how a process ended, for people. */
export function describeEnd(ended: Ended): string {
	return ended.signal ?? `exit code ${ended.code}`;
}

/** How a command behind agent ended, by agent's own exit: 128 + n means that signal n ended the command. */
export function endOf(code: number | null, signal: string | null): Ended {
	if (code === null) return { code, signal };
	const [name] = Object.entries(constants.signals).find(([, n]) => n === code - 128) ?? [];
	return name === undefined ? { code, signal } : { code: null, signal: name };
}
