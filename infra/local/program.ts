import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { StartedSystem } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import { interrupted } from "../../runner/stop.ts";
import { startApart } from "../process.ts";

/** The program of a broker: the system's own `binary`, otherwise `own`. Fails with a sentence that names it, and how to install it. */
export function findProgram(
	{ key, binary, option = "binary" }: StartedSystem,
	env: Readonly<Record<string, string | undefined>>,
	own?: { readonly name: string; readonly install: string },
): string {
	const name = binary ?? own?.name ?? "";
	const file = path.isAbsolute(name) ? executable(name) : findOnPath(name, env);
	if (file !== null) return file;
	const remedy =
		binary === null && own
			? `Install it: ${own.install}; or name one that you have: binary: /path/to/${name}`
			: `Correct ${option}${option === "binary" ? ", or remove it to use what mqbench finds itself" : ""}`;
	const what =
		binary !== null && path.isAbsolute(binary)
			? `${binary} (${option}) is not a program that can be run`
			: `${name}${binary === null ? "" : ` (${option})`} is not on PATH`;
	throw failure("broker-missing", { system: key, what, remedy });
}

/** The path of a program: on PATH, or where servers are that users' PATHs leave out. */
export function findOnPath(
	name: string,
	env: Readonly<Record<string, string | undefined>>,
): string | null {
	const folders = (env.PATH ?? "").split(path.delimiter).filter(Boolean);
	for (const folder of [...folders, ...SERVERS]) {
		const file = executable(path.join(folder, name));
		if (file !== null) return file;
	}
	return null;
}

export interface ToEnd {
	/** Its whole environment. */
	readonly env: Readonly<Record<string, string>>;
	/** Written to its standard input. */
	readonly input?: AsyncIterable<Uint8Array> | Iterable<string>;
	/** When it is killed, because it hangs. Default: after two minutes. */
	readonly limitMs?: number;
	readonly stop?: AbortSignal;
}

/** Runs a program to its end. `code` is null if it was not started, or hung; `err` has the reason. Fails with `interrupted`. */
export function runToEnd(
	program: string,
	args: readonly string[],
	{ env, input, limitMs = 120_000, stop }: ToEnd,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
	return new Promise((resolve, reject) => {
		const child = startApart(program, args, { env });
		let out = "";
		let err = "";
		child.stdout.setEncoding("utf8").on("data", (text) => {
			out += text;
		});
		child.stderr.setEncoding("utf8").on("data", (text) => {
			err += text;
		});
		const end = () => void child.kill("SIGKILL");
		const limit = setTimeout(() => {
			err = `${path.basename(program)} did not answer within ${limitMs / 1000}s`;
			end();
		}, limitMs);
		stop?.addEventListener("abort", end, { once: true });
		if (stop?.aborted) end();
		if (!input) child.stdin.end();
		else
			pipeline(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
				// A program that stops reading prints the reason itself.
				if (/^(EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/.test(error.code ?? "")) return;
				err = error.message;
				end();
			});
		const over = (code: number | null) => {
			clearTimeout(limit);
			stop?.removeEventListener("abort", end);
			if (code !== 0 && stop?.aborted) reject(interrupted(stop));
			else resolve({ code, out, err });
		};
		child.once("error", (error) => {
			err = error.message;
			over(null);
		});
		child.once("close", over);
	});
}

// --- internal ---

const SERVERS = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"];

function executable(file: string): string | null {
	const all = process.platform === "win32" ? [file, `${file}.exe`] : [file];
	for (const one of all)
		try {
			accessSync(one, constants.X_OK);
			if (statSync(one).isFile()) return one;
		} catch {
			// Not here.
		}
	return null;
}
