import path from "node:path";
import { hostPort } from "../../runner/brokers/addresses.ts";
import { startedAs } from "../../runner/brokers/index.ts";
import type {
	HostAddress,
	HostBroker,
	HostSetup,
	Placement,
} from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { openBroker } from "../nodes/broker.ts";
import type { NodeCommand } from "../nodes/place.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { untouchedBroker } from "../rig.ts";
import { settled } from "../settled.ts";
import { ask } from "./ask.ts";
import { writeThere } from "./bring.ts";
import { type ChosenHost, checkHosts, chooseHosts } from "./choose-hosts.ts";
import { type Connections, connections } from "./connections.ts";
import { flushOf } from "./flush.ts";
import { makeFolders, type RunFolders } from "./folders.ts";
import type { BrokerHost } from "./host.ts";
import { tidying, unlessStopped } from "./patience.ts";
import { hostPlace } from "./place.ts";
import { expectSamples, fetchSamples } from "./samples.ts";
import { checkPorts } from "./taken.ts";
import { openTunnel, type Tunnel } from "./tunnel.ts";

type Entry = RigFile["brokers"][number];

/** Brokers on hosts that ssh reaches. Connections are shared by all runs of a command, and go with it. */
export interface OnHosts {
	/**
	 * Brings up the broker of a rig's entry on its hosts, a node on each, for one run, and returns when it is ready and healthy. Whatever goes
	 * wrong, Ctrl-C included: nothing of it is left there. Hosts keep programs that were brought, and nothing else.
	 */
	open(entry: Entry, request: BrokerRequest): Promise<Broker>;
	/** Ends what is still up, and lets go of the hosts. More than once is no harm. */
	close(): Promise<void>;
}

export function onHosts(
	world: World,
	binaries: Binaries,
	kinds: Readonly<Record<string, HostBroker | null>> = startedAs("hosts"),
): OnHosts {
	const hosts = connections(world, binaries);
	const open = new Set<Broker>();
	return {
		async open(entry, request) {
			const kind = kinds[request.system.broker];
			if (!kind) return untouchedBroker();
			const broker = await openOnHosts(entry, request, kind, world, hosts);
			open.add(broker);
			return broker;
		},
		async close() {
			await Promise.all([...open].map((broker) => broker.close()));
			open.clear();
			await hosts.close();
		},
	};
}

// --- internal ---

/** What a run has on a host, for one node. */
interface Site {
	readonly chosen: ChosenHost;
	readonly host: BrokerHost;
	readonly folders: RunFolders;
	/** To each of the ports that mqbench asks. */
	readonly tunnels: readonly Tunnel[];
}

