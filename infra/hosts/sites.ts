import { hostPort } from "../../runner/brokers/addresses.ts";
import {
	type BrokerProcess,
	clientPorts,
	type NodeDescription,
	type Site,
} from "../../runner/brokers/process.ts";
import { writeThere } from "../machines/files.ts";
import type { RunFolders } from "../machines/folders.ts";
import type { RemoteMachine } from "../machines/machine.ts";
import { openTunnel, type Tunnel } from "./tunnel.ts";

/** A machine for one node, and where the node listens. */
export interface NodeMachine {
	readonly host: RemoteMachine;
	readonly address: string;
	/** For other nodes and for people. */
	readonly hostname: string;
}

/** A run's things on a host, for one node. */
export interface HostSite extends Site {
	readonly host: RemoteMachine;
	readonly folders: RunFolders;
	/** To the port of its health check; null if it has none. */
	readonly tunnel: Tunnel | null;
	/** Files and folders of this machine that the node needs, by their name on the host. */
	readonly uploads: ReadonlyMap<string, string>;
}

/** A node's place on its own host: at one of the host's addresses, in the run's folders. */
export async function hostSite(
	kind: Pick<BrokerProcess, "ports">,
	count: number,
	{ host, address, hostname }: NodeMachine,
	folders: RunFolders,
): Promise<HostSite> {
	const { control, store, memory } = folders;
	const ports = kind.ports(count);
	const health = ports.find(({ from }) => from === "health");
	const tunnel = health
		? await openTunnel(host.link, host.agent, hostPort(address, health.number))
		: null;
	const clients = clientPorts(kind).map((port) => hostPort(address, port));
	const uploads = new Map<string, string>();
	return {
		host,
		folders,
		tunnel,
		uploads,
		listen: address,
		ip: address,
		hostname,
		ports: ports.map(({ number }) => number),
		published: false,
		clients,
		client: clients[0] ?? "",
		health: tunnel?.address ?? "",
		folder: store,
		data: `${store}/data`,
		memory: memory && {
			freeBytes: memory.freeBytes,
			folder: async () => `${memory.folder}/data`,
		},
		bring(name, from) {
			uploads.set(name, from);
			return `${control}/brought/${name}`;
		},
	};
}

/** Copies the files that a node needs, each once and checked by sha256, and writes its own files. */
export async function furnish(
	{ host, folders: { control, store }, uploads }: HostSite,
	{ files }: NodeDescription,
): Promise<void> {
	for (const [name, from] of uploads) {
		const there = await host.put(name, from);
		await host.link.run('mkdir -p "$1" && ln -s "$2" "$1/$3"', [`${control}/brought`, there, name]);
	}
	await writeThere(host.remote, host.link, store, files);
}
