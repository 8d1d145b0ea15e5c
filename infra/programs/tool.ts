import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { interrupted } from "../../runner/stop.ts";

export interface ToolOptions {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly stop: AbortSignal;
	onStdout?(line: string): void;
	onStderr?(line: string): void;
}

/**
 * Runs a program of this machine that builds or downloads (Go, Maven) to its end, on a leash: a small Node process that ends it, with
 * everything that it has started, when our end of its standard input closes. So kill -9 of mqbench leaves none behind. (agent does this for
 * k6, but agent is being built here.) Code 127 if it cannot be started; `tail` has the last lines of both streams that contain a blank.
 */
export function runTool(
	argv: readonly string[],
	options: ToolOptions,
): Promise<{ readonly code: number | null; readonly tail: readonly string[] }> {
	const { stop } = options;
	if (stop.aborted) return Promise.reject(interrupted(stop));
	return new Promise((resolve, reject) => {
		const tail: string[] = [];
		const child = spawn(process.execPath, ["-e", LEASH, "--", ...argv], {
			cwd: options.cwd,
			env: options.env,
			stdio: ["pipe", "pipe", "pipe"],
			// The terminal's Ctrl-C reaches only mqbench, which then closes the leash.
			detached: true,
		});
		child.stdin.on("error", () => {});
		for (const stream of ["stdout", "stderr"] as const)
			createInterface({ input: child[stream] }).on("line", (line) => {
				// Hundreds of package names (go build -v) must not displace the error.
				if (/\s/.test(line)) tail.push(line);
				if (tail.length > 200) tail.shift();
				if (stream === "stdout") options.onStdout?.(line);
				else options.onStderr?.(line);
			});
		const letGo = () => void child.stdin.destroy();
		stop.addEventListener("abort", letGo, { once: true });
		child.once("error", reject);
		// Only now is no process left that could write to the folder of the build.
		child.once("close", (code) => {
			stop.removeEventListener("abort", letGo);
			if (stop.aborted) reject(interrupted(stop));
			else resolve({ code, tail });
		});
	});
}

// --- internal ---

/** How long an interrupted tool may take to remove its temporary files. */
const GRACE_MS = 3_000;

const LEASH = `
const [command, ...args] = process.argv.slice(1);
const child = require("node:child_process").spawn(command, args, {
	stdio: ["ignore", "inherit", "inherit"],
	detached: process.platform !== "win32",
});
const end = (signal) => {
	try {
		if (process.platform === "win32") child.kill();
		else process.kill(-child.pid, signal);
	} catch {}
};
let loose = false;
child.once("error", () => process.exit(127));
child.once("exit", (code) => {
	if (loose) end("SIGKILL");
	process.exit(code ?? 1);
});
process.stdin.resume().once("close", () => {
	loose = true;
	end("SIGINT");
	setTimeout(() => end("SIGKILL"), ${GRACE_MS});
});
`;
