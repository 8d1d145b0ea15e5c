import { type ChildProcessByStdio, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import type { MqbenchError } from "../../runner/errors.ts";
import { shellWord } from "../../runner/shell.ts";
import { interrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { startSupervised } from "../process.ts";
import { temporaryFolder } from "../temporary.ts";
import { destination, type SshHost } from "./ssh-host.ts";
import { noShell, unreachable } from "./ssh-trouble.ts";

/** One ssh connection to a host, shared by all commands there. It ends with mqbench, even after kill -9. */
export interface Link {
	/** Process on the host that lives as long as the connection. */
	readonly holder: number;
	/** Whether the connection stands, as far as ssh has noticed. */
	alive(): boolean;
	/** Starts a line of sh there; `$1` and on are `args`. The exit code is 255 if the connection is lost. */
	spawn(line: string, args?: readonly string[]): Remote;
	/** The same, run to its end; `feed` writes its standard input. Fails with `client-unreachable` if the connection is lost. */
	run(
		line: string,
		args?: readonly string[],
		feed?: (stdin: Writable) => void,
	): Promise<Answer>;
	/** Why a command ended with 255, from its stderr. The connection is closed then. */
	lost(err: string): Promise<MqbenchError>;
	close(): Promise<void>;
}

export type Remote = ChildProcessByStdio<Writable, Readable, Readable>;

export interface Answer {
	readonly code: number;
	/** Values of lines "mqbench:name=value"; a host's greeting may appear between them. */
	readonly values: Readonly<Record<string, string>>;
	readonly err: string;
}

/** ssh's exit code for its own failures and for a lost connection. */
export const LOST = 255;

/** Connects; `stop` cancels. Fails with `client-unreachable`, or `interrupted`. */
export async function openLink(
	host: SshHost,
	{ agent, env, cwd }: { agent: string } & Pick<World, "env" | "cwd">,
	stop: AbortSignal,
): Promise<Link> {
	const folder = await temporaryFolder(shortTmp());
	const socket = path.join(folder, "ssh");
	let words = "";
	let over = false;
	let late = false;
	let held = (_: number) => {};
	const holding = new Promise<number>((resolve) => {
		held = resolve;
	});
	const child = startSupervised({
		agent,
		argv: [
			"ssh",
			...["-M", "-S", socket, "-T", "-a", "-x"],
			...OURS.flatMap((option) => ["-o", option]),
			...(env.MQBENCH_SSH_OPTIONS ?? "").split(/\s+/).filter(Boolean),
			...DEFAULTS.flatMap((option) => ["-o", option]),
			...destination(host),
			// Its standard input ends with the connection.
			remote('echo; echo "mqbench:holder=$$"; exec cat >/dev/null', []),
		],
		cwd,
		env: defined(env),
		control: true,
		graceMs: 2_000,
		onStdout(line) {
			const pid = /^mqbench:holder=(\d+)$/.exec(line)?.[1];
			if (pid) held(Number(pid));
		},
		onStderr: (line) => {
			words = `${words}${line}\n`.slice(-4_000);
		},
	});
	const ended = child.ended.then(async (how) => {
		over = true;
		await rm(folder, { recursive: true, force: true });
		return how;
	});
	const close = async () => {
		child.abandon();
		// Agent kills after its grace period; ssh may be frozen.
		const killed = setTimeout(() => child.kill(), 5_000);
		await ended;
		clearTimeout(killed);
	};
	const giveUp = () => child.kill();
	const limit = setTimeout(() => {
		late = true;
		child.kill();
	}, LOGIN_MS);
	stop.addEventListener("abort", giveUp, { once: true });
	if (stop.aborted) giveUp();
	const first = await Promise.race([holding, ended]);
	clearTimeout(limit);
	stop.removeEventListener("abort", giveUp);
	if (stop.aborted) {
		await close();
		throw interrupted(stop);
	}
	if (late) throw unreachable(host, "the login timed out");
	if (typeof first !== "number")
		throw first.code === null || [LOST, NO_SSH].includes(first.code)
			? unreachable(host, words)
			: noShell(host, words);
	const start = (line: string, args: readonly string[] = []): Remote => {
		const child = spawn(
			"ssh",
			[
				// Use only the connection's socket: if it were gone, ssh would open a connection of its own.
				...["-F", "/dev/null", "-S", socket, "-T"],
				...SHARED.flatMap((option) => ["-o", option]),
				...["--", host.host],
				remote(line, args),
			],
			{
				cwd,
				env: defined(env),
				stdio: ["pipe", "pipe", "pipe"],
				// The terminal's Ctrl-C reaches only mqbench, which decides what to do.
				detached: true,
			},
		);
		// It may end before its input is read; its exit code says why.
		child.stdin.on("error", () => {});
		child.on("error", () => {});
		return child;
	};
	const lost = async (err: string) => {
		if (/Session open refused/.test(err)) return unreachable(host, err);
		await close();
		return unreachable(host, GONE);
	};
	return {
		holder: first,
		alive: () => !over,
		lost,
		spawn: start,
		async run(line, args, feed) {
			const child = start(line, args);
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
			const code = await codeOf(child);
			if (code === LOST) throw await lost(err);
			return { code, err, values: valuesIn(out) };
		},
		close,
	};
}

/** Exit code of the command there, or of ssh itself. */
export function codeOf(one: Remote): Promise<number> {
	return new Promise((resolve) => {
		one.once("error", () => resolve(LOST));
		one.once("close", (code) => resolve(code ?? LOST));
	});
}

// --- internal ---

/** Agent's exit code if it cannot start ssh. */
const NO_SSH = 127;

/** ssh must log in within this time, otherwise it hangs. */
const LOGIN_MS = 30_000;

const GONE = "the connection is gone";

/** ssh must not ask questions or forward anything, and must not share the connection. */
const OURS = [
	"BatchMode=yes",
	"ControlMaster=yes",
	"ControlPersist=no",
	"ClearAllForwardings=yes",
	"PermitLocalCommand=no",
	"RemoteCommand=none",
];

/** After the user's own options: in ssh the first one counts. */
const DEFAULTS = [
	"ConnectTimeout=10",
	"ServerAliveInterval=5",
	"ServerAliveCountMax=3",
	"LogLevel=ERROR",
];

const SHARED = [
	"BatchMode=yes",
	"ControlMaster=no",
	"ProxyCommand=false",
	"LogLevel=ERROR",
];

/** The command for any kind of login shell: sh reads the line itself. */
function remote(line: string, args: readonly string[]): string {
	return `exec sh -c ${[line, "mqbench", ...args].map(shellWord).join(" ")}`;
}

function valuesIn(out: string): Record<string, string> {
	return Object.fromEntries(
		[...out.matchAll(/^mqbench:(\w+)=(.*)$/gm)].map(
			([, name = "", value = ""]) => [name, value.trim()],
		),
	);
}

function defined(
	env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env).filter(
			(entry): entry is [string, string] => entry[1] !== undefined,
		),
	);
}

/** A socket's path can have about 100 characters, of which ssh adds 17. */
function shortTmp(): string {
	return tmpdir().length > 50 ? "/tmp" : tmpdir();
}
