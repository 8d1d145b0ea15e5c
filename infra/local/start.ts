import { setTimeout as sleep } from "node:timers/promises";
import type { Command, Launch } from "../../runner/brokers/process.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import type { World } from "../../runner/world.ts";
import {
	bareEnvironment,
	describeEnd,
	type Ended,
	type Guarded,
	startGuarded,
} from "../process.ts";
import { type Broker, type BrokerRequest, NEVER } from "../rig.ts";
import { openBrokerLog } from "./broker-log.ts";
import { disturber } from "./disturb.ts";
import { LocalNode, terminate } from "./node.ts";
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
	const log = openBrokerLog(request.logPath, launch.nodes.length, () =>
		world.clock.nowMs(),
	);
	const running = new Set<Guarded>();
	const stopping = new AbortController();
	const stop = async () => {
		stopping.abort();
		await Promise.all([...running].map((one) => terminate(one, launch.stopMs)));
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
	const nodes = launch.nodes.map(
		(command, i) =>
			new LocalNode({
				number: i + 1,
				run: (take) =>
					run(command, (line) => {
						log.write(line, i + 1);
						take(line);
					}),
				ready: (line) => launch.ready(line, i),
				stopMs: launch.stopMs,
			}),
	);
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
		const starts = nodes.map((node) => ({ node, ...node.start() }));
		const early = starts.map(async ({ ended, node }) => ({
			...(await ended),
			name: nodeName(node.number, nodes.length),
		}));
		const named = (step: Step) =>
			isEnd(step) && "name" in step ? `${step.name}` : "";
		const up = Promise.all(starts.map(({ ready }) => ready)).then(
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
			get pids() {
				return nodes.flatMap(({ pids }) => pids);
			},
			settings: launch.settings,
			topology: nodes.length === 1 ? null : `${nodes.length} nodes on 1 host`,
			nodeOf(name) {
				const number = Number(/\d+$/.exec(name)?.[0]);
				return nodes[number - 1]?.number ?? null;
			},
			disturb: disturber(nodes, log, {
				startMs: launch.startMs,
				stop: AbortSignal.any([world.stop, stopping.signal]),
			}),
			died: Promise.race(
				nodes.map(async ({ died, number }) => {
					const how = describeEnd(await died);
					if (stopping.signal.aborted) return NEVER;
					return `${nodes.length === 1 ? "the broker" : `node ${number} of ${nodes.length}`} ended by itself (${how})`;
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

type Step = "done" | "late" | "stopped" | (Ended & { readonly name?: string });

function isEnd(step: Step): step is Ended & { readonly name?: string } {
	return typeof step === "object";
}

/** Before "exit code 1": nothing where there is one node only. */
function nodeName(number: number, count: number): string {
	return count === 1 ? "" : `node ${number} of ${count}: `;
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
