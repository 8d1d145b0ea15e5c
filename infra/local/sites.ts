import { statfs } from "node:fs/promises";
import path from "node:path";
import { hostPort } from "../../runner/brokers/addresses.ts";
import type { BrokerProcess, Port, Setup, Site } from "../../runner/brokers/process.ts";

/** A broker's facts about places on this machine. */
export const HERE: Pick<Setup, "image" | "ask" | "where"> = {
	image: null,
	ask: null,
	where: { disk: "in the run's temporary folder", memory: "/dev/shm" },
};

export interface LocalSites {
	readonly count: number;
	/** An empty folder for this run. */
	readonly store: string;
	/** Ports on 127.0.0.1 that are free now; the first one is the system's own `port`, if it has one. */
	ports(count: number): Promise<readonly number[]>;
	/** A folder in memory that is removed with the run. */
	memoryFolder(): Promise<string>;
}

/** Where a broker's nodes run on this machine: on loopback, in folders of the run's store. */
export async function localSites(
	kind: Pick<BrokerProcess, "ports">,
	{ count, store, ports: freePorts, memoryFolder }: LocalSites,
): Promise<Site[]> {
	const uses = kind.ports(count);
	const free = await freePorts(count * uses.length);
	const freeBytes = await freeMemory();
	return Array.from({ length: count }, (_, i): Site => {
		// Ports for clients first, for all nodes: the system's own port is the first.
		const ports = uses.map((_, use) => free[use * count + i] ?? 0);
		const at = (from: Port["from"]) =>
			uses.flatMap((use, u) => (use.from === from ? [hostPort(LOOPBACK, ports[u] ?? 0)] : []));
		const clients = at("clients");
		return {
			listen: LOOPBACK,
			ip: LOOPBACK,
			ports,
			published: false,
			hostname: `mqbench-${i + 1}`,
			clients,
			client: clients[0] ?? "",
			health: at("health")[0] ?? "",
			folder: count === 1 ? store : path.join(store, `node-${i + 1}`),
			data: path.join(store, `data-${i + 1}`),
			memory:
				freeBytes === null
					? null
					: { freeBytes, folder: async () => path.join(await memoryFolder(), `data-${i + 1}`) },
			bring: (_, from) => from,
		};
	});
}

// --- internal ---

const LOOPBACK = "127.0.0.1";
const TMPFS = 0x01021994;

/** Free bytes of this machine's memory for files; null if there is no such place. */
async function freeMemory(): Promise<number | null> {
	const stats = await statfs(HERE.where.memory).catch(() => null);
	return stats && stats.type === TMPFS ? stats.bavail * stats.bsize : null;
}
