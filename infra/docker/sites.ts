import {
	ANY,
	type BrokerProcess,
	clientPorts,
	reachedPorts,
	type Site,
} from "../../runner/brokers/process.ts";
import { freePorts } from "../local/ports.ts";
import type { BrokerRequest } from "../rig.ts";
import { isHop, type RigInDocker } from "./rig-in-docker.ts";

/** A node's container. */
export interface ContainerSite extends Site {
	/** How this machine reaches each of its `reachedPorts`, "host:port". */
	readonly reached: readonly string[];
}

/** Where the nodes of a broker are going to run; `first` is the last number of the first one's address. */
export async function newSites(
	{ network, inside }: RigInDocker,
	kind: BrokerProcess,
	request: BrokerRequest,
	first: number,
): Promise<ContainerSite[]> {
	const count = request.system.options.nodes ?? 1;
	const ports = reachedPorts(kind);
	const ofClients = clientPorts(kind);
	const free = network.direct
		? []
		: await freePorts({ ...request.system, port: null }, count * ports.length);
	return Array.from({ length: count }, (_, i) => {
		const ip = `${network.prefix}.${first + i}`;
		const reached = ports.map((port, p) =>
			network.direct ? `${ip}:${port}` : `127.0.0.1:${free[i * ports.length + p]}`,
		);
		return containerSite(kind, count, i, {
			ip,
			reached,
			...(inside ? { clients: ofClients.map((port) => `${ip}:${port}`) } : {}),
			published: isHop({ network, inside }),
		});
	});
}

/** Paths of node `i`, in an unchanged image. */
export function containerSite(
	kind: Pick<BrokerProcess, "ports" | "container">,
	count: number,
	i: number,
	{
		reached,
		clients = reached.slice(0, clientPorts(kind).length),
		...node
	}: Pick<ContainerSite, "ip" | "reached" | "published"> & Partial<Pick<ContainerSite, "clients">>,
): ContainerSite {
	return {
		...node,
		reached,
		clients,
		client: clients[0] ?? "",
		...pathsInside(kind),
		listen: ANY,
		hostname: `mqbench-${i + 1}`,
		ports: kind.ports(count).map(({ number }) => number),
		health: reached[clientPorts(kind).length] ?? "",
	};
}

/** Where a node's files and data lie in its container, wherever that is. */
export function pathsInside({
	container: { data, folder = "/etc/mqbench" },
}: Pick<BrokerProcess, "container">): Pick<Site, "folder" | "data" | "memory" | "bring"> {
	return {
		folder,
		data,
		memory: { freeBytes: Number.POSITIVE_INFINITY, folder: async () => data },
		bring() {
			throw new Error("an image has all that it needs");
		},
	};
}
