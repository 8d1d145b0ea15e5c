import { brokerOf, imageOf } from "../../runner/brokers/index.ts";
import type { BrokerProcess, ImageFacts } from "../../runner/brokers/process.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { limitWords } from "../docker/container.ts";
import { flushText } from "../docker/flush.ts";
import { pathsInside } from "../docker/sites.ts";
import { brokerOn } from "../hosts/broker-on.ts";
import { type Connections, connections } from "../hosts/connections.ts";
import { hostPlace } from "../hosts/place.ts";
import type { HostSite } from "../hosts/sites.ts";
import { writeThere } from "../machines/files.ts";
import type { RemoteMachine } from "../machines/machine.ts";
import { unwritable } from "../machines/trouble.ts";
import { pairsIn } from "../pairs.ts";
import type { Binaries } from "../programs/resolve.ts";
import { type Broker, type BrokerRequest, type Rig, rigOf, untouchedBroker } from "../rig.ts";
import { settled } from "../settled.ts";
import { type Cluster, clusterOf, type PodHost } from "./cluster.ts";
import type { PodVolume } from "./job.ts";

/** Target kubernetes: brokers in pods, new ones for each run. */
export async function kubernetesRig(
	settings: Kubernetes,
	world: World,
	binaries: Binaries,
): Promise<Rig> {
	const hosts = connections(world, binaries);
	const cluster = clusterOf(settings, world, hosts.say);
	return rigOf(
		async (request: BrokerRequest) => {
			const kind = brokerOf(request.system).process;
			if (!kind) return untouchedBroker();
			return await openInPods(cluster, settings, kind, request, world, hosts);
		},
		async () => {
			await cluster.close();
			await hosts.close();
		},
	);
}

// --- internal ---

/**
 * Brings up the broker of a system in dedicated pods, one a node, from the image that target docker would run. The pods wait; the broker is
 * a command in them, behind agent, as on a host: so it can be paused, killed and started again with the same address and data.
 */
function openInPods(
	cluster: Cluster,
	settings: Kubernetes,
	kind: BrokerProcess,
	request: BrokerRequest,
	world: World,
	connections: Connections,
): Promise<Broker> {
	const { system, level } = request;
	const { cpus = null, memory = null, nodes: count = 1 } = system.options;
	const name = imageOf(system);
	const { folder, data } = pathsInside(kind);
	const store = storeOf(level, settings);
	const volumes: PodVolume[] = [{ path: data, kind: store.kind }];
	// An image keeps its own data in its own folder, and does not use ours.
	if (kind.container.folder === undefined) volumes.push({ path: folder, kind: "disk" });
	return brokerOn(request, kind, world, connections, async ({ undo, sites: make }) => {
		const asked = { count, role: "broker", image: name, cpus, memory, volumes } as const;
		const { pods, remove } = await cluster.start(asked, system.key);
		undo(remove);
		const sites = await make(
			await settled(
				pods.map(async (pod) => {
					const host = await connections.connect(pod);
					undo(() => host.link.close());
					return { host, address: pod.ip, hostname: pod.node };
				}),
			),
			false,
		);
		const [{ host: first }] = sites as [HostSite];
		const image = await imageFacts(first, name);
		return {
			sites,
			image,
			ask: null,
			where: { disk: store.text, memory: "tmpfs" },
			store: {
				text: store.text,
				flush: async () => ({ "volume fdatasync": flushText(await first.flush(data)) }),
			},
			notes: notesOf(system.key, pods),
			topology: topologyOf(pods, limitWords({ cpus, memory })),
			place: (common) =>
				hostPlace({
					...common,
					cpus: null,
					async prepare({ files }) {
						const { link, remote } = common.site.host;
						await link.run('mkdir -p "$1"', [folder]);
						await writeThere(remote, link, folder, files, 0o444);
					},
				}),
		};
	});
}

/** Where a broker's data is, and the report's text about it. */
function storeOf(
	level: BrokerRequest["level"],
	{ storageClass }: Kubernetes,
): Pick<PodVolume, "kind"> & { readonly text: string } {
	if (level === "memory") return { kind: "memory", text: "emptyDir in memory" };
	return storageClass === null
		? { kind: "disk", text: "emptyDir, node disk" }
		: { kind: "storage", text: `volume of storage class ${storageClass}` };
}

/** The image's properties, as seen from a container of it: the API of a cluster does not show an entry point. */
async function imageFacts({ link, remote }: RemoteMachine, name: string): Promise<ImageFacts> {
	const { values, code, err } = await link.run(LOOK);
	if (code !== 0) throw unwritable(remote, "/proc", err, "store");
	const pairs = Buffer.from(values.env ?? "", "base64")
		.toString("utf8")
		.split("\0");
	return {
		name,
		digest: null,
		id: name,
		env: pairsIn(pairs.filter((one) => /^(?!(HOSTNAME|KUBERNETES_[^=]*)=)[^=]+=/.test(one))),
		entrypoint: values.entrypoint ? [values.entrypoint] : [],
	};
}

/** The first process has the environment that the image gives. All official images of servers call their entry point alike. */
const LOOK =
	'echo "mqbench:env=$(base64 </proc/1/environ | tr -d \'\\n\')"; for e in docker-entrypoint.sh /docker-entrypoint.sh; do p=$(command -v "$e") && echo "mqbench:entrypoint=$p" && break; done; true';

/** A note for each node of the cluster that has several of the broker's pods. */
function notesOf(system: string, pods: readonly PodHost[]): string[] {
	return [...new Set(pods.map(({ node }) => node))].flatMap((node) => {
		const count = pods.filter((pod) => pod.node === node).length;
		return count > 1 ? [`${count} pods of ${system} share the node ${node}`] : [];
	});
}

/** "3 pods on 2 nodes of the cluster, each of at most 2 CPUs, 1GiB" */
function topologyOf(pods: readonly PodHost[], limits: readonly string[]): string {
	const nodes = [...new Set(pods.map(({ node }) => node))];
	const all = `${plural(pods.length, "pod")} on ${plural(nodes.length, "node")} of the cluster (${nodes.join(", ")})`;
	const each = pods.length > 1 ? "each " : "";
	return limits.length === 0 ? all : `${all}, ${each}of at most ${limits.join(", ")}`;
}
