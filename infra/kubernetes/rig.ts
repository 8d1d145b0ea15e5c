import { brokerOf } from "../../runner/brokers/index.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import type { World } from "../../runner/world.ts";
import { connections } from "../hosts/connections.ts";
import type { Binaries } from "../programs/resolve.ts";
import { type Broker, type Rig, untouchedBroker } from "../rig.ts";
import { openInPods } from "./broker.ts";
import { clusterOf } from "./cluster.ts";

/** Target kubernetes: brokers in pods, new ones for each run. */
export async function kubernetesRig(
	settings: Kubernetes,
	world: World,
	binaries: Binaries,
): Promise<Rig> {
	const hosts = connections(world, binaries);
	const cluster = clusterOf(settings, world, hosts.say);
	const open = new Set<Broker>();
	return {
		clients: [],
		async open(request) {
			const kind = brokerOf(request.system).process;
			if (!kind) return untouchedBroker();
			const broker = await openInPods(cluster, settings, kind, request, world, {
				...hosts,
				binaries,
			});
			open.add(broker);
			return broker;
		},
		async teardown() {
			await Promise.all([...open].map((broker) => broker.close()));
			open.clear();
			await cluster.close();
			await hosts.close();
		},
	};
}
