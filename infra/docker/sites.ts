import { ANY, type BrokerProcess, clientPorts, type Site } from "../../runner/brokers/process.ts";

/** A node's container. */
export interface ContainerSite extends Site {
	/** How this machine reaches each of its `reachedPorts`, "host:port". */
	readonly reached: readonly string[];
}

/** Paths and addresses of node `i`, in an unchanged image. */
export function containerSite(
	kind: Pick<BrokerProcess, "ports" | "container">,
	count: number,
	i: number,
	{ reached, ...node }: Pick<ContainerSite, "ip" | "reached" | "published">,
): ContainerSite {
	const clients = reached.slice(0, clientPorts(kind).length);
	return {
		...node,
		reached,
		clients,
		client: clients[0] ?? "",
		...pathsInside(kind),
		listen: ANY,
		hostname: `mqbench-${i + 1}`,
		ports: kind.ports(count).map(({ number }) => number),
		health: reached[clients.length] ?? "",
	};
}

/** Paths of a node's files and data in its container. */
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
