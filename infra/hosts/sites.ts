import { hostPort } from "../../runner/brokers/addresses.ts";
import {
	type BrokerProcess,
	clientPorts,
	type NodeDescription,
	reachedPorts,
	type Site,
} from "../../runner/brokers/process.ts";
import { writeThere } from "./bring.ts";
import type { ChosenHost } from "./choose-hosts.ts";
import type { Connections } from "./connections.ts";
import type { RunFolders } from "./folders.ts";
import type { BrokerHost } from "./host.ts";
import { openTunnel, type Tunnel } from "./tunnel.ts";

/** A run's things on a host, for one node. */
export interface HostSite extends Site {
	readonly host: BrokerHost;
	readonly folders: RunFolders;
	/** Tunnels to the ports at which the broker is reached. */
	readonly tunnels: readonly Tunnel[];
	/** Files and folders of this machine that the node needs, by their name on the host. */
	readonly uploads: ReadonlyMap<string, string>;
}

/** A node's place on a host of its own: at one of the host's addresses, in the run's folders. */
export async function hostSite(
	kind: Pick<BrokerProcess, "ports">,
	count: number,
	host: BrokerHost,
	{ address, host: hostname }: Pick<ChosenHost, "address" | "host">,
	folders: RunFolders,
): Promise<HostSite> {
	const { control, store, memory, memoryBytes } = folders;
	const ports = kind.ports(count).map(({ number }) => number);
	const tunnels = await Promise.all(
		reachedPorts(kind).map((port) => openTunnel(host.link, host.agent, hostPort(address, port))),
	);
	const clients = clientPorts(kind).map((port) => hostPort(address, port));
	const uploads = new Map<string, string>();
	return {
		host,
		folders,
		tunnels,
		uploads,
		listen: address,
		ip: address,
		hostname,
		ports,
		published: false,
		clients,
		client: clients[0] ?? "",
		health: tunnels[clients.length]?.address ?? "",
		folder: store,
		data: `${store}/data`,
		memory:
			memory === null || memoryBytes === null
				? null
				: { freeBytes: memoryBytes, folder: async () => `${memory}/data` },
		bring(name, from) {
			uploads.set(name, from);
			return `${control}/brought/${name}`;
		},
	};
}

/** Copies what a node needs, each file once and checked by sha256, and writes its files. */
export async function furnish(
	{ host, folders: { control, store }, uploads }: HostSite,
	{ files }: NodeDescription,
	connections: Connections,
): Promise<void> {
	for (const [name, from] of uploads) {
		const there = await host.bring(await connections.bundle(name, from));
		await host.link.run('mkdir -p "$1" && ln -s "$2" "$1/$3"', [`${control}/brought`, there, name]);
	}
	await writeThere(host.remote, host.link, store, files);
}
