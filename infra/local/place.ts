import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { World } from "../../runner/world.ts";
import type { Command, NodeProcess, Place, TakeLine } from "../nodes/place.ts";
import { childrenOf, sendSignal, treeOf } from "../pid.ts";
import {
	bareEnvironment,
	describeEnd,
	type Supervised,
	startSupervised,
	terminate,
} from "../process.ts";
import { pinned } from "./pinned.ts";

export interface LocalPlaceOptions {
	/** Its working folder and HOME. */
	readonly folder: string;
	readonly agent: string;
	/** CPUs in the manner of taskset; null for any. */
	readonly cpus: string | null;
	/** How long a process may take to end before it is killed. */
	readonly stopMs: number;
	readonly world: Pick<World, "env">;
}

/** A folder of this machine. Its processes run behind the agent. */
export function localPlace({
	folder,
	agent,
	cpus,
	stopMs,
	world: { env },
}: LocalPlaceOptions): Place {
	const running = new Set<Supervised>();
	const start = async (command: Command, take: TakeLine) => {
		const child = startSupervised({
			agent,
			argv: pinned(command.argv, cpus, env),
			cwd: folder,
			env: { ...bareEnvironment(folder, env), ...command.env },
			graceMs: stopMs,
			onStdout: take,
			onStderr: take,
		});
		running.add(child);
		void child.ended.then(() => running.delete(child));
		return processOf(child, stopMs);
	};
	return {
		host: null,
		signals: true,
		async prepare({ files }) {
			await mkdir(folder, { recursive: true });
			for (const [name, text] of Object.entries(files)) {
				const file = path.join(folder, name);
				await mkdir(path.dirname(file), { recursive: true });
				await writeFile(file, text, { mode: 0o600 });
			}
		},
		run: start,
		start,
		async close() {
			await Promise.all([...running].map((child) => terminate(child, stopMs)));
		},
	};
}

// --- internal ---

function processOf(child: Supervised, stopMs: number): NodeProcess {
	return {
		ended: child.ended.then((how) => ({
			how: describeEnd(how),
			well: how.code === 0,
			lost: false,
		})),
		// The agent's only child; where that cannot be read, nothing is sampled either.
		pid: async () => childrenOf(child.pid)[0] ?? child.pid,
		async signal(name) {
			// Not the agent: it ends the node when mqbench is gone, kills processes that have left the tree, and then ends by itself.
			const pids = childrenOf(child.pid).flatMap(treeOf);
			for (const pid of pids) sendSignal(pid, `SIG${name}`);
			return pids.length;
		},
		end: () => terminate(child, stopMs),
	};
}
