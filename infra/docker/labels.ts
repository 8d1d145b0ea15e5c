import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isGone, ownerText } from "../owner.ts";
import type { Docker } from "./cli.ts";

/** On everything that mqbench makes in an engine, to find it again. */
export const LABELS = {
	/** Everything that belongs together. */
	run: "mqbench.run",
	/** The process that it belongs to. */
	owner: "mqbench.owner",
} as const;

/** Things in the engine that go together, at the latest when this process is gone. */
export interface LabelledRun {
	/** "mqbench-0a1b2c3d4e": how their names begin. */
	readonly name: string;
	/** Its label, as a filter of docker's commands. */
	readonly label: string;
	readonly labels: Readonly<Record<string, string>>;
	/** Removes everything with the label; false if something is left. */
	remove(): Promise<boolean>;
}

/** To be called before anything of the run exists. */
export function beginRun(docker: Docker): LabelledRun {
	const run = randomBytes(5).toString("hex");
	const label = labelOf(run);
	return {
		name: `mqbench-${run}`,
		label,
		labels: { [LABELS.run]: run, [LABELS.owner]: ownerText(process.pid) },
		remove: startReaper(docker, label),
	};
}

/** The labels as arguments of docker's commands. */
export function labelArguments(labels: Readonly<Record<string, string>>): string[] {
	return Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
}

/** The label of everything that a run makes. */
export function labelOf(run: string): string {
	return `${LABELS.run}=${run}`;
}

/** Removes everything with a label; false if something is left. */
export function removeLabelled(docker: Docker, label: string): Promise<boolean> {
	return startReaper(docker, label)();
}

/** Removes leftovers of commands whose process is gone: after kill -9 or a power failure. */
export async function sweep(docker: Docker): Promise<void> {
	for (const run of await leftRuns(docker)) await removeLabelled(docker, labelOf(run));
}

/** Runs whose process is gone, and which have left something. */
export async function leftRuns(docker: Docker): Promise<string[]> {
	const runs = new Map<string, boolean>();
	for (const [list] of KINDS) {
		const filter = ["--filter", `label=${LABELS.owner}`, "--format", SHOWN];
		const text = await docker.run([...list.split(" "), ...filter]);
		for (const line of text.split("\n")) {
			const [run, owner] = line.split(" ");
			// If there are several owners, each has to be gone.
			if (run && owner) runs.set(run, isGone(owner) && runs.get(run) !== false);
		}
	}
	return [...runs].flatMap(([run, gone]) => (gone ? run : []));
}

// --- internal ---

/** How each kind of thing is listed and removed. Anonymous volumes, which images declare, go with their containers. */
const KINDS = [
	["ps --all", "rm --force --volumes"],
	["volume ls", "volume rm --force"],
	["network ls", "network rm"],
] as const;

const SHOWN = `{{.Label "${LABELS.run}"}} {{.Label "${LABELS.owner}"}}`;

/**
 * $1 docker, $2 label. Waits until its standard input ends, which happens however mqbench ends, and removes everything with the label; exit
 * code 1 if something is left. After a line on its standard input it looks once; else again for some seconds, because engines go on with
 * requests of a process that is gone. It tries for half a minute: an engine under load takes seconds to release a volume.
 */
const REAPER = `trap '' INT TERM HUP
docker=$1 label=$2 need=3 quiet=0 tries=0
if read -r line; then need=1; fi
look() { "$docker" $1 --quiet --filter "label=$label" || echo =; }
clean() { ids=$(look "$1"); [ -z "$ids" ] || { "$docker" $2 $ids; ids=$(look "$1"); }; left=$left$ids; }
while [ $tries -lt 20 ]; do
	tries=$((tries + 1)) left=
${KINDS.map(([list, remove]) => `\tclean "${list}" "${remove}"`).join("\n")}
	if [ -z "$left" ]; then quiet=$((quiet + 1)); else quiet=0; fi
	[ $quiet -lt $need ] || exit 0
	sleep 1
done
exit 1
`;

/** An engine that does not answer is not waited for longer; the reaper goes on. */
const LIMIT_MS = 60_000;

/**
 * Starts a process that removes everything with this label as soon as mqbench is gone, even after kill -9: containers are not children of mqbench,
 * so agent cannot do it. The returned function has it done now.
 */
function startReaper(docker: Docker, label: string): () => Promise<boolean> {
	const child = spawn("sh", ["-c", REAPER, "sh", docker.program, label], {
		env: docker.env,
		cwd: "/",
		stdio: ["pipe", "ignore", "ignore"],
		// A separate session: neither Ctrl-C nor the end of the terminal reaches it.
		detached: true,
	});
	child.stdin?.on("error", () => {});
	child.unref();
	const ended = new Promise<boolean>((resolve) => {
		child.once("exit", (code) => resolve(code === 0));
		// Without sh (Windows) the next command in a system that has one does it.
		child.once("error", () => resolve(false));
	});
	return () => {
		child.ref();
		child.stdin?.end("now\n");
		return Promise.race([ended, sleep(LIMIT_MS, false, { ref: false })]);
	};
}
