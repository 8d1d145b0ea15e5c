import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { interrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { startSupervised } from "../process.ts";
import {
	defined,
	type Link,
	LOST,
	type Remote,
	runOver,
	shellLine,
} from "../remote/link.ts";
import { noShell } from "../remote/trouble.ts";
import { temporaryFolder } from "../temporary.ts";
import { destination, type SshHost, sshName } from "./host.ts";
import { unreachable } from "./trouble.ts";

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
			shellLine('echo; echo "mqbench:holder=$$"; exec cat >/dev/null', []),
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
			: noShell({ ...host, name: sshName(host) }, words);
	const start = (line: string, args: readonly string[] = []): Remote => {
		const child = spawn(
			"ssh",
			[
				// Use only the connection's socket: if it were gone, ssh would open a connection of its own.
				...["-F", "/dev/null", "-S", socket, "-T"],
				...SHARED.flatMap((option) => ["-o", option]),
				...["--", host.host],
				shellLine(line, args),
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
		return {
			...{ stdin: child.stdin, stdout: child.stdout, stderr: child.stderr },
			code: new Promise((resolve) => {
				child.once("error", () => resolve(LOST));
				child.once("close", (code) => resolve(code ?? LOST));
			}),
			kill: (signal) => void child.kill(signal),
		};
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
		run: (line, args, feed) =>
			runOver({ spawn: start, lost }, line, args, feed),
		close,
	};
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

/** A socket's path can have about 100 characters, of which ssh adds 17. */
function shortTmp(): string {
	return tmpdir().length > 50 ? "/tmp" : tmpdir();
}
