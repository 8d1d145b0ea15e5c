import { setTimeout as sleep } from "node:timers/promises";
import { isGone } from "../owner.ts";
import type { Docker } from "./cli.ts";
import { LABELS } from "./labels.ts";

/**
 * Removes the containers, volumes and networks with a label. A container that is being made may appear a moment later, so it checks again until
 * nothing is left. Returns the names of what could not be removed.
 */
export async function removeLabelled(
	docker: Docker,
	label: string,
	kinds: readonly Kind[] = KINDS,
): Promise<string[]> {
	let left: string[] = [];
	for (let tries = 1; tries <= TRIES; tries++) {
		left = [];
		for (const kind of kinds) {
			const ids = await idsOf(docker, kind, label);
			if (ids.length === 0) continue;
			// Things may have gone meanwhile; the next look decides.
			await docker.run([...REMOVE[kind], ...ids]).catch(() => {});
			for (const one of await idsOf(docker, kind, label)) left.push(one);
		}
		if (left.length === 0) return [];
		await sleep(tries * 200);
	}
	return left;
}

/** Removes what commands have left whose process is gone: after kill -9 or a power failure. */
export async function sweep(docker: Docker): Promise<void> {
	for (const run of await leftRuns(docker)) await removeLabelled(docker, labelOf(run));
}

/** The label of everything that a run makes. */
export function labelOf(run: string): string {
	return `${LABELS.run}=${run}`;
}

/** Runs whose process is gone, and of which something is left. */
export async function leftRuns(docker: Docker): Promise<string[]> {
	const runs = new Map<string, boolean>();
	for (const kind of KINDS)
		for (const line of await list(docker, kind, LABELS.owner, SHOWN)) {
			const [run, owner] = line.split(" ");
			// Of several owners each has to be gone.
			if (run && owner) runs.set(run, isGone(owner) && runs.get(run) !== false);
		}
	return [...runs].flatMap(([run, gone]) => (gone ? run : []));
}

/**
 * Waits until its standard input ends, which it does however mqbench ends, and removes everything with the label:
 * `sh -c <script> sh <docker> <label>`. A line on its standard input says that nothing is left to do. It tries for half a minute, because
 * engines go on with requests of a process that is gone.
 */
export const REAPER = `trap '' INT TERM HUP
if read -r line; then exit 0; fi
quiet=0 tries=0
while [ $quiet -lt 3 ] && [ $tries -lt 20 ]; do
	tries=$((tries + 1))
	containers=$("$1" ps -aq --filter "label=$2") || containers=
	[ -z "$containers" ] || "$1" rm -fv $containers
	volumes=$("$1" volume ls -q --filter "label=$2") || volumes=
	[ -z "$volumes" ] || "$1" volume rm -f $volumes
	networks=$("$1" network ls -q --filter "label=$2") || networks=
	[ -z "$networks" ] || "$1" network rm $networks
	if [ -z "$containers$volumes$networks" ]; then quiet=$((quiet + 1)); else quiet=0; fi
	sleep 1
done
`;

// --- internal ---

const KINDS = ["container", "volume", "network"] as const;
type Kind = (typeof KINDS)[number];

/** An engine under load takes seconds to release a volume. */
const TRIES = 8;

const LIST: Readonly<Record<Kind, readonly string[]>> = {
	container: ["ps", "--all"],
	volume: ["volume", "ls"],
	network: ["network", "ls"],
};

/** Anonymous volumes, which images declare, are removed with their containers. */
const REMOVE: Readonly<Record<Kind, readonly string[]>> = {
	container: ["rm", "--force", "--volumes"],
	volume: ["volume", "rm", "--force"],
	network: ["network", "rm"],
};

const SHOWN = `{{.Label "${LABELS.run}"}} {{.Label "${LABELS.owner}"}}`;

function idsOf(docker: Docker, kind: Kind, label: string): Promise<string[]> {
	return list(docker, kind, label, kind === "volume" ? "{{.Name}}" : "{{.ID}}");
}

async function list(docker: Docker, kind: Kind, label: string, format: string): Promise<string[]> {
	const text = await docker.run([...LIST[kind], "--filter", `label=${label}`, "--format", format]);
	return text.split("\n").filter(Boolean);
}
