import { createInterface } from "node:readline";
import { endOf } from "../process.ts";
import type { ClientCommand, ClientProcess } from "../rig.ts";
import { codeOf, type Link, LOST, type Remote } from "./ssh-link.ts";

export interface ThereCommand extends Omit<ClientCommand, "args"> {
	readonly argv: readonly string[];
	/** Folder there: its working folder and HOME. */
	readonly folder: string;
	/** File that keeps agent's number, from the folder. */
	readonly pidFile: string;
	/** File for what it uses (resource-file.ts), from the folder. */
	readonly samples: string;
	/** Whose use that is: a generator's counts with its agent, a broker's without. Default: a generator's. */
	readonly role?: "generator" | "broker";
	/** How far the host's clock is ahead of ours, ns. */
	readonly aheadNs: number;
}

/**
 * Starts a command on a host behind agent: it ends when mqbench does, kill -9 included, and when the connection is gone. `ended` tells a lost
 * connection as code null, signal null.
 */
export function startThere(
	link: Link,
	agent: string,
	command: ThereCommand,
): ClientProcess {
	if (!link.alive()) return gone();
	const { cpus, graceMs, argv, env, folder, pidFile } = command;
	const child = link.spawn(START, [
		folder,
		pidFile,
		cpus ?? "",
		agent,
		...[
			"supervise",
			"-env",
			"-lease",
			LEASE,
			"-control",
			"-grace",
			`${graceMs}ms`,
		],
		...["-sample", command.samples, "-ahead", String(command.aheadNs)],
		...(command.role === "broker" ? ["-broker"] : []),
		"--",
		...(cpus === null ? [] : ["taskset", "--cpu-list", cpus]),
		...argv,
	]);
	const order = (line: string) => {
		if (child.stdin.writable) child.stdin.write(`${line}\n`);
	};
	// Here and not on the command line, which everybody on that host may see.
	order(JSON.stringify(env));
	const alive = setInterval(() => order("alive"), ALIVE_MS);
	let own = false;
	lines(child, "stdout", (line) => {
		if (line === OWN) own = true;
		else if (line !== "") command.onStdout(line);
	});
	lines(child, "stderr", command.onStderr);
	const ended = codeOf(child).then((code) => {
		clearInterval(alive);
		if (code === LOST) return { code: null, signal: null };
		return own ? { code: LOST, signal: null } : endOf(code, null);
	});
	return {
		pid: null,
		ended,
		say: (line) => order(`say ${line}`),
		signal: (name) => order(`signal ${name.slice(3)}`),
		// Its input ends: agent takes mqbench for gone.
		abandon: () => void child.stdin.destroy(),
		kill() {
			const hangs = setTimeout(() => child.kill("SIGKILL"), KILL_MS);
			void ended.then(() => clearTimeout(hangs));
			link.run(KILL, [folder, pidFile]).catch(() => child.kill("SIGKILL"));
		},
	};
}

/**
 * Signals everything below the agent of a command, and not agent, which goes on to end it. Resolves when that is done, with how many processes
 * there were.
 */
export async function signalThere(
	link: Link,
	{ folder, pidFile }: Pick<ThereCommand, "folder" | "pidFile">,
	signal: "STOP" | "CONT" | "KILL",
): Promise<number> {
	const { values } = await link.run(SIGNAL, [folder, pidFile, signal]);
	return Number(values.signalled ?? 0);
}

// --- internal ---

/**
 * $1 folder, $2 file for agent's number, $3 CPUs or nothing, then agent's command line. A line of the command is not to begin behind a greeting:
 * hence the empty one. sh stays in front of agent, to tell the signal that killed it; agent's pid is kept for `kill`. ssh says 255 when it has lost
 * the connection: a command that says so itself has a line for that.
 */
const START =
	'echo; cd "$1" || exit 127; f=$2 c=$3; shift 3; if [ -n "$c" ]; then w=$(taskset --cpu-list "$c" true 2>&1) || { echo "level=error msg=\\"pin: the CPUs $c cannot be had: $w\\"" >&2; exit 127; }; fi; sh -c \'f=$1; shift; echo $$ >"$f" && exec "$@"\' sh "$f" "$@"; s=$?; if [ $s = 255 ]; then echo; echo mqbench:exit=255; s=254; fi; exit $s';

/** The command ended with 255, and not the connection. */
const OWN = "mqbench:exit=255";

/** $1 folder, $2 file of agent's number. Agent may be frozen: what is below it, and it. */
const KILL =
	'cd "$1" && g=$(cat "$2") && for c in $(cat "/proc/$g/task/$g/children"); do kill -s KILL -- "-$c"; done; kill -9 "$g"';

/** The same and $3 a signal, for all that is below agent, generation after generation. */
const SIGNAL =
	'cd "$1" && g=$(cat "$2") || exit 1; below() { for c in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$c"; below "$c"; done; }; n=0; for p in $(below "$g"); do kill -s "$3" "$p" 2>/dev/null && n=$((n+1)); done; echo; echo "mqbench:signalled=$n"';

/** A line this often, so that agent hears that we are there, and how long it waits for one. */
const ALIVE_MS = 3_000;
const LEASE = "15s";

/** Where the connection does not answer a kill. */
const KILL_MS = 5_000;

/** Of a connection that was lost before. */
function gone(): ClientProcess {
	const nothing = () => {};
	return {
		pid: null,
		ended: Promise.resolve({ code: null, signal: null }),
		say: nothing,
		signal: nothing,
		abandon: nothing,
		kill: nothing,
	};
}

function lines(
	child: Remote,
	stream: "stdout" | "stderr",
	take: (line: string) => void,
): void {
	createInterface({ input: child[stream], crlfDelay: Infinity }).on(
		"line",
		take,
	);
}
