import { brokerOf } from "../../runner/brokers/index.ts";
import {
	type Ask,
	clientPorts,
	reachedPorts,
	type Setup,
	type Site,
} from "../../runner/brokers/process.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { dockerSystem } from "../docker/systems.fake.ts";
import { toolsOf } from "../local/tools.ts";
import type { Binaries } from "../programs/resolve.ts";

export interface FakeHosts {
	/** Every host's answer to all questions. */
	readonly said?: string;
	readonly code?: number;
	readonly env?: Readonly<Record<string, string>>;
	readonly setup?: Partial<Setup>;
	readonly site?: Partial<Site>;
}

/** For tests: a broker to be placed on h1 (10.0.0.1), h2, ...; `brought` are the files that it needs there. */
export function hostSetup(
	written: Parameters<typeof dockerSystem>[0],
	{ said = "", code = 0, env = {}, setup = {}, site = {} }: FakeHosts = {},
): Setup & { readonly ask: Ask; readonly brought: Record<string, string> } {
	const system = dockerSystem(written);
	const kind = brokerOf(system).process;
	if (!kind) throw new Error("it has no process");
	const count = Number(written.nodes ?? 1);
	const clients = clientPorts(kind);
	const health = reachedPorts(kind)[clients.length];
	const brought: Record<string, string> = {};
	return {
		system,
		level: null,
		messageBytes: 256,
		image: null,
		brought,
		nodes: Array.from({ length: count }, (_, i) => ({
			listen: `10.0.0.${i + 1}`,
			ip: `10.0.0.${i + 1}`,
			hostname: `h${i + 1}`,
			clients: clients.map((port) => `10.0.0.${i + 1}:${port}`),
			client: `10.0.0.${i + 1}:${clients[0]}`,
			health: `127.0.0.1:${Number(health) + 10_000 * i}`,
			ports: kind.ports(count).map(({ number }) => number),
			published: false,
			folder: "/disk/run's/store",
			data: "/disk/run's/store/data",
			memory: { freeBytes: 4 * 1024 ** 3, folder: async () => "/dev/shm/mine/data" },
			bring(name, from) {
				brought[name] = from;
				return `/brought/${name}`;
			},
			...site,
		})),
		tools: toolsOf(fakeWorld({ env }), {
			server: async (program: string) => `/here/${program}`,
		} as unknown as Binaries),
		where: { disk: "in the host's store", memory: "/dev/shm" },
		ask: async () => ({ code, said }),
		...setup,
	} as Setup & { readonly ask: Ask; readonly brought: Record<string, string> };
}
