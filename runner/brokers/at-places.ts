import { mkdir, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { shellWord } from "../shell.ts";
import { hostPort } from "./addresses.ts";
import {
	ANY,
	type Description,
	type NodeDescription,
	type Port,
	type Site,
} from "./description.ts";
import type {
	BrokerProcess,
	DockerBroker,
	HostBroker,
	LocalBroker,
	NodeContainer,
} from "./process.ts";

/** The one description of a broker, as it is run on this machine, in containers and on hosts. */
export function atPlaces(kind: Description): BrokerProcess {
	return { local: here(kind), docker: inDocker(kind), hosts: onHosts(kind) };
}

// --- internal ---

const LOOPBACK = "127.0.0.1";
const SHM = "/dev/shm";
const TMPFS = 0x01021994;

function here(kind: Description): LocalBroker {
	return {
		async launch(setup) {
			const { store, tools } = setup;
			const count = setup.system.options.nodes ?? 1;
			const uses = kind.ports(count);
			const free = await setup.ports(count * uses.length);
			const outside: string[] = [];
			const freeBytes = await freeMemory();
			const inMemory = async () => {
				if (outside.length === 0)
					outside.push(await tools.temporaryFolder(SHM));
				return outside[0] as string;
			};
			const nodes = Array.from({ length: count }, (_, i): Site => {
				// Those of the clients first, of all nodes: the system's own port is the first.
				const ports = uses.map((_, use) => free[use * count + i] ?? 0);
				const at = (from: Port["from"]) =>
					addressOf(LOOPBACK, uses, ports, from);
				return {
					...{ listen: LOOPBACK, ip: LOOPBACK, ports, published: false },
					hostname: `mqbench-${i + 1}`,
					client: at("clients"),
					health: at("health"),
					folder: count === 1 ? store : path.join(store, `node-${i + 1}`),
					data: path.join(store, `data-${i + 1}`),
					memory:
						freeBytes === null
							? null
							: {
									freeBytes,
									folder: async () =>
										path.join(await inMemory(), `data-${i + 1}`),
								},
					bring: (_, from) => from,
				};
			});
			const { nodes: described, ...signs } = await kind.describe({
				...setup,
				nodes,
				image: null,
				ask: null,
				where: { disk: "in the run's temporary folder", memory: SHM },
			});
			for (const [i, { files }] of described.entries())
				for (const [name, text] of Object.entries(files)) {
					const file = path.join(nodes[i]?.folder ?? store, name);
					await mkdir(path.dirname(file), { recursive: true });
					await writeFile(file, text, { mode: 0o600 });
				}
			return {
				...signs,
				outside,
				before: described.flatMap(({ before = [] }) =>
					before.map((argv) => ({ argv })),
				),
				nodes: described.map(({ argv, env = {} }) => ({ argv, env })),
				portTaken: (log) =>
					/eaddrinuse|address (already )?in use|port \d+ (is )?in use/i.test(
						log,
					),
			};
		},
	};
}

function inDocker(kind: Description): DockerBroker {
	const reached = kind
		.ports(Number.POSITIVE_INFINITY)
		.filter(({ from }) => from === "clients" || from === "health");
	const { folder = "/etc/mqbench", data, init = false } = kind.container;
	return {
		ports: reached.map(({ number }) => number),
		async contain(setup) {
			const uses = kind.ports(setup.nodes.length);
			const { nodes, ...described } = await kind.describe({
				...setup,
				ask: null,
				where: { disk: "on a volume", memory: "tmpfs" },
				nodes: setup.nodes.map(
					(node): Site => ({
						...node,
						...{ listen: ANY, folder, data },
						ports: uses.map(({ number }) => number),
						health:
							node.reached[
								reached.findIndex(({ from }) => from === "health")
							] ?? "",
						memory: {
							freeBytes: Number.POSITIVE_INFINITY,
							folder: async () => data,
						},
						bring() {
							throw new Error("an image has all that it needs");
						},
					}),
				),
			});
			return {
				...described,
				nodes: nodes.map((node) => ({
					...commandOf(node),
					files: Object.fromEntries(
						Object.entries(node.files).map(([name, text]) => [
							`${folder}/${name}`,
							text,
						]),
					),
					env: node.env ?? {},
					data: described.data && {
						path: data,
						kind: described.data === "disk" ? "volume" : "memory",
					},
					init,
				})),
			};
		},
	};
}

/** What lies in memory is gone after a restart: what comes before the node comes before each of its starts. */
function commandOf({
	before = [],
	argv,
}: NodeDescription): Pick<NodeContainer, "args" | "entrypoint"> {
	if (before.length === 0) return { args: argv };
	const line = (words: readonly string[]) => words.map(shellWord).join(" ");
	return {
		entrypoint: "/bin/sh",
		args: ["-c", [...before.map(line), `exec ${line(argv)}`].join(" && ")],
	};
}

function onHosts(kind: Description): HostBroker {
	const { packages, prepare } = kind;
	const all = kind.ports(Number.POSITIVE_INFINITY);
	return {
		packages,
		ports: all
			.filter(({ from }) => from === "clients" || from === "health")
			.map(({ number }) => number),
		listens(nodes) {
			const numbers = (itself: boolean) =>
				kind
					.ports(nodes)
					.filter(({ from }) => (from === "itself") === itself)
					.map(({ number }) => number);
			return { address: numbers(false), loopback: numbers(true) };
		},
		...(prepare ? { prepare: (setup) => prepare(setup) } : {}),
		async place(setup) {
			const uses = kind.ports(setup.nodes.length);
			const ports = uses.map(({ number }) => number);
			const bring: Record<string, string> = {};
			const { nodes, flushes, ...described } = await kind.describe({
				...setup,
				image: null,
				where: { disk: "in the host's store", memory: SHM },
				nodes: setup.nodes.map((node): Site => {
					const { ip, store, memory, memoryBytes, brought, reached } = node;
					return {
						...node,
						...{ listen: ip, ports, folder: store, data: `${store}/data` },
						health: reached[1] ?? "",
						memory:
							memory === null || memoryBytes === null
								? null
								: {
										freeBytes: memoryBytes,
										folder: async () => `${memory}/data`,
									},
						bring(name, from) {
							bring[name] = from;
							return `${brought}/${name}`;
						},
					};
				}),
			});
			return {
				...described,
				bring,
				onDisk: flushes,
				nodes: nodes.map((node) => ({ before: [], ...node })),
			};
		},
	};
}

/** The port of that use, at an address; "" where there is none. */
function addressOf(
	ip: string,
	uses: readonly Port[],
	ports: readonly number[],
	from: Port["from"],
): string {
	const use = uses.findIndex((one) => one.from === from);
	return use < 0 ? "" : hostPort(ip, ports[use] ?? 0);
}

/** Bytes that are free in this machine's memory for files; null: there is no such place. */
async function freeMemory(): Promise<number | null> {
	const found = await statfs(SHM).catch(() => null);
	return found && found.type === TMPFS ? found.bavail * found.bsize : null;
}
