import { spawn } from "node:child_process";
import { defined, type Link, LOST, type Remote, runOver, shellWords } from "./link.ts";

/** For tests: a machine that is this one, with another home, whose connection is this process; `fed` counts commands that were given something. */
export function linkTo(env: Readonly<Record<string, string>>): Link & { readonly fed: number } {
	let fed = 0;
	const start = (line: string, args: readonly string[] = []): Remote => {
		const [program = "", ...words] = shellWords(line, args);
		const child = spawn(program, words, { env: { ...defined(process.env), ...env } });
		child.stdin.on("error", () => {});
		return {
			stdin: child.stdin,
			stdout: child.stdout,
			stderr: child.stderr,
			code: new Promise((resolve) => child.once("close", (code) => resolve(code ?? LOST))),
			kill: (signal) => void child.kill(signal),
		};
	};
	const lost = async (err: string) => {
		throw new Error(err);
	};
	return {
		holder: process.pid,
		alive: () => true,
		spawn: start,
		run(line, args, how) {
			if (how?.feed) fed++;
			return runOver({ spawn: start, lost }, line, args, how);
		},
		lost,
		async close() {},
		get fed() {
			return fed;
		},
	};
}
