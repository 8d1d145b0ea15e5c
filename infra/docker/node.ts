import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { formatBytes } from "../../runner/units.ts";
import { describeEnd, endOf, type Guarded } from "../process.ts";
import { type Docker, DockerError } from "./cli.ts";

export interface DockerNodeOptions {
	readonly docker: Docker;
	/** From 1. */
	readonly number: number;
	/** Name of its container. */
	readonly name: string;
	readonly memoryBytes: number | null;
	/** Told of each line that it writes, for the log. */
	onLine(line: string): void;
	/** Whether a line says that it takes connections. */
	ready(line: string): boolean;
	/** Told of its process on this machine when it is up; never where containers are not of this machine. */
	onPid(pid: number): void;
}

/**
 * A node of a broker in its container, which has been made: it can be started, ended and started again, with the same data and
 * address. What it writes comes from the engine's own log of it, so that reading slowly never holds it up.
 */
export class DockerNode {
	readonly number: number;
	readonly name: string;
	/** Resolves with how it has ended, by itself after it was ready: not when it was killed, or asked to end, by us. */
	readonly died: Promise<string>;
	readonly #options: DockerNodeOptions;
	#tellDeath: (how: string) => void = () => {};
	#life: Life | null = null;
	#log: Guarded | null = null;
	#gone = false;
	#isUp = false;
	#starting = false;

	constructor(options: DockerNodeOptions) {
		this.#options = options;
		this.number = options.number;
		this.name = options.name;
		this.died = new Promise((resolve) => {
			this.#tellDeath = resolve;
		});
	}

	/** The process that is its container's first one now, as the engine knows it. */
	async pid(): Promise<number> {
		return (await this.#state())?.Pid ?? 0;
	}

	/** Starts it. `ready` resolves when it says so, `ended` with how it ended: whatever comes first decides. */
	async start(): Promise<{
		readonly ready: Promise<void>;
		readonly ended: Promise<string>;
	}> {
		const { docker } = this.#options;
		// What it wrote in an earlier life is in the log already.
		const since = (await this.#state())?.FinishedAt;
		const again = since !== undefined && !since.startsWith("0001-");
		this.#starting = true;
		try {
			await docker.run(["start", this.name]);
		} finally {
			this.#starting = false;
		}
		return this.#watch(again ? ["--since", since] : []);
	}

	/** Takes it as it runs: up, and with what it writes from now on. */
	async attach(): Promise<void> {
		this.#watch(["--tail", "0"]);
		await this.#becameReady();
	}

	/** Throws a sentence unless it is up, and ready: only then something can be done to it. */
	mustBeUp(): void {
		if (this.#life === null && !this.#starting)
			throw new Error(`node ${this.number} is down already`);
		if (!this.#isUp || this.#starting)
			throw new Error(
				`node ${this.number} has not come up again yet after the fault before; leave more time between them`,
			);
	}

	/** Freezes all of its processes; the function that it returns makes them go on. */
	async freeze(): Promise<() => Promise<void>> {
		this.mustBeUp();
		const { docker } = this.#options;
		await docker.run(["pause", this.name]);
		return async () => {
			await docker.run(["unpause", this.name]);
		};
	}

	/** Kills it; resolves when it is gone. */
	async kill(): Promise<void> {
		const life = this.#letGo();
		await this.#options.docker.run(["kill", "--signal", "KILL", this.name]);
		await life.ended;
	}

	/** Asks it to end, and kills it if it does not; resolves when it is gone. */
	async end(stopMs: number): Promise<void> {
		const life = this.#letGo();
		await this.#options.docker.run(
			["stop", "--time", String(Math.ceil(stopMs / 1000)), this.name],
			{ limitMs: stopMs + 60_000 },
		);
		await life.ended;
	}

	/** From now on nothing about it matters: it is about to be removed, or left alone. */
	letBe(): void {
		this.#gone = true;
		this.#life = null;
		this.#log?.abandon();
	}

	#letGo(): Life {
		this.mustBeUp();
		const life = this.#life as Life;
		this.#life = null;
		return life;
	}

	#watch(from: readonly string[]): {
		ready: Promise<void>;
		ended: Promise<string>;
	} {
		let told = () => {};
		let isReady = false;
		this.#isUp = false;
		const ready = new Promise<void>((resolve) => {
			told = resolve;
		});
		const life: Life = {
			ended: this.#follow(from, (line) => {
				if (isReady || !this.#options.ready(line)) return;
				isReady = true;
				void this.#becameReady().then(told);
			}).catch((error: Error) => `Docker does not answer: ${error.message}`),
		};
		this.#life = life;
		void life.ended.then((how) => {
			if (this.#life !== life) return;
			if (this.#isUp) this.#tellDeath(how);
			this.#life = null;
		});
		return { ready, ended: life.ended };
	}

	async #becameReady(): Promise<void> {
		this.#isUp = true;
		const state = await this.#state().catch(() => null);
		if (state !== null && isOf(state.Id, state.Pid))
			this.#options.onPid(state.Pid);
	}

	/** Hands its lines on until it has ended, and says how that was. */
	async #follow(
		from: readonly string[],
		take: (line: string) => void,
	): Promise<string> {
		const { docker, onLine } = this.#options;
		for (let args = from; ; args = ["--tail", "0"]) {
			const log = docker.follow(
				["logs", "--follow", ...args, this.name],
				(line) => {
					onLine(line);
					take(line);
				},
			);
			this.#log = log;
			await log.ended;
			log.abandon();
			if (this.#gone) return "removed";
			const state = await this.#state();
			if (state === null) return "removed";
			if (!state.Running) return this.#howItEnded(state);
			// The log broke off, not the node.
			await sleep(200);
		}
	}

	#howItEnded({ OOMKilled, ExitCode, Error: error }: State): string {
		if (OOMKilled)
			return `out of memory: ${this.#options.memoryBytes === null ? "the machine has no more" : `its limit is ${formatBytes(this.#options.memoryBytes)}`}`;
		if (error) return error;
		return describeEnd(endOf(ExitCode, null));
	}

	/** null: there is no such container. */
	async #state(): Promise<State | null> {
		try {
			const text = await this.#options.docker.run([
				"container",
				"inspect",
				"--format",
				"{{json .}}",
				this.name,
			]);
			const { Id, State } = Inspected.parse(JSON.parse(text));
			return { ...State, Id };
		} catch (error) {
			if (error instanceof DockerError && /no such/i.test(error.message))
				return null;
			throw error;
		}
	}
}

// --- internal ---

interface Life {
	readonly ended: Promise<string>;
}

const Inspected = z.object({
	Id: z.string(),
	State: z.object({
		Running: z.boolean(),
		OOMKilled: z.boolean().default(false),
		Pid: z.int().default(0),
		ExitCode: z.int().default(0),
		Error: z.string().default(""),
		FinishedAt: z.string().default("0001-"),
	}),
});
type State = z.infer<typeof Inspected>["State"] & { readonly Id: string };

/** Whether that number is a process of the container on this machine: engines in virtual machines count their own. */
function isOf(id: string, pid: number): boolean {
	if (pid === 0) return false;
	try {
		return readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(id);
	} catch {
		return false;
	}
}
