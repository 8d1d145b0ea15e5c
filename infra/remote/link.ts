import type { Readable, Writable } from "node:stream";
import type { MqbenchError } from "../../runner/errors.ts";
import { shellWord } from "../../runner/shell.ts";

/** One connection to a host, shared by all commands there. It ends with mqbench, even after kill -9. */
export interface Link {
	/** Process on the host that lives as long as the connection. */
	readonly holder: number;
	/** Whether the connection stands, as far as anybody has noticed. */
	alive(): boolean;
	/** Starts a line of sh there; `$1` and on are `args`. */
	spawn(line: string, args?: readonly string[]): Remote;
	/** The same, run to its end; `feed` writes its standard input. Fails with `client-unreachable` if the connection is lost. */
	run(line: string, args?: readonly string[], feed?: (stdin: Writable) => void): Promise<Answer>;
	/** Why something there was killed, or the connection was lost, the end of a sentence; null: not known. Absent: nobody could know. */
	fate?(): Promise<string | null>;
	/** Why a command ended with LOST, from its stderr. The connection is closed then. */
	lost(err: string): Promise<MqbenchError>;
	close(): Promise<void>;
}

/** A command there. */
export interface Remote {
	readonly stdin: Writable;
	readonly stdout: Readable;
	readonly stderr: Readable;
	/** Its exit code once its output is read; LOST: the connection is gone. */
	readonly code: Promise<number>;
	/** Ends what stands for it here. */
	kill(signal?: NodeJS.Signals): void;
}

export interface Answer {
	readonly code: number;
	/** Values of lines "mqbench:name=value"; a host's greeting may appear between them. */
	readonly values: Readonly<Record<string, string>>;
	readonly err: string;
}

/** Code of a command whose connection is gone: ssh's own. */
export const LOST = 255;

/** Runs a command to its end, over a link whose `spawn` and `lost` these are. */
export async function runOver(
	{ spawn, lost }: Pick<Link, "spawn" | "lost">,
	line: string,
	args: readonly string[] = [],
	feed?: (stdin: Writable) => void,
): Promise<Answer> {
	const child = spawn(line, args);
	let out = "";
	let err = "";
	child.stdout.setEncoding("utf8").on("data", (text) => {
		out += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text) => {
		err += text;
	});
	if (feed) feed(child.stdin);
	else child.stdin.end();
	const code = await child.code;
	if (code === LOST) throw await lost(err);
	return { code, err, values: valuesIn(out) };
}

/** Words for sh that run a line with its arguments. */
export function shellWords(line: string, args: readonly string[]): string[] {
	return ["sh", "-c", line, "mqbench", ...args];
}

/** The same as one word for any kind of login shell: sh reads the line itself. */
export function shellLine(line: string, args: readonly string[]): string {
	return `exec ${shellWords(line, args).map(shellWord).join(" ")}`;
}

/** An environment without what is undefined. */
export function defined(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
	);
}

// --- internal ---

function valuesIn(out: string): Record<string, string> {
	return Object.fromEntries(
		[...out.matchAll(/^mqbench:(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [
			name,
			value.trim(),
		]),
	);
}
