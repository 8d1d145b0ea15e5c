import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "../../runner/world.ts";
import type { BrokerLog } from "../local/broker-log.ts";
import type { Broker, Disturbance } from "../rig.ts";
import type { Docker } from "./cli.ts";
import type { Engine } from "./engine.ts";
import { delayPackets } from "./latency.ts";
import type { Network } from "./network.ts";
import type { DockerNode } from "./node.ts";

export interface DisturberOptions {
	readonly docker: Docker;
	readonly engine: Engine;
	readonly network: Network;
	readonly world: World;
	/** The broker outlives this run: what was done to it is taken back even when the run is stopped. */
	readonly stays: boolean;
	/** How long a node may take to come up again, and to go down. */
	readonly startMs: number;
	readonly stopMs: number;
	/** Resolves when the broker as a whole answers again. */
	healthy(over: AbortSignal): Promise<void>;
}

/** What may be done to a broker's containers. Their data, addresses and logs stay as they are. */
export function containerDisturber(
	nodes: readonly DockerNode[],
	log: BrokerLog,
	options: DisturberOptions,
): Broker["disturb"] {
	const { docker, network } = options;
	const actions: Record<
		Disturbance["action"],
		(node: DockerNode, delayNs: number) => Promise<Back>
	> = {
		async pause(node) {
			const goOn = await node.freeze();
			log.note(`paused node ${node.number}`, node.number);
			return async () => {
				await goOn();
				log.note(`node ${node.number} goes on`, node.number);
			};
		},
		async kill(node) {
			await node.kill();
			log.note(`killed node ${node.number} (SIGKILL)`, node.number);
			return () => again(node, log, options);
		},
		async restart(node) {
			log.note(`asked node ${node.number} to end (SIGTERM)`, node.number);
			await node.end(options.stopMs);
			log.note(`node ${node.number} has ended`, node.number);
			return () => again(node, log, options);
		},
		async partition(node) {
			node.mustBeUp();
			const ip = await docker.run([
				...["container", "inspect", "--format"],
				`{{(index .NetworkSettings.Networks ${JSON.stringify(network.name)}).IPAddress}}`,
				node.name,
			]);
			await docker.run(["network", "disconnect", network.name, node.name]);
			log.note(`cut node ${node.number} off from its network`, node.number);
			return async () => {
				await docker.run([
					...["network", "connect", "--ip", ip],
					...[network.name, node.name],
				]);
				log.note(`node ${node.number} has its network again`, node.number);
			};
		},
		async latency(node, delayNs) {
			node.mustBeUp();
			const back = await delayPackets(
				await node.pid(),
				delayNs,
				options.world.env,
			);
			log.note(
				`packets of node ${node.number} leave ${delayNs / 1e6} ms later`,
				node.number,
			);
			return async () => {
				await back();
				log.note(
					`packets of node ${node.number} leave at once again`,
					node.number,
				);
			};
		},
	};
	return async ({ action, node, delayNs }) => {
		const some = nodes.filter(({ number }) => node === null || node === number);
		if (some.length === 0) throw new Error(`there is no node ${node}`);
		const done = await Promise.allSettled(
			some.map((one) => actions[action](one, delayNs ?? 0)),
		);
		const backs = done.flatMap((one) =>
			one.status === "fulfilled" ? [one.value] : [],
		);
		const back = () => all(backs.map((one) => one()));
		const failed = done.find((one) => one.status === "rejected");
		if (failed) {
			// Half of a fault is none: what was done is taken back.
			await back().catch(() => {});
			throw failed.reason;
		}
		return back;
	};
}

// --- internal ---

type Back = () => Promise<void>;

/** Starts a node that is down, and waits until it is ready, and the broker healthy. */
async function again(
	node: DockerNode,
	log: BrokerLog,
	{ world, stays, startMs, healthy }: DisturberOptions,
): Promise<void> {
	if (world.stop.aborted && !stays) throw new Error("the run is over");
	const { ready, ended } = await node.start();
	log.note(`started node ${node.number} again`, node.number);
	const over = new AbortController();
	const limit = sleep(startMs, "late" as const, {
		signal: AbortSignal.any([...(stays ? [] : [world.stop]), over.signal]),
	}).catch(() => "stopped" as const);
	try {
		const step = await Promise.race([
			ready.then(() => healthy(over.signal)).then(() => "ready" as const),
			ended.then((how) => ({ how })),
			limit,
		]);
		if (step === "stopped") throw new Error("the run is over");
		if (step === "late")
			throw new Error(
				`node ${node.number} was started again and did not become ready in time`,
			);
		if (step !== "ready") {
			const words = log.lastWords();
			throw new Error(
				`node ${node.number} was started again and ended: ${step.how}${words ? `, last words: ${words}` : ""}`,
			);
		}
	} finally {
		over.abort();
	}
	log.note(`node ${node.number} is ready again`, node.number);
}

/** Waits for all of them, whatever becomes of the first. */
async function all(promises: readonly Promise<void>[]): Promise<void> {
	for (const settled of await Promise.allSettled(promises))
		if (settled.status === "rejected") throw settled.reason;
}
