import { commonOptions } from "../../runner/brokers/index.ts";
import type {
	Containment,
	DockerBroker,
	NodeAddress,
} from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import { freePorts } from "../local/ports.ts";
import type { BrokerRequest } from "../rig.ts";
import type { FoundContainer } from "./heal.ts";
import { isHop, type RigInDocker } from "./rig-in-docker.ts";

/** Where the nodes of a broker are going to be; `first` is the last number of the first one's address. */
export async function addresses(
	{ network, inside }: RigInDocker,
	kind: DockerBroker,
	request: BrokerRequest,
	first: number,
): Promise<NodeAddress[]> {
	const count = commonOptions(request.system.options).nodes ?? 1;
	const free = network.direct
		? []
		: await freePorts(
				{ ...request.system, port: null },
				count * kind.ports.length,
			);
	return Array.from({ length: count }, (_, i) => {
		const ip = `${network.prefix}.${first + i}`;
		const reached = kind.ports.map((port, p) =>
			network.direct
				? `${ip}:${port}`
				: `127.0.0.1:${free[i * kind.ports.length + p]}`,
		);
		return {
			ip,
			hostname: `mqbench-${i + 1}`,
			client: inside ? `${ip}:${kind.ports[0]}` : (reached[0] ?? ""),
			reached,
			published: isHop({ network, inside }),
		};
	});
}

/** Where containers that are up are reached. */
export function attachedAddresses(
	{ network }: RigInDocker,
	kind: DockerBroker,
	found: readonly FoundContainer[],
): NodeAddress[] {
	return found.map(({ ip, ports }, i) => {
		const reached = kind.ports.map((port) =>
			network.direct ? `${ip}:${port}` : `127.0.0.1:${ports[port]}`,
		);
		return {
			ip,
			hostname: `mqbench-${i + 1}`,
			client: reached[0] ?? "",
			reached,
			published: !network.direct,
		};
	});
}

/** The url of published ports, as clients in containers of the same network write it. Fails where brokers tell them the published ones. */
export function urlInside(
	url: string,
	kind: DockerBroker,
	nodes: readonly NodeAddress[],
	{ nodes: contained }: Containment,
): string {
	const told = JSON.stringify(contained);
	if (nodes.some(({ client }) => told.includes(client)))
		throw failure("client-unfit", {
			client: "clients: docker",
			reason:
				"the rig's brokers tell their clients addresses of this machine (published ports of 127.0.0.1), which containers do not reach",
			remedy:
				"Make the load on this machine (--clients 1), or measure without --rig",
		});
	return nodes.reduce(
		(text, { client, ip }) =>
			text.replace(
				new RegExp(`\\b${client.replaceAll(".", "\\.")}(?!\\d)`, "g"),
				`${ip}:${kind.ports[0]}`,
			),
		url,
	);
}
