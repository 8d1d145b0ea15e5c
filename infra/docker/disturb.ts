import type { World } from "../../runner/world.ts";
import { type Back, disturbEach, startAgain } from "../disturb.ts";
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
	return disturbEach(nodes, (node, { action, delayNs }) =>
		actions[action](node, delayNs ?? 0),
	);
}

// --- internal ---

function again(
	node: DockerNode,
	log: BrokerLog,
	{ world, stays, startMs, healthy }: DisturberOptions,
): Promise<void> {
	return startAgain(node, log, {
		stop: stays ? null : world.stop,
		startMs,
		healthy,
	});
}
