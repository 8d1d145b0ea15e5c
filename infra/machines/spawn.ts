import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { endOf, supervise } from "../process.ts";
import type { ClientCommand, ClientProcess } from "../rig.ts";
import { type Link, LOST, type Remote } from "./link.ts";

export interface ThereCommand extends Omit<ClientCommand, "args"> {
	readonly argv: readonly string[];
	/** Folder there, which is its working folder and HOME. */
	readonly folder: string;
	/** File for agent's pid, relative to the folder. */
	readonly pidFile: string;
	/** File for its use of resources (resource-file.ts), relative to the folder. */
	readonly samples: string;
	/** A generator's resources include its agent's, a broker's do not. Default: a generator's. */
	readonly role?: "generator" | "broker";
	/** How far the host's clock is ahead of ours, ns. */
	readonly aheadNs: number;
}

/**
 * Starts a command on a host behind agent. It ends when mqbench does (even after kill -9) and when the connection is gone. `ended` reports a
 * lost connection as code null, signal null. `agent` is its path there, or the words that start it.
 */
export function startThere(
	link: Link,
	agent: string | readonly string[],
	command: ThereCommand,
): ClientProcess {
	const { cpus, graceMs, env, folder, pidFile } = command;
	const argv = [...(cpus === null ? [] : ["taskset", "--cpu-list", cpus]), ...command.argv];
	const options = [
		..."-env -control -lease 15s -sample".split(" "),
		command.samples,
		"-ahead",
		String(command.aheadNs),
		...(command.role === "broker" ? ["-broker"] : []),
	];
	const words = [...[agent].flat(), ...supervise(argv, graceMs, options)];
	const child = link.spawn(START, [folder, pidFile, cpus ?? "", ...words]);
	const { order, ...told } = tellAgent(child.stdin, env);
	const alive = setInterval(() => order("alive"), ALIVE_MS);
	let own = false;
	lines(child, "stdout", (line) => {
		if (line === OWN) own = true;
		else if (line !== "") command.onStdout(line);
	});
	lines(child, "stderr", command.onStderr);
	const ended = child.code.then(async (code) => {
		clearInterval(alive);
		if (code !== LOST && own) return { code: LOST, signal: null };
		const end = code === LOST ? { code: null, signal: null } : endOf(code, null);
		if (end.code !== null || !link.fate) return end;
		const why = await link.fate();
		return why === null ? end : { ...end, why };
	});
	return {
		pid: null,
		ended,
		...told,
		kill() {
			const hangs = setTimeout(() => child.kill("SIGKILL"), KILL_MS);
			void ended.then(() => clearTimeout(hangs));
			link.run(KILL, [folder, pidFile]).catch(() => child.kill("SIGKILL"));
		},
	};
}

/** Gives the agent behind a standard input its program's environment, because other users can read command lines, and then orders. */
export function tellAgent(stdin: Writable, env: Readonly<Record<string, string>>) {
	const order = (line: string) => {
		if (stdin.writable) stdin.write(`${line}\n`);
	};
	order(JSON.stringify(env));
	return {
		order,
		say: (line: string) => order(`say ${line}`),
		signal: (name: "SIGINT" | "SIGTERM") => order(`signal ${name.slice(3)}`),
		// When its input ends, agent assumes that mqbench is gone.
		abandon: () => void stdin.destroy(),
	};
}

/**
 * Signals everything below a command's agent, but not agent itself, which then ends the command. Resolves afterwards with the number of
 * processes.
 */
export async function signalThere(
	link: Link,
	{ folder, pidFile }: Pick<ThereCommand, "folder" | "pidFile">,
	signal: "STOP" | "CONT" | "KILL",
): Promise<number> {
	const { values } = await link.run(SIGNAL, [folder, pidFile, signal]);
	return Number(values.signalled ?? 0);
}

/** Calls `take` with each line of a command's output. */
export function lines(
	child: Remote,
	stream: "stdout" | "stderr",
	take: (line: string) => void,
): void {
	createInterface({ input: child[stream], crlfDelay: Infinity }).on("line", take);
}

// --- internal ---

/**
 * $1 folder, $2 file for agent's pid, $3 CPUs or nothing, then agent's command line. sh stays in front of agent to report the signal that killed
 * it; agent's pid is kept for `kill`. ssh exits with 255 for a lost connection, so a command that exits with 255 itself prints a line.
 */
const START =
	'cd "$1" || exit 127; f=$2 c=$3; shift 3; if [ -n "$c" ]; then w=$(taskset --cpu-list "$c" true 2>&1) || { echo "level=error msg=\\"pin: the CPUs $c cannot be had: $w\\"" >&2; exit 127; }; fi; sh -c \'f=$1; shift; echo $$ >"$f" && exec "$@"\' sh "$f" "$@"; s=$?; if [ $s = 255 ]; then echo; echo mqbench:exit=255; s=254; fi; exit $s';

/** The command itself ended with 255; the connection is fine. */
const OWN = "mqbench:exit=255";

/** $1 folder, $2 file of agent's pid. Kills the processes below agent, and agent, which may be frozen. */
const KILL =
	'cd "$1" && g=$(cat "$2") && for c in $(cat "/proc/$g/task/$g/children"); do kill -s KILL -- "-$c"; done; kill -9 "$g"';

/** The same with $3, a signal, for everything below agent, generation after generation. */
const SIGNAL =
	'cd "$1" && g=$(cat "$2") || exit 1; below() { for c in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$c"; below "$c"; done; }; n=0; for p in $(below "$g"); do kill -s "$3" "$p" 2>/dev/null && n=$((n+1)); done; echo "mqbench:signalled=$n"';

/** How often a line shows agent that we are alive: without one for 15 s it ends the command. */
const ALIVE_MS = 3_000;

/** For a connection that does not answer a kill. */
const KILL_MS = 5_000;
