import { createWriteStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { failure, MqbenchError } from "../../runner/errors.ts";
import type { World } from "../../runner/world.ts";
import { childrenOf, treeOf } from "../pid.ts";
import {
	bareEnvironment,
	describeEnd,
	type Ended,
	type Guarded,
	startGuarded,
} from "../process.ts";
import { type Broker, type BrokerRequest, NEVER } from "../rig.ts";
import type { Command, Launch } from "./local-broker.ts";
import { pinned } from "./pinned.ts";

/** A broker that is up, as far as its launch knows. */
export type Started = Omit<Broker, "close"> & { stop(): Promise<void> };

/**
 * Runs what comes before, starts all nodes, and returns when all have said that they are ready and the broker is healthy.
 * Whatever goes wrong, Ctrl-C included: nothing is left running.
 */
export async function start(
	launch: Launch,
	request: BrokerRequest,
	store: string,
	guard: string,
	world: World,
): Promise<Started> {
	const log = openLog(request.logPath, launch.nodes.length);
	const running = new Set<Guarded>();
	let stopping = false;
	const stop = async () => {
		stopping = true;
		await Promise.all([...running].map((one) => end(one, launch.stopMs)));
		await log.close();
	};
	const run = (command: Command, take: (line: string) => void): Guarded => {
		const child = startGuarded({
			guard,
			argv: pinned(command.argv, request.cpus, world.env),
			cwd: store,
			env: { ...bareEnvironment(store, world.env), ...command.env },
			graceMs: launch.stopMs,
			onStdout: take,
			onStderr: take,
		});
		running.add(child);
		void child.ended.then(() => running.delete(child));
		return child;
	};
	const limit = new Limit(launch.startMs, world.stop);
	/** Throws the sentence that fits, unless the step went well. */
	const judge = (step: Step, whose: string) => {
		if (step === "done") return;
		if (step === "stopped")
			throw failure("interrupted", { signal: String(world.stop.reason) });
		const { key, port } = request.system;
		const taken = launch.portTaken(log.tail());
		if (taken && port !== null)
			throw failure("port-taken", { system: key, port });
		const words = log.lastWords();
		const error = failure("broker-start", {
			system: key,
			reason:
				step === "late"
					? `it ${limit.passed}took no connections within ${launch.startMs / 1000}s`
					: `${whose}${describeEnd(step)}${words ? `, last words: ${words}` : ""}`,
			log: request.logPath,
		});
		throw taken ? new FreePortTaken(error) : error;
	};
	try {
		for (const command of launch.before) {
			const child = run(command, (line) => log.write(line));
			const step = await limit.first(child.ended);
			judge(
				isEnd(step) && step.code === 0 ? "done" : step,
				`${command.argv[0]}: `,
			);
		}
		const nodes = launch.nodes.map((command, i) => {
			let told = () => {};
			const ready = new Promise<"done">((resolve) => {
				told = () => resolve("done");
			});
			const child = run(command, (line) => {
				log.write(line, i);
				if (launch.ready(line, i)) told();
			});
			return { child, ready, name: nodeName(i, launch.nodes.length) };
		});
		const early = nodes.map(async ({ child, name }) => ({
			...(await child.ended),
			name,
		}));
		const named = (step: Step) =>
			isEnd(step) && "name" in step ? `${step.name}` : "";
		const up = Promise.all(nodes.map(({ ready }) => ready)).then(
			() => "done" as const,
		);
		const ready = await limit.first(up, ...early);
		judge(ready, named(ready));
		if (launch.healthy) {
			limit.passed = "was ready and ";
			const healthy = await limit.first(untilHealthy(launch, limit), ...early);
			judge(healthy, named(healthy));
		}
		return {
			url: launch.url(),
			version: launch.version(),
			binary: null,
			sameHost: true,
			// Guard's only child; where that cannot be read, nothing is sampled either.
			pids: nodes.map(({ child }) => childrenOf(child.pid)[0] ?? child.pid),
			settings: launch.settings,
			pause: (node) =>
				frozen(
					nodes
						.filter((_, i) => node === null || node === i + 1)
						// Guard itself goes on: it ends the broker when mqbench is gone.
						.flatMap(({ child }) => childrenOf(child.pid).flatMap(treeOf)),
				),
			died: Promise.race(
				nodes.map(async ({ child }, i) => {
					const how = describeEnd(await child.ended);
					if (stopping) return NEVER;
					const which =
						nodes.length === 1
							? "the broker"
							: `node ${i + 1} of ${nodes.length}`;
					return `${which} ended by itself (${how})`;
				}),
			),
			stop,
		};
	} catch (error) {
		await stop();
		throw error;
	} finally {
		limit.over();
	}
}

/** A port that was free a moment ago is taken: another try gets another one. */
export class FreePortTaken extends MqbenchError {
	constructor({ code, message, exit }: MqbenchError) {
		super(code, message, exit);
	}
}

// --- internal ---

/** Stops the processes, and returns what makes them go on; a process that is gone meanwhile is not missed. */
function frozen(pids: readonly number[]): () => void {
	const send = (signal: "SIGSTOP" | "SIGCONT") => {
		for (const pid of pids)
			try {
				process.kill(pid, signal);
			} catch {
				// It has ended by itself: the run's own to find out.
			}
	};
	send("SIGSTOP");
	return () => send("SIGCONT");
}

type Step = "done" | "late" | "stopped" | (Ended & { readonly name?: string });

function isEnd(step: Step): step is Ended & { readonly name?: string } {
	return typeof step === "object";
}

/** Before "exit code 1": nothing where there is one node only. */
function nodeName(index: number, count: number): string {
	return count === 1 ? "" : `node ${index + 1} of ${count}: `;
}

/** One limit for all that happens until the broker is up, and Ctrl-C. Nothing is left waiting once it's over. */
class Limit {
	/** What has gone well, for the sentence about what has not. */
	passed = "";
	readonly #over = new AbortController();
	readonly #end: Promise<"late" | "stopped">;

	constructor(ms: number, stop: AbortSignal) {
		this.#end = sleep(ms, "late" as const, {
			signal: AbortSignal.any([stop, this.#over.signal]),
		}).catch(() => "stopped" as const);
	}

	get signal(): AbortSignal {
		return this.#over.signal;
	}

	first(...events: readonly Promise<Step>[]): Promise<Step> {
		return Promise.race([...events, this.#end]);
	}

	over(): void {
		this.#over.abort();
	}
}

const HEALTH_MS = 100;

/** An answer that fails is one that says no. */
async function untilHealthy(launch: Launch, limit: Limit): Promise<"done"> {
	while (!(await launch.healthy?.().catch(() => false))) {
		if (limit.signal.aborted) return NEVER;
		await sleep(HEALTH_MS);
	}
	return "done";
}

/** Asks a process to end, and sees to it that it does. */
async function end(child: Guarded, stopMs: number): Promise<void> {
	child.signal("SIGTERM");
	const abandoned = setTimeout(() => child.abandon(), stopMs);
	// Guard kills after another stopMs, unless somebody has frozen guard.
	const killed = setTimeout(() => child.kill(), 2 * stopMs + GUARD_MS);
	await child.ended;
	clearTimeout(abandoned);
	clearTimeout(killed);
	child.abandon();
}

/** Guard has this long beyond its grace. */
const GUARD_MS = 3_000;

/** The one log of all nodes: each line tells whose it is where there are several. */
function openLog(file: string, nodes: number) {
	const stream = createWriteStream(file, { flags: "a" });
	// A full disk must not end the run: the log is a convenience.
	stream.on("error", () => {});
	let tail = "";
	return {
		write(line: string, node?: number) {
			const text =
				node === undefined || nodes === 1 ? line : `[${node + 1}] ${line}`;
			tail = `${tail}${text}\n`.slice(-4000);
			stream.write(`${text}\n`);
		},
		tail: () => tail,
		lastWords: () => tail.trim().split("\n").at(-1) ?? "",
		close: () => new Promise<void>((resolve) => void stream.end(resolve)),
	};
}
