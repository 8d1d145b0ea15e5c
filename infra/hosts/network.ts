import { addresses, hostPort, type Ports } from "../../runner/brokers/addresses.ts";
import { isElsewhere, type NetworkPath } from "../../runner/model/run-file.ts";
import type { Ping } from "../ping.ts";
import type { Client } from "../rig.ts";

/** The clients of a run and its broker, which is up. */
export interface Ends {
	readonly clients: readonly Pick<Client, "index" | "kind" | "ping">[];
	/** The broker's URL, as clients reach it. */
	readonly url: string;
	readonly ports: Ports;
	/** mqbench has started the broker on hosts, so clients of this machine reach it over a network, too. */
	readonly onHosts: boolean;
}

/**
 * Measures the round trip from each client host to each node of a broker: once in a command for each pair, because the network is the same for all
 * runs, and again if that failed. Returns notes for the run. A pair that cannot be measured is unknown, and the run goes on.
 */
export function networkBaseline(): (ends: Ends) => Promise<NetworkPath[]> {
	const known = new Map<string, Promise<Measured>>();
	return async ({ clients, url, ports, onHosts }) => {
		const nodes = url === "" ? [] : addresses(url, ports);
		const paths = await Promise.all(
			clients.map(async (client) => {
				const { ping, index, kind } = client;
				const own: NetworkPath[] = [];
				if (ping === undefined || !(isElsewhere(kind) || (kind === "local" && onHosts))) return own;
				// One after the other, because they would disturb each other.
				for (const [i, { host, port }] of nodes.entries()) {
					const pair = `${index} ${host}`;
					const running = known.get(pair) ?? measured(() => ping(hostPort(host, port)));
					known.set(pair, running);
					const pinged = await running;
					// It may work before the next run.
					if (pinged.error !== null) known.delete(pair);
					own.push({ client: index, node: i + 1, ...pinged });
				}
				return own;
			}),
		);
		return paths.flat();
	};
}

// --- internal ---

type Measured = Omit<NetworkPath, "client" | "node">;

async function measured(ping: () => Promise<Ping>): Promise<Measured> {
	try {
		const { connects, minNs, p50Ns, maxNs } = await ping();
		return { connects, minNs, p50Ns, maxNs, error: null };
	} catch (error) {
		const nothing = { connects: null, minNs: null, p50Ns: null, maxNs: null };
		return { ...nothing, error: (error as Error).message };
	}
}
