import { setTimeout as sleep } from "node:timers/promises";
import type { NodeDescription } from "../../runner/brokers/process.ts";
import type { Back, End, NodeProcess, Place } from "./place.ts";

export interface NodeOptions {
	/** From 1. */
	readonly number: number;
	readonly place: Place;
	readonly command: NodeDescription;
	/** Called with each line that it writes, for the log. */
	hear(line: string): void;
	/** Whether a line shows that it accepts connections. */
	ready(line: string): boolean;
	/** The same for one that may write nothing. */
	readonly answers?: (() => Promise<boolean>) | undefined;
}

/** A node of a broker at its place. It can be ended and started again, each time as another process. */
export class BrokerNode {
	readonly number: number;
	readonly place: Place;
	readonly command: NodeDescription;
	/** Resolves when it has ended by itself after it was ready, not when we killed it or asked it to end. */
	readonly died: Promise<End>;
	/** Its process on this machine, after those that we have ended before, whose use still counts. */
	readonly pids: number[] = [];
	readonly #options: NodeOptions;
	#tellDeath: (end: End) => void = () => {};
	#life: Life | null = null;

	constructor(options: NodeOptions) {
		this.#options = options;
		this.number = options.number;
		this.place = options.place;
		this.command = options.command;
		this.died = new Promise((resolve) => {
			this.#tellDeath = resolve;
		});
	}

	/** Starts it. `ready` resolves at its ready line, `ended` when its process has ended; the first one decides. */
	async start(): Promise<{ readonly ready: Promise<void>; readonly ended: Promise<End> }> {
		const { hear, ready: isReady, answers } = this.#options;
		let tellReady = () => {};
		const ready = new Promise<void>((resolve) => {
			tellReady = resolve;
		});
		const up = async () => {
			life.isReady = true;
			const pid = await (await process).pid();
			if (pid !== null) this.pids.push(pid);
			tellReady();
		};
		const process: Promise<NodeProcess> = this.place.start(this.command, (line) => {
			hear(line);
			if (this.#life === life && !life.isReady && isReady(line)) void up();
		});
		const life: Life = { process, isReady: false };
		this.#life = life;
		void process.then(
			async ({ ended }) => {
				const end = await ended;
				if (this.#life !== life) return;
				this.#life = null;
				if (life.isReady) this.#tellDeath(end);
			},
			() => {
				if (this.#life === life) this.#life = null;
			},
		);
		const { ended } = await process;
		if (answers) void this.#poll(life, answers, up);
		return { ready, ended };
	}

	/** Throws a sentence unless it is up and ready: only then can something be done to it. */
	mustBeUp(): Promise<NodeProcess> {
		if (this.#life === null) throw new Error(`node ${this.number} is down already`);
		if (!this.#life.isReady)
			throw new Error(
				`node ${this.number} is not up again after the previous fault; leave more time between faults`,
			);
		return this.#life.process;
	}

	/** Stops all of its processes; the returned function makes them continue. */
	async pause(): Promise<Back> {
		const process = await this.mustBeUp();
		this.#mustHave(await process.signal("STOP"));
		return async () => {
			await process.signal("CONT");
		};
	}

	/** Kills all of its processes at once; resolves when they are gone. */
	async kill(): Promise<void> {
		const process = await this.#letGo();
		this.#mustHave(await process.signal("KILL"));
		await process.ended;
	}

	/** Asks it to end, and kills it if it does not; resolves when it is gone. */
	async end(): Promise<void> {
		await (await this.#letGo()).end();
	}

	/** From now on its events are ignored. */
	close(): Promise<void> {
		this.#life = null;
		return this.place.close();
	}

	async #poll(life: Life, answers: () => Promise<boolean>, up: () => Promise<void>) {
		while (this.#life === life) {
			if (await answers()) return up();
			await sleep(POLL_MS);
		}
	}

	/** From now on we cause the events of its process. */
	#letGo(): Promise<NodeProcess> {
		const process = this.mustBeUp();
		this.#life = null;
		return process;
	}

	#mustHave(processes: number): void {
		if (processes > 0) return;
		const { host } = this.place;
		throw new Error(
			`the processes of node ${this.number} cannot be found ${host === null ? "in /proc" : `on ${host}`}`,
		);
	}
}

// --- internal ---

const POLL_MS = 100;

interface Life {
	readonly process: Promise<NodeProcess>;
	isReady: boolean;
}
