import { once } from "../../runner/once.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import type { World } from "../../runner/world.ts";
import { remoteClient } from "../clients/remote.ts";
import type { RemoteHost } from "../machines/host.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { Client } from "../rig.ts";
import { clusterOf, type PodHost } from "./cluster.ts";

/** Pods of one Job that make load. They are made when the first of them is prepared, and removed when the last one is closed. */
export function podClients(
	count: number,
	settings: Kubernetes,
	world: World,
	binaries: Binaries,
): Client[] {
	const say = (line: string) => void world.stderr.write(`${line}\n`);
	const cluster = clusterOf(settings, world, say);
	const { image, resources } = settings;
	const job = once(() => cluster.start({ count, role: "load", image, ...resources, volumes: [] }));
	let open = count;
	return Array.from({ length: count }, (_, index) => {
		let pod: PodHost | null = null;
		// It has a name once it has a node.
		const host: RemoteHost = {
			get name() {
				return pod?.name ?? `pod ${index + 1}`;
			},
			setUp: false,
			container: { cpus: resources.cpus },
			async connect(using, stop, first) {
				const { pods } = await job();
				pod = pods[index] as PodHost;
				return pod.connect(using, stop, first);
			},
		};
		const client = remoteClient(index, host, { world, binaries, say }, "pod");
		return {
			...client,
			get name() {
				return host.name;
			},
			close: once(async () => {
				await client.close();
				open--;
				if (open === 0) await cluster.close();
			}),
		};
	});
}
