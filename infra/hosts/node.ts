import { terminate } from "../local/node.ts";
import { describeEnd, type Ended } from "../process.ts";
import type { ClientProcess } from "../rig.ts";

export interface HostNodeOptions {
	/** From 1. */
	readonly number: number;
	/** Its host, for people. */
	readonly host: string;
	/** Starts its command there behind guard, and has its output told line by line. */
	run(take: (line: string) => void): ClientProcess;
	/** Signals all of its processes, not guard; resolves with their number. */
	signal(name: "STOP" | "CONT" | "KILL"): Promise<number>;
	/** Whether a line says that it takes connections. */
	ready(line: string): boolean;
}

/** A node of a broker on a host of its own: it can be ended and started again, with the same data, address and log. */
export class HostNode {
	readonly number: number;
	readonly host: string;
	/** Resolves with how it has ended, by itself after it was ready: not when it was killed, or asked to end, by us. */
	readonly died: Promise<string>;
	readonly #options: HostNodeOptions;
	#tellDeath: (how: string) => void = () => {};
	#child: ClientProcess | null = null;
	#isReady = false;
	/** All that has been started and has not ended: what we have let go of, too. */
	readonly #running = new Set<ClientProcess>();

	constructor(options: HostNodeOptions) {
		this.#options = options;
		this.number = options.number;
		this.host = options.host;
		this.died = new Promise((resolve) => {
			this.#tellDeath = resolve;
		});
	}

	/** Starts it. `ready` resolves when it says so, `ended` with how it ended: whatever comes first decides. */
	async start(): Promise<{
		readonly ready: Promise<void>;
		readonly ended: Promise<string>;
	}> {
		let told = () => {};
		this.#isReady = false;
		const ready = new Promise<void>((resolve) => {
			told = resolve;
		});
		const child = this.#options.run((line) => {
			if (this.#child !== child || this.#isReady) return;
			if (!this.#options.ready(line)) return;
			this.#isReady = true;
			told();
		});
		this.#child = child;
		this.#running.add(child);
		const ended = child.ended.then((how) => {
			this.#running.delete(child);
			const words = this.#howItEnded(how);
			if (this.#child === child) {
				this.#child = null;
				if (this.#isReady) this.#tellDeath(words);
			}
			return words;
		});
		return { ready, ended };
	}

	/** Throws a sentence unless it is up, and ready: only then something can be done to it. */
	mustBeUp(): ClientProcess {
		if (this.#child === null)
			throw new Error(`node ${this.number} is down already`);
		if (!this.#isReady)
			throw new Error(
				`node ${this.number} has not come up again yet after the fault before; leave more time between them`,
			);
		return this.#child;
	}

	/** Stops all of its processes; the function that it returns makes them go on. */
	async freeze(): Promise<() => Promise<void>> {
		this.mustBeUp();
		await this.#signal("STOP");
		return async () => {
			await this.#options.signal("CONT");
		};
	}

	/** Kills all of its processes at once; resolves when they are gone. */
	async kill(): Promise<void> {
		const child = this.#letGo();
		// Not guard: it kills what has left the tree, and ends by itself.
		await this.#signal("KILL");
		await child.ended;
	}

	/** Asks it to end, and kills it if it does not; resolves when it is gone. */
	async end(stopMs: number): Promise<void> {
		await terminate(this.#letGo(), stopMs);
	}

	/** Ends whatever there is of it. From now on nothing about it matters. */
	async close(stopMs: number): Promise<void> {
		this.#child = null;
		await Promise.all(
			[...this.#running].map((child) => terminate(child, stopMs)),
		);
	}

	/** What happens to it from now on is our doing. */
	#letGo(): ClientProcess {
		const child = this.mustBeUp();
		this.#child = null;
		return child;
	}

	async #signal(name: "STOP" | "KILL"): Promise<void> {
		if ((await this.#options.signal(name)) === 0)
			throw new Error(
				`the processes of node ${this.number} are not to be found on ${this.host}`,
			);
	}

	#howItEnded(how: Ended): string {
		return how.code === null && how.signal === null
			? `the connection to ${this.host} was lost`
			: describeEnd(how);
	}
}
