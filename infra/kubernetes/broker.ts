import path from "node:path";
import { imageOf } from "../../runner/brokers/index.ts";
import type {
	BrokerProcess,
	ImageFacts,
	NodeDescription,
	Setup,
} from "../../runner/brokers/process.ts";
import { once } from "../../runner/once.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { formatBytes, plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { commandOf, limitWords } from "../docker/container.ts";
import { flushText } from "../docker/flush.ts";
import { pathsInside } from "../docker/sites.ts";
import type { Connections } from "../hosts/connections.ts";
import { unlessStopped } from "../hosts/patience.ts";
import { hostPlace } from "../hosts/place.ts";
import { expectSamples, fetchSamples } from "../hosts/samples.ts";
import { type HostSite, hostSite } from "../hosts/sites.ts";
import { writeThere } from "../machines/files.ts";
import { makeFolders, type RunFolders } from "../machines/folders.ts";
import { connectMachine, type RemoteMachine } from "../machines/machine.ts";
import { unwritable } from "../machines/trouble.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Place } from "../nodes/place.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { settled } from "../settled.ts";
import type { Cluster, PodHost } from "./cluster.ts";
import type { PodsAsked, PodVolume } from "./job.ts";

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
	const asked = podsOfBroker(kind, request, settings);
	const { count, image, cpus, memory } = asked;
	const [store] = asked.volumes as [PodVolume];
	const inMemory = store.kind === "memory";
	const undo: (() => Promise<void>)[] = [];
	const remove = once(async () => {
		for (const action of undo.reverse()) await action().catch(() => {});
	});
	const wait = <T>(step: Promise<T>) => unlessStopped(step, world.stop);
	const { folder } = pathsInside(kind);
	try {
		const pods = await cluster.start(asked, system.key);
		undo.push(() => cluster.remove(pods));
		const hosts = await settled(
			pods.map(async (pod) => {
				const host = await connectMachine(pod, { ...connections, world }, world.stop);
				undo.push(() => host.link.close());
				return host;
			}),
		);
		const folders = await settled(
			hosts.map(({ remote, link, facts }) => makeFolders(remote, link, facts.store)),
		);
		const sites = await settled(
			hosts.map(async (host, i) => {
				const { ip, node } = pods[i] as PodHost;
				const site = await hostSite(
					kind,
					count,
					host,
					{ address: ip, host: node },
					folders[i] as RunFolders,
				);
				undo.push(async () => site.tunnel?.close());
				return { ...site, ...pathsInside(kind) };
			}),
		);
		const facts = await imageFacts(hosts[0] as RemoteMachine, image);
		const setup: Setup = {
			system,
			level,
			messageBytes,
			image: facts,
			nodes: sites,
			tools: connections.tools(connections.binaries),
			ask: null,
			where: { disk: STORES[store.kind], memory: STORES.memory },
		};
		const made = await wait(kind.describe(setup));
		if (made.data === "memory" && !inMemory)
			throw new Error(`${system.key} stores in memory without being asked to`);
		const flush = made.flushes
			? await (hosts[0] as RemoteMachine).flush(kind.container.data)
			: null;
		const log = path.dirname(request.logPath);
		for (const [i] of sites.entries()) await expectSamples(i + 1, log);
		return await openBroker({
			facts: made,
			places: sites.map((site, i) =>
				podPlace(site, facts, {
					number: i + 1,
					stopMs: made.stopMs,
					folder,
					fetchSamples: () => fetchSamples(site, i + 1, log).catch(() => {}),
				}),
			),
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
				topology: topologyOf(pods, { cpus, memory }),
				settings: {
					...made.settings,
					image,
					host: [...new Set(hosts.map(({ facts }) => facts.machine))].join("; "),
					...(made.flushes
						? { store: storeText(store.kind, settings), "volume fdatasync": flushText(flush) }
						: {}),
				},
			},
		});
	} catch (error) {
		await remove();
		orInterrupted(world.stop);
		throw error;
	}
}

