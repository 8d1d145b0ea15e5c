import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Transform } from "node:stream";
import { finished } from "node:stream/promises";
import { sshPlaceText } from "../../runner/model/ssh-host.ts";
import { HOLDER, hold } from "../machines/held.ts";
import type { Connecting } from "../machines/host.ts";
import { type Link, LOST, type Remote, runOver, shellLine } from "../machines/link.ts";
import { noShell } from "../machines/trouble.ts";
import { defined, startApart } from "../process.ts";
import { temporaryFolder } from "../temporary.ts";
import { destination, type SshHost } from "./host.ts";
import { unreachable } from "./trouble.ts";

/** Connects; `stop` cancels. Fails with `client-unreachable`, or `interrupted`. */
export async function openLink(
	host: SshHost,
	{ agent, world: { env, cwd } }: Connecting,
	stop: AbortSignal,
): Promise<Link> {
	const folder = await temporaryFolder(shortTmp());
	const socket = path.join(folder, "ssh");
	const held = await hold(
		{
			argv: [
				..."ssh -M -T -a -x -S".split(" "),
				socket,
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
					: noShell({ ...host, name: sshPlaceText(host) }, words);
			},
		},
		stop,
	);
	const start = (line: string, args: readonly string[] = []): Remote => {
		const child = startApart(
			"ssh",
			[
				// Use only the connection's socket: if it were gone, ssh would open a new connection.
				..."-F /dev/null -T -S".split(" "),
				socket,
				...SHARED.flatMap((option) => ["-o", option]),
				"--",
				host.host,
				shellLine(`echo; echo ${BEGIN}; ${line}`, args),
			],
			{ cwd, env: defined(env) },
		);
		const stdout = child.stdout.pipe(afterGreeting());
		const code = new Promise<number>((resolve) => {
			const ended = (code: number | null) => {
				stdout.end();
				resolve(code ?? LOST);
			};
			child.once("error", () => ended(null));
			child.once("close", ended);
		});
		const read = finished(stdout, { writable: false }).catch(() => {});
		return {
			stdin: child.stdin,
			stdout,
			stderr: child.stderr,
			code: read.then(() => code),
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
		run: (line, args, how) => runOver({ spawn: start, lost }, line, args, how),
	};
}

// --- internal ---

/** Agent's exit code if it cannot start ssh. */
const NO_SSH = 127;

const GONE = "the connection is gone";

/** The output of the host's shell comes before this line; the command's output begins after it. */
const BEGIN = "mqbench:begin";

function afterGreeting(): Transform {
	const line = `\n${BEGIN}\n`;
	let head: Buffer | null = Buffer.alloc(0);
	return new Transform({
		transform(piece: Buffer, _, done) {
			if (head === null) return done(null, piece);
			head = Buffer.concat([head, piece]);
			const at = head.indexOf(line);
			if (at < 0) return done();
			const rest = head.subarray(at + line.length);
			head = null;
			done(null, rest);
		},
	});
}

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
