import type { Readable, Writable } from "node:stream";
import type { MqbenchError } from "../../runner/errors.ts";
import { shellWord } from "../../runner/shell.ts";

/** One connection to a host, shared by all commands there. It ends with mqbench, even after kill -9. */
export interface Link {
	/** Process on the host that lives as long as the connection. */
	readonly holder: number;
	/** Whether the connection is up, as far as noticed. */
	alive(): boolean;
	/** Starts a line of sh there; `$1` and on are `args`. Its output begins after the host's greeting. */
	spawn(line: string, args?: readonly string[]): Remote;
	/** The same, run to its end. Fails with `client-unreachable` if the connection is lost. */
	run(line: string, args?: readonly string[], how?: RunOptions): Promise<Answer>;
	/** Why something there was killed, or the connection was lost, the end of a sentence; null if unknown. Absent if it never is. */
	fate?(): Promise<string | null>;
	/** Why a command ended with LOST, from its stderr. The connection is closed then. */
	lost(err: string): Promise<MqbenchError>;
	close(): Promise<void>;
}

export interface RunOptions {
	/** Writes its standard input, which is empty by default. */
	feed?(stdin: Writable): void;
	/** A command that takes longer is killed: its code is then timeout(1)'s, with a message in `err`. Default: no limit. */
	readonly limitMs?: number;
}

/** A command there. */
export interface Remote {
	readonly stdin: Writable;
	readonly stdout: Readable;
	readonly stderr: Readable;
	/** Its exit code once its output is read; LOST if the connection is gone. */
	readonly code: Promise<number>;
	/** Ends the process that represents it here. */
	kill(signal?: NodeJS.Signals): void;
}

export interface Answer {
	readonly code: number;
	readonly out: string;
	readonly err: string;
	/** Values of its output's lines "mqbench:name=value". */
	readonly values: Readonly<Record<string, string>>;
}

/** Code of a command whose connection is gone: ssh's own. */
export const LOST = 255;

/** Runs a command to its end, over a link with this `spawn` and `lost`. */
export async function runOver(
	{ spawn, lost }: Pick<Link, "spawn" | "lost">,
	line: string,
	args: readonly string[] = [],
	{ feed = (stdin) => void stdin.end(), limitMs }: RunOptions = {},
): Promise<Answer> {
	const child = spawn(line, args);
	const out = textOf(child.stdout);
	const err = textOf(child.stderr);
	let late = false;
	const limit =
		limitMs === undefined
			? undefined
			: setTimeout(() => {
					late = true;
					child.kill("SIGKILL");
				}, limitMs);
	feed(child.stdin);
	const code = await child.code;
	clearTimeout(limit);
	if (code === LOST && !late) throw await lost(err());
	const values = valuesIn(out());
	if (!late) return { code, out: out(), err: err(), values };
	return { code: LATE, out: out(), err: `no answer within ${(limitMs ?? 0) / 1000}s`, values };
}

/** Reads a stream to its end; the text so far. */
export function textOf(stream: Readable): () => string {
	let text = "";
	stream.setEncoding("utf8").on("data", (piece) => {
		text += piece;
	});
	return () => text;
}

/** Words for sh that run a line with its arguments. */
export function shellWords(line: string, args: readonly string[]): string[] {
	return ["sh", "-c", line, "mqbench", ...args];
}

/** The same as one word for any kind of login shell: sh reads the line itself. */
export function shellLine(line: string, args: readonly string[]): string {
	return `exec ${shellWords(line, args).map(shellWord).join(" ")}`;
}

// --- internal ---

const LATE = 124;

function valuesIn(out: string): Record<string, string> {
	return Object.fromEntries(
		[...out.matchAll(/^mqbench:(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [
			name,
			value.trim(),
		]),
	);
}