/** The pods of a system's broker: one a node; the first of their volumes is the store. */
export function podsOfBroker(
	{ container }: Pick<BrokerProcess, "container">,
	{ system, level }: Pick<BrokerRequest, "system" | "level">,
	{ storageClass }: Kubernetes,
): Omit<PodsAsked, "name"> {
	const { cpus = null, memory = null, nodes: count = 1 } = system.options;
	const onDisk = storageClass === null ? "disk" : "storage";
	return {
		count,
		role: "broker",
		image: imageOf(system),
		cpus,
		memory,
		volumes: [
			{ path: container.data, kind: level === "memory" ? "memory" : onDisk },
			// An image keeps things of its own in another folder; of this one it knows nothing.
			...(container.folder === undefined
				? [{ path: pathsInside({ container }).folder, kind: "disk" as const }]
				: []),
		],
	};
}

// --- internal ---

const STORES: Readonly<Record<PodVolume["kind"], string>> = {
	disk: "on the node's disk",
	memory: "tmpfs",
	storage: "on a volume",
};

function storeText(kind: PodVolume["kind"], { storageClass }: Kubernetes): string {
	return kind === "storage"
		? `volume of storage class ${storageClass}`
		: kind === "memory"
			? "emptyDir in memory"
			: "emptyDir, node disk";
}

/** What the image is, as seen from a container of it: the API of a cluster tells no entry point. */
async function imageFacts({ link, remote }: RemoteMachine, name: string): Promise<ImageFacts> {
	const { values, code, err } = await link.run(LOOK);
	if (code !== 0) throw unwritable(remote, "/proc", err, "store");
	const env = Object.fromEntries(
		Buffer.from(values.env ?? "", "base64")
			.toString("utf8")
			.split("\0")
			.flatMap((pair) => {
				const at = pair.indexOf("=");
				const key = pair.slice(0, at);
				return at > 0 && !/^(HOSTNAME|KUBERNETES_.*)$/.test(key)
					? [[key, pair.slice(at + 1)] as const]
					: [];
			}),
	);
	return {
		name,
		digest: null,
		id: name,
		env,
		entrypoint: values.entrypoint ? [values.entrypoint] : [],
	};
}

/** The first process has the environment that the image gives. All official images of servers call their entry point alike. */
const LOOK =
	'echo "mqbench:env=$(base64 </proc/1/environ | tr -d \'\\n\')"; for e in docker-entrypoint.sh /docker-entrypoint.sh; do p=$(command -v "$e") && echo "mqbench:entrypoint=$p" && break; done; true';

/** A pod as a place: a host whose command is behind the image's entry point. */
function podPlace(
	site: HostSite,
	image: ImageFacts,
	{
		number,
		stopMs,
		folder,
		fetchSamples,
	}: {
		readonly number: number;
		readonly stopMs: number;
		readonly folder: string;
		fetchSamples(): Promise<void>;
	},
): Place {
	const { host } = site;
	const { run: _, ...place } = hostPlace({
		site,
		number,
		cpus: null,
		stopMs,
		fetchSamples,
		async prepare({ files }) {
			await host.link.run('mkdir -p "$1"', [folder]);
			await writeThere(host.remote, host.link, folder, files, 0o444);
		},
	});
	return { ...place, start: (node, take) => place.start(inContainer(node, image), take) };
}

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
	return [...new Set(pods.map(({ node }) => node))]
		.map((node) => ({ node, count: pods.filter((pod) => pod.node === node).length }))
		.filter(({ count }) => count > 1)
		.map(({ node, count }) => `${count} pods of ${system} share the node ${node}`);
}

/** "3 pods on 2 nodes of the cluster, each of at most 2 CPUs, 1GiB" */
function topologyOf(
	pods: readonly PodHost[],
	{ cpus, memory }: { readonly cpus: number | null; readonly memory: number | null },
): string {
	const nodes = new Set(pods.map(({ node }) => node));
	const limits = limitWords({ cpus, memory: memory === null ? null : formatBytes(memory) }).join(
		", ",
	);
	return `${plural(pods.length, "pod")} on ${plural(nodes.size, "node")} of the cluster (${[...nodes].join(", ")})${limits === "" ? "" : `, ${pods.length > 1 ? "each " : ""}of at most ${limits}`}`;
}
