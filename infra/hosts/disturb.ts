import { disturbEach, startAgain } from "../disturb.ts";
import type { BrokerLog } from "../local/broker-log.ts";
import type { Broker } from "../rig.ts";
import type { HostNode } from "./node.ts";

/** What may be done to a broker's nodes on hosts. Their data, addresses and logs stay as they are. */
export function hostDisturber(
	nodes: readonly HostNode[],
	log: BrokerLog,
	{
		stop,
		startMs,
		stopMs,
	}: {
		/** Nothing is started any more. */
		readonly stop: AbortSignal;
		/** How long a node may take to come up again, and to go down. */
		readonly startMs: number;
		readonly stopMs: number;
	},
): Broker["disturb"] {
	const again = (node: HostNode) =>
		startAgain(node, log, { stop, startMs, healthy: async () => {} });
	return disturbEach(nodes, async (node, { action }) => {
		const { number } = node;
		switch (action) {
			case "pause": {
				const goOn = await node.freeze();
				log.note(`paused node ${number} (SIGSTOP)`, number);
				return async () => {
					await goOn();
					log.note(`node ${number} goes on (SIGCONT)`, number);
				};
			}
			case "kill":
				await node.kill();
				log.note(`killed node ${number} (SIGKILL)`, number);
				return () => again(node);
			case "restart":
				node.mustBeUp();
				log.note(`asked node ${number} to end (SIGTERM)`, number);
				await node.end(stopMs);
				log.note(`node ${number} has ended`, number);
				return () => again(node);
			default:
				throw new Error(
					`${action} is for target docker: mqbench has no network of its own between these hosts`,
				);
		}
	});
}
