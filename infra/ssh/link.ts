import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { World } from "../../runner/world.ts";
import { HOLDER, hold, startApart } from "../remote/held.ts";
import { defined, type Link, LOST, type Remote, runOver, shellLine } from "../remote/link.ts";
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
	const held = await hold(
		{
			argv: [
				"ssh",
				"-M",
				"-S",
				socket,
				"-T",
				"-a",
				"-x",
				...OURS.flatMap((option) => ["-o", option]),
				...(env.MQBENCH_SSH_OPTIONS ?? "").split(/\s+/).filter(Boolean),
				...DEFAULTS.flatMap((option) => ["-o", option]),
				...destination(host),
				// Its standard input ends with the connection.
				shellLine(`${HOLDER}; exec cat >/dev/null`, []),
			],
			agent,
			cwd,
			env: defined(env),
			over: () => rm(folder, { recursive: true, force: true }),
			failed(ended, words) {
				if (ended === null) return unreachable(host, "the login timed out");
				return ended.code === null || [LOST, NO_SSH].includes(ended.code)
					? unreachable(host, words)
					: noShell({ ...host, name: sshName(host) }, words);
			},
		},
		stop,
	);
	const start = (line: string, args: readonly string[] = []): Remote => {
		const child = startApart(
			"ssh",
			[
				// Use only the connection's socket: if it were gone, ssh would open a connection of its own.
				"-F",
				"/dev/null",
				"-S",
				socket,
				"-T",
				...SHARED.flatMap((option) => ["-o", option]),
				"--",
				host.host,
				shellLine(line, args),
			],
			{ cwd, env: defined(env) },
		);
		return {
			stdin: child.stdin,
			stdout: child.stdout,
			stderr: child.stderr,
			code: new Promise((resolve) => {
				child.once("error", () => resolve(LOST));
				child.once("close", (code) => resolve(code ?? LOST));
			}),
			kill: (signal) => void child.kill(signal),
		};
	};
	const lost = async (err: string) => {
		if (/Session open refused/.test(err)) return unreachable(host, err);
		await held.close();
		return unreachable(host, GONE);
	};
	return {
		...held,
		lost,
		spawn: start,
		run: (line, args, feed) => runOver({ spawn: start, lost }, line, args, feed),
	};
}

// --- internal ---

/** Agent's exit code if it cannot start ssh. */
const NO_SSH = 127;

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

const SHARED = ["BatchMode=yes", "ControlMaster=no", "ProxyCommand=false", "LogLevel=ERROR"];

/** A socket's path can have about 100 characters, of which ssh adds 17. */
function shortTmp(): string {
	return tmpdir().length > 50 ? "/tmp" : tmpdir();
}
