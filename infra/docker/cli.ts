import { spawn } from "node:child_process";
import { pipeline } from "node:stream/promises";
import { type ErrorCode, failure, MqbenchError } from "../../runner/errors.ts";
import { maskUrls } from "../../runner/secrets.ts";
import { interrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { findOnPath } from "../local/program.ts";
import { type Supervised, startSupervised } from "../process.ts";

/**
 * The user's `docker` command. It knows the engine (DOCKER_HOST, contexts) and how to log in to registries; mqbench looks up none of that
 * elsewhere.
 */
export interface Docker {
	/** Path of the command. */
	readonly program: string;
	/** The host whose command it is, for people; absent: this machine. */
	readonly host?: string;
	/** Its whole environment: the user's own. */
	readonly env: Readonly<Record<string, string>>;
	/** Runs it to its end, and returns its trimmed output. Throws a DockerError. */
	run(args: readonly string[], options?: RunOptions): Promise<string>;
	/** Starts a command that goes on; it ends with mqbench. */
	follow(args: readonly string[], take: (line: string) => void): Supervised;
}

export interface RunOptions {
	/** Written to its standard input. */
	readonly input?: AsyncIterable<Uint8Array>;
	/** Time limit, if it must end earlier than the command; none for what may take long. */
	readonly limitMs?: number;
	readonly stop?: AbortSignal;
	/** Called with each line of its standard output and error. */
	onLine?(line: string): void;
}

/** The engine or the command has refused; the message is its own words, on one line. */
export class DockerError extends Error {}

/** Finds the command; fails with `docker-missing`. */
export function findDocker(world: World, agent: string): Docker {
	const program = findOnPath("docker", world.env);
	if (program === null) throw failure("docker-missing", {});
	const env = Object.fromEntries(
		Object.entries(world.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
	);
	return {
		program,
		env,
		run: (args, options = {}) => run(program, args, env, options),
		follow: (args, take) =>
			startSupervised({
				agent,
				argv: [program, ...args],
				cwd: "/",
				env,
				graceMs: 1_000,
				onStdout: take,
				onStderr: take,
			}),
	};
}

/** The sentence for people that fits a DockerError. Other errors are thrown as they are. */
export function explainDocker(error: unknown, doing: string): MqbenchError {
	if (error instanceof MqbenchError) return error;
	if (!(error instanceof DockerError)) throw error;
	const reason = maskUrls(error.message);
	const code: ErrorCode = /no space left on device/i.test(reason)
		? "docker-disk-full"
		: "docker-failed";
	return failure(code, { doing, reason });
}

/** The line that says what is wrong, without the prefix that all lines of the command have. */
export function wrongIn(text: string): string {
	const lines = text
		.split("\n")
		.map((line) => line.trim())
		.filter(
			(line) => line !== "" && !/^(Run|See) '|^Usage:|^WARNING|^DEPRECATED|^Learn more/i.test(line),
		);
	const wrong =
		lines.find((line) => /error|denied|cannot|failed|no such/i.test(line)) ??
		lines.at(-1) ??
		"it said nothing";
	return wrong
		.replace(/^docker: /, "")
		.replace(/^(error response from daemon|error): /i, "")
		.replace(/^(error response from daemon): /i, "")
		.replace(/\.$/, "");
}

// --- internal ---

/** A healthy engine answers within seconds; a busy one may take longer. */
const LIMIT_MS = 120_000;

function run(
	program: string,
	args: readonly string[],
	env: Readonly<Record<string, string>>,
	{ input, limitMs = LIMIT_MS, stop, onLine }: RunOptions,
): Promise<string> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, {
			env,
			stdio: [input ? "pipe" : "ignore", "pipe", "pipe"],
			// In its own process group: a Ctrl-C at the terminal reaches only mqbench.
			detached: true,
		});
		const end = () => void child.kill("SIGKILL");
		stop?.addEventListener("abort", end, { once: true });
		if (stop?.aborted) end();
		let late = false;
		const limit = setTimeout(() => {
			late = true;
			end();
		}, limitMs);
		const out: string[] = [];
		const err: string[] = [];
		for (const [stream, texts] of [
			[child.stdout, out],
			[child.stderr, err],
		] as const) {
			let rest = "";
			stream?.setEncoding("utf8");
			stream?.on("data", (text: string) => {
				texts.push(text);
				if (!onLine) return;
				const lines = `${rest}${text}`.split(/\r?\n|\r/);
				rest = lines.pop() ?? "";
				for (const line of lines) onLine(line);
			});
			stream?.on("close", () => {
				if (rest !== "") onLine?.(rest);
			});
		}
		if (input && child.stdin) {
			pipeline(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
				// The engine refuses and reads no more; its words are what matters.
				if (error.code === "EPIPE" || child.exitCode !== null) return;
				err.push(`error: ${error.message}`);
				end();
			});
		}
		child.once("error", (error) => {
			clearTimeout(limit);
			reject(new DockerError(error.message));
		});
		child.once("close", (code) => {
			clearTimeout(limit);
			stop?.removeEventListener("abort", end);
			if (code === 0) resolve(out.join("").trim());
			else if (stop?.aborted) reject(interrupted(stop));
			else
				reject(
					new DockerError(
						late
							? `docker ${args[0]} did not end within ${limitMs / 1000}s`
							: wrongIn(err.join("") || out.join("")),
					),
				);
		});
	});
}
