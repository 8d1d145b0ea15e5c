import path from "node:path";
import { imageOf } from "../../runner/brokers/index.ts";
import type { BrokerProcess, ImageFacts, NodeDescription } from "../../runner/brokers/process.ts";
import { once } from "../../runner/once.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { commandOf, limitWords } from "../docker/container.ts";
import { flushText } from "../docker/flush.ts";
import { pathsInside } from "../docker/sites.ts";
import type { Connections } from "../hosts/connections.ts";
import { unlessStopped } from "../hosts/patience.ts";
import { hostPlace } from "../hosts/place.ts";
import { expectSamples, fetchSamples } from "../hosts/samples.ts";
import { hostSite } from "../hosts/sites.ts";
import { writeThere } from "../machines/files.ts";
import { makeFolders } from "../machines/folders.ts";
import { connectMachine, type RemoteMachine } from "../machines/machine.ts";
import { unwritable } from "../machines/trouble.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Place } from "../nodes/place.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { settled } from "../settled.ts";
import type { Cluster, PodHost } from "./cluster.ts";
import type { PodVolume } from "./job.ts";

/**
 * Brings up the broker of a system in pods of its own, one a node, from the image that target docker would run. The pods wait; the broker is a
 * command in them, behind agent, as on a host: so it can be paused, killed and started again with the same address and data. After any failure,
 * Ctrl-C included, nothing of them is left.
 */
export async function openInPods(
	cluster: Cluster,
	settings: Kubernetes,
	kind: BrokerProcess,
	request: BrokerRequest,
	world: World,
	connections: Pick<Connections, "bundle" | "say" | "tools"> & { readonly binaries: Binaries },
): Promise<Broker> {
	const { system, level, messageBytes } = request;
	const { cpus = null, memory = null, nodes: count = 1 } = system.options;
	const image = imageOf(system);
	const inside = pathsInside(kind);
	const store = storeOf(level, settings);
	const volumes: PodVolume[] = [{ path: inside.data, kind: store.kind }];
	// An image keeps things of its own in its own folder; of ours it knows nothing.
	if (kind.container.folder === undefined) volumes.push({ path: inside.folder, kind: "disk" });
	const undo: (() => Promise<unknown>)[] = [];
	const remove = once(async () => {
		for (const action of undo.reverse()) await action().catch(() => {});
	});
	try {
		const asked = { count, role: "broker", image, cpus, memory, volumes } as const;
		const { pods, remove: removePods } = await cluster.start(asked, system.key);
		undo.push(removePods);
		const sites = await settled(
			pods.map(async (pod) => {
				const host = await connectMachine(pod, { ...connections, world }, world.stop);
				undo.push(() => host.link.close());
				const folders = await makeFolders(host.remote, host.link, host.facts.store);
				const at = { address: pod.ip, host: pod.node };
				const site = await hostSite(kind, count, host, at, folders);
				undo.push(async () => site.tunnel?.close());
				return { ...site, ...inside };
			}),
		);
		const hosts = sites.map(({ host }) => host);
		const [first] = hosts as [RemoteMachine];
		const facts = await imageFacts(first, image);
		const made = await unlessStopped(
			kind.describe({
				system,
				level,
				messageBytes,
				image: facts,
				nodes: sites,
				tools: connections.tools(connections.binaries),
				ask: null,
				where: { disk: store.text, memory: "tmpfs" },
			}),
			world.stop,
		);
		const flush = made.flushes ? await first.flush(inside.data) : null;
		const log = path.dirname(request.logPath);
		for (const [i] of sites.entries()) await expectSamples(i + 1, log);
		return await openBroker({
			facts: made,
			places: sites.map((site, i): Place => {
				const { host } = site;
				const { run: _, ...place } = hostPlace({
					site,
					number: i + 1,
					cpus: null,
					stopMs: made.stopMs,
					fetchSamples: () => fetchSamples(site, i + 1, log).catch(() => {}),
					async prepare({ files }) {
						await host.link.run('mkdir -p "$1"', [inside.folder]);
						await writeThere(host.remote, host.link, inside.folder, files, 0o444);
					},
				});
				return { ...place, start: (node, take) => place.start(inContainer(node, facts), take) };
			}),
			request,
			world,
			remove,
			about: {
				binary: image,
				sameHost: false,
				// Clients on a node of the cluster that has one of these are recognized by its kernel.
				identities: hosts.flatMap(({ facts }) => facts.identity ?? []),
				hosts: hosts.map(({ name, facts: { settings } }) => ({
					name,
					role: "brokers" as const,
					settings,
				})),
				notes: notesOf(system.key, pods),
				topology: topologyOf(pods, limitWords({ cpus, memory })),
				settings: {
					...made.settings,
					image,
					host: [...new Set(hosts.map(({ facts }) => facts.machine))].join("; "),
					...(made.flushes ? { store: store.text, "volume fdatasync": flushText(flush) } : {}),
				},
			},
		});
	} catch (error) {
		await remove();
		orInterrupted(world.stop);
		throw error;
	}
}

// --- internal ---

/** Where a broker's data is, and what reports say of it. */
function storeOf(
	level: BrokerRequest["level"],
	{ storageClass }: Kubernetes,
): Pick<PodVolume, "kind"> & { readonly text: string } {
	if (level === "memory") return { kind: "memory", text: "emptyDir in memory" };
	return storageClass === null
		? { kind: "disk", text: "emptyDir, node disk" }
		: { kind: "storage", text: `volume of storage class ${storageClass}` };
}

/** What the image is, as seen from a container of it: the API of a cluster tells no entry point. */
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
		env: Object.fromEntries(
			pairs
				.filter((pair) => pair.includes("=") && !/^(HOSTNAME|KUBERNETES_.*?|)=/.test(pair))
				.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
		),
		entrypoint: values.entrypoint ? [values.entrypoint] : [],
	};
}

/** The first process has the environment that the image gives. All official images of servers call their entry point alike. */
const LOOK =
	'echo "mqbench:env=$(base64 </proc/1/environ | tr -d \'\\n\')"; for e in docker-entrypoint.sh /docker-entrypoint.sh; do p=$(command -v "$e") && echo "mqbench:entrypoint=$p" && break; done; true';

/** What memory held is gone after a kill, so the preparations of a node run before each of its starts. */
function inContainer(node: NodeDescription, { entrypoint, env }: ImageFacts): NodeDescription {
	const { entrypoint: instead, args } = commandOf(node);
	return {
		...node,
		before: [],
		argv: [...(instead ? [instead] : entrypoint), ...args],
		env: { HOME: "/", ...env, ...node.env },
	};
}

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
