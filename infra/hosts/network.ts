import { addresses, hostPort } from "../../runner/brokers/addresses.ts";
import type { NetworkPath } from "../../runner/model/run-file.ts";
import type { Client, Ping } from "../rig.ts";

/** The clients and the broker of a run, which is up. */
export interface Ends {
	readonly clients: readonly Pick<Client, "index" | "kind" | "ping">[];
	/** Of the broker, as clients reach it. */
	readonly url: string;
	readonly defaultPort: number;
	/** The broker is on hosts that mqbench has started it on: then clients of this machine have a network before them too. */
	readonly onHosts: boolean;
}

/**
 * Measures how far it is from the clients that are hosts to each node of a broker: once in a command for each pair, as the network is the
 * same for all runs, and once more where that failed. Returns what a run has to say of it; a pair that cannot be measured is not known, and no reason to go without the run.
 */
export function networkBaseline(): (ends: Ends) => Promise<NetworkPath[]> {
	const known = new Map<string, Promise<Measured>>();
	return async ({ clients, url, defaultPort, onHosts }) => {
		if (url === "") return [];
		const nodes = addresses(url, defaultPort);
		const paths = await Promise.all(
			clients.map(async (client) => {
				const { ping } = client;
				const far =
					client.kind === "ssh" || (client.kind === "local" && onHosts);
				if (!far || ping === undefined) return [];
				const own: NetworkPath[] = [];
				// One after the other: they would be in each other's way.
				for (const [i, { host, port }] of nodes.entries()) {
					const pair = `${client.index} ${host}`;
					const address = hostPort(host, port);
					const running = known.get(pair) ?? measured(() => ping(address));
					known.set(pair, running);
					const found = await running;
					// What failed once may work before the next run.
					if (found.error !== null) known.delete(pair);
					own.push({ client: client.index, node: i + 1, ...found });
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
