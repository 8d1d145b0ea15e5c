import { spawn } from "node:child_process";
import { defined } from "../process.ts";
import { type Link, LOST, type Remote, runOver, shellWords } from "./link.ts";

/** For tests: this machine as a remote one, with another home; `holder` is its connection. */
export function linkTo(
	env: Readonly<Record<string, string>>,
	holder = process.pid,
): Link & { die(): void } {
	const commands = new Set<Remote>();
	let alive = true;
	const start = (line: string, args: readonly string[] = []): Remote => {
		const [program = "", ...words] = shellWords(line, args);
		const child = spawn(program, words, { env: { ...defined(process.env), ...env } });
		child.stdin.on("error", () => {});
		const command: Remote = {
			stdin: child.stdin,
			stdout: child.stdout,
			stderr: child.stderr,
			code: new Promise((resolve) => child.once("close", (code) => resolve(code ?? LOST))),
			kill: (signal) => void child.kill(signal),
		};
		commands.add(command);
		void command.code.then(() => commands.delete(command));
		return command;
	};
	const lost = async (err: string) => {
		throw new Error(err);
	};
	return {
		holder,
		alive: () => alive,
		spawn: start,
		run: (line, args, how) => runOver({ spawn: start, lost }, line, args, how),
		lost,
		async close() {},
		/** As sshd does it: the processes in front of commands are gone, and their input ends. */
		die() {
			alive = false;
			for (const { stdin, kill } of commands) {
				stdin.destroy();
				kill("SIGKILL");
			}
		},
	};
}