async function openOnHosts(
	entry: Entry,
	request: BrokerRequest,
	kind: HostBroker,
	world: World,
	connections: Connections,
): Promise<Broker> {
	const { system } = request;
	const chosen = chooseHosts(entry, request);
	const undo: (() => Promise<void>)[] = [];
	const pending = new Set<Promise<unknown>>();
	const tidy = tidying(world, connections.say);
	const notes: string[] = [];
	const remove = once(async () => {
		// What a step that was given up has made, it has made by then.
		await tidy(Promise.allSettled(pending), null);
		for (const action of undo.reverse()) await action();
	});
	/** Waits for something, and gives up with a Ctrl-C. */
	const wait = <T>(step: Promise<T>) => {
		pending.add(step);
		const over = () => pending.delete(step);
		step.then(over, over);
		return unlessStopped(step, world.stop);
	};
	try {
		// A host that is not there is told at once, however long others are being set up.
		const hosts = await wait(
			Promise.all(chosen.map(({ ssh }) => connections.get(ssh))),
		);
		checkHosts(request, chosen, hosts);
		const folders = await wait(
			settled(
				hosts.map(async ({ name, ssh, link, facts }) => {
					const made = await makeFolders(ssh, link, facts.store);
					undo.push(() =>
						tidy(
							made.remove(),
							`${name}: what this run has kept there stays (${made.store}, ${made.control}) until the next mqbench that comes there`,
						),
					);
					return made;
				}),
			),
		);
		const look = () =>
			lookForOthers(system.key, hosts, folders, notes, connections);
		await wait(look());
		// One that came later has its folder there as well.
		undo.push(() => tidy(look(), null));
		const sites = await settled(
			hosts.map(async (host, i): Promise<Site> => {
				const to = chosen[i] as ChosenHost;
				const tunnels = await Promise.all(
					kind.ports.map((port) =>
						openTunnel(host.link, host.agent, hostPort(to.address, port)),
					),
				);
				undo.push(async () => {
					await Promise.all(tunnels.map((tunnel) => tunnel.close()));
				});
				return {
					...{ chosen: to, host, tunnels },
					folders: folders[i] as RunFolders,
				};
			}),
		);
		const setup: HostSetup = {
			system,
			level: request.level,
			messageBytes: request.messageBytes,
			nodes: sites.map((site) => addressOf(site, kind)),
			tools: connections.tools((hosts[0] as BrokerHost).binaries),
			ask: (node, argv) => ask(hosts[node] as BrokerHost, argv),
		};
		await wait(checkPorts(kind, setup));
		const made = await wait(kind.place(setup));
		const flush = made.onDisk ? await wait(flushOf(sites, connections)) : {};
		const folder = path.dirname(request.logPath);
		for (const [i] of sites.entries()) await expectSamples(i + 1, folder);
		return await openBroker({
			facts: {
				...made,
				nodes: made.nodes.map((node) => ({
					...node,
					before: node.before.map((argv) => ({ argv, env: node.env ?? {} })),
				})),
			},
			places: sites.map(({ host, folders }, i) =>
				hostPlace({
					...{ host, folders, number: i + 1, cpus: request.cpus },
					stopMs: made.stopMs,
					prepare: (node) =>
						wait(furnish(host, folders, made, node, connections)),
					fetchSamples: () =>
						tidy(
							fetchSamples(host, folders.control, i + 1, folder),
							`${host.name}: what node ${i + 1} has used is not known`,
						),
				}),
			),
			...{ request, world, remove },
			trouble: () =>
				sites
					.flatMap(({ tunnels }) => tunnels.map((one) => one.trouble()))
					.find(Boolean) ?? "",
			about: {
				binary: path.posix.basename(made.nodes[0]?.argv[0] ?? ""),
				// Clients that share a node's machine are found by its identity.
				sameHost: false,
				identities: hosts.flatMap(({ facts }) => facts.identity ?? []),
				notes,
				topology: topologyOf(hosts.length, entry.topology),
				settings: {
					...made.settings,
					host: each(hosts, ({ machine }) => machine),
					...(made.onDisk
						? { store: each(hosts, ({ storeText }) => storeText) }
						: {}),
					...flush,
				},
			},
		});
	} catch (error) {
		await remove();
		if (world.stop.aborted)
			throw failure("interrupted", { signal: String(world.stop.reason) });
		throw error;
	}
}

/** Says which hosts another mqbench measures on at this moment, and notes it for the report, once each. */
async function lookForOthers(
	system: string,
	hosts: readonly BrokerHost[],
	folders: readonly RunFolders[],
	notes: string[],
	{ warn }: Connections,
): Promise<void> {
	for (const [i, { name }] of hosts.entries()) {
		const note = `another mqbench ran on ${name}: it took CPU, disk and network from ${system}`;
		if (notes.includes(note) || !(await folders[i]?.shared())) continue;
		notes.push(note);
		warn(
			`Another mqbench runs on ${name}, which runs ${system}: what either measures holds only for the two of them together.`,
		);
	}
}

function addressOf(
	{ chosen: { address, host }, folders, tunnels }: Site,
	kind: HostBroker,
): HostAddress {
	const { control, store, memory, memoryBytes } = folders;
	return {
		ip: address,
		hostname: host,
		client: hostPort(address, kind.ports[0] ?? 0),
		reached: tunnels.map((tunnel) => tunnel.address),
		published: false,
		store,
		memory,
		memoryBytes,
		brought: `${control}/brought`,
	};
}

function each(
	hosts: readonly BrokerHost[],
	text: (facts: BrokerHost["facts"]) => string,
): string {
	return [...new Set(hosts.map(({ facts }) => text(facts)))].join("; ");
}

/** Brings what a node needs, and writes its files. */
async function furnish(
	host: BrokerHost,
	{ control, store }: RunFolders,
	{ bring }: Placement,
	{ files }: Pick<NodeCommand, "files">,
	connections: Connections,
): Promise<void> {
	for (const [name, from] of Object.entries(bring)) {
		const there = await host.bring(await connections.bundle(name, from));
		await host.link.run('mkdir -p "$1" && ln -s "$2" "$1/$3"', [
			`${control}/brought`,
			there,
			name,
		]);
	}
	if (Object.keys(files).length > 0)
		await writeThere(host.ssh, host.link, store, files);
}

function topologyOf(nodes: number, said: string | null): string {
	const ours = `${nodes === 1 ? "1 node" : `${nodes} nodes`} on ${nodes === 1 ? "1 host" : `${nodes} hosts`}`;
	if (said === null || ours === said) return ours;
	return said.startsWith(ours) ? said : `${ours}, ${said}`;
}
