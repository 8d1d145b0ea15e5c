import { childrenOf, treeOf } from "../pid.ts";
import type { Ended, Guarded } from "../process.ts";

export interface NodeOptions {
	/** From 1. */
	readonly number: number;
	/** Starts its command behind guard, and has its output told line by line. */
	run(take: (line: string) => void): Guarded;
	/** Whether a line of its output says that it takes connections. */
	ready(line: string): boolean;
	/** How long it may take to go down before it is killed. */
	readonly stopMs: number;
}

/**
 * A node of a broker on this machine: a command that can be ended and started again, with the same data, ports and log. Each time it
 * is another process, behind a guard of its own.
 */
export class LocalNode {
	readonly number: number;
	/** Resolves when it has ended by itself after it was ready: not when it was killed, or asked to end, by us. */
	readonly died: Promise<Ended>;
	readonly #options: NodeOptions;
	#tellDeath: (how: Ended) => void = () => {};
	#child: Guarded | null = null;
	#isReady = false;
	readonly #pids: number[] = [];

	constructor(options: NodeOptions) {
		this.#options = options;
		this.number = options.number;
		this.died = new Promise((resolve) => {
			this.#tellDeath = resolve;
		});
	}

	/** Its process, behind those that we have ended before: what these have used still counts. */
	get pids(): readonly number[] {
		return this.#pids;
	}

	/** Starts it. `ready` resolves when it says so, `ended` when its process has ended: whatever comes first decides. */
	start(): { readonly ready: Promise<void>; readonly ended: Promise<Ended> } {
		let told = () => {};
		this.#isReady = false;
		const ready = new Promise<void>((resolve) => {
			told = resolve;
		});
		const child = this.#options.run((line) => {
			if (this.#child !== child || this.#isReady) return;
			if (!this.#options.ready(line)) return;
			this.#isReady = true;
			// Guard's only child; where that cannot be read, nothing is sampled either.
			this.#pids.push(childrenOf(child.pid)[0] ?? child.pid);
			told();
		});
		this.#child = child;
		void child.ended.then((how) => {
			if (this.#isReady && this.#child === child) this.#tellDeath(how);
		});
		return { ready, ended: child.ended };
	}

	/** Stops all of its processes; the function that it returns makes them go on. */
	freeze(): () => void {
		const pids = this.#processes();
		send(pids, "SIGSTOP");
		return () => send(pids, "SIGCONT");
	}

	/** Kills all of its processes at once. From then on they do nothing; the promise resolves when they are gone. */
	kill(): Promise<unknown> {
		const pids = this.#processes();
		const { ended } = this.#letGo();
		// Not guard: it kills what has left the tree, and ends by itself.
		send(pids, "SIGKILL");
		return ended;
	}

	/** Asks it to end, and kills it if it does not. Resolves when it is gone. */
	end(): Promise<unknown> {
		this.#processes();
		return terminate(this.#letGo(), this.#options.stopMs);
	}

	/** All processes of the node, not guard: guard ends the node when mqbench is gone. */
	#processes(): number[] {
		if (this.#child === null) throw down(this.number);
		if (!this.#isReady)
			throw new Error(
				`node ${this.number} has not come up again yet after the fault before; leave more time between them`,
			);
		const pids = childrenOf(this.#child.pid).flatMap(treeOf);
		if (pids.length === 0)
			throw new Error(
				`the processes of node ${this.number} are not to be found in /proc`,
			);
		return pids;
	}

	/** What happens to its process from now on is our doing. */
	#letGo(): Guarded {
		const child = this.#child;
		if (child === null) throw down(this.number);
		this.#child = null;
		return child;
	}
}

/** Asks a process to end, and sees to it that it does. */
export async function terminate(
	child: Pick<Guarded, "signal" | "abandon" | "kill" | "ended">,
	stopMs: number,
): Promise<void> {
	child.signal("SIGTERM");
	const abandoned = setTimeout(() => child.abandon(), stopMs);
	// Guard kills after another stopMs, unless somebody has frozen guard.
	const killed = setTimeout(() => child.kill(), 2 * stopMs + GUARD_MS);
	await child.ended;
	clearTimeout(abandoned);
	clearTimeout(killed);
	child.abandon();
}

// --- internal ---

/** Guard has this long beyond its grace. */
const GUARD_MS = 3_000;

function down(node: number): Error {
	return new Error(`node ${node} is down already`);
}

/** A process that is gone meanwhile is not missed: it has ended by itself, which is the run's own to find out. */
function send(
	pids: readonly number[],
	signal: "SIGSTOP" | "SIGCONT" | "SIGKILL",
): void {
	for (const pid of pids)
		try {
			process.kill(pid, signal);
		} catch {
			// Gone.
		}
}
