import path from "node:path";
import { imageAt, processes } from "../../runner/brokers/index.ts";
import type { Ask, BrokerProcess, ImageFacts, Setup } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { commandLine } from "../../runner/shell.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { formatBytes, plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { limitWords } from "../docker/container.ts";
import { cannotLimit } from "../docker/engine.ts";
import { getImage } from "../docker/images.ts";
import { pathsInside } from "../docker/sites.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { untouchedBroker } from "../rig.ts";
import { settled } from "../settled.ts";
import { ask } from "./ask.ts";
import { type ChosenHost, checkHosts, chooseHosts } from "./choose-hosts.ts";
import { type Connections, connections } from "./connections.ts";
import { type ContainerPlaceOptions, hostContainerPlace } from "./container-place.ts";
import { type HostEngine, hostEngine } from "./engine.ts";
import { flushOf } from "./flush.ts";
import { makeFolders, type RunFolders } from "./folders.ts";
import type { BrokerHost } from "./host.ts";
import { tidying, unlessStopped } from "./patience.ts";
import { hostPlace } from "./place.ts";
import { expectSamples, fetchSamples } from "./samples.ts";
import { furnish, hostSite } from "./sites.ts";
import { checkPorts } from "./taken.ts";

type Entry = RigFile["brokers"][number];

/** Brokers on hosts, over ssh. All runs of a command share the connections, which end with it. */
export interface OnHosts {
	/**
	 * Brings up the broker of a rig's entry on its hosts, one node each, for one run, and returns when it is ready and healthy. After any failure,
	 * Ctrl-C included, nothing of it is left there, except for the copied programs.
	 */
	open(entry: Entry, request: BrokerRequest): Promise<Broker>;
	/** Ends what is still up and closes the connections. May be called more than once. */
	close(): Promise<void>;
}

export function onHosts(
	world: World,
	binaries: Binaries,
	kinds: Readonly<Record<string, BrokerProcess | null>> = processes,
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

async function openOnHosts(
	entry: Entry,
	request: BrokerRequest,
	kind: BrokerProcess,
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
		// By now a cancelled step has made whatever it was going to make.
		await tidy(Promise.allSettled(pending), null);
		for (const action of undo.reverse()) await action();
	});
	/** Waits for something, and stops waiting after a Ctrl-C. */
	const wait = <T>(step: Promise<T>) => {
		pending.add(step);
		const over = () => pending.delete(step);
		step.then(over, over);
		return unlessStopped(step, world.stop);
	};
	try {
		// A missing host is reported at once, however long others take.
		const hosts = await wait(Promise.all(chosen.map(({ ssh }) => connections.get(ssh))));
		checkHosts(request, chosen, hosts);
		const folders = await wait(
			settled(
				hosts.map(async ({ name, remote, link, facts }) => {
					const made = await makeFolders(remote, link, facts.store);
					undo.push(() =>
						tidy(
							made.remove(),
							`${name}: files of this run stay there (${made.store}, ${made.control}) until the next mqbench uses the host`,
						),
					);
					return made;
				}),
			),
		);
		const look = () => lookForOthers(system.key, hosts, folders, notes, connections);
		await wait(look());
		// A host that was connected later has its folder there as well.
		undo.push(() => tidy(look(), null));
		const sites = await settled(
			hosts.map(async (host, i) => {
				const site = await hostSite(
					kind,
					hosts.length,
					host,
					chosen[i] as ChosenHost,
					folders[i] as RunFolders,
				);
				undo.push(async () => {
					await Promise.all(site.tunnels.map((tunnel) => tunnel.close()));
				});
				return site;
			}),
		);
		const containers =
			imageAt("host", system) === null
				? null
				: await wait(findContainers(request, hosts, world, connections));
		const image = containers?.image ?? null;
		const nodes = containers ? sites.map((site) => ({ ...site, ...pathsInside(kind) })) : sites;
		const { level, messageBytes } = request;
		const setup: Setup & { readonly ask: Ask } = {
			system,
			level,
			messageBytes,
			image,
			nodes,
			tools: connections.tools((hosts[0] as BrokerHost).binaries),
			ask: (node, argv) => ask(hosts[node] as BrokerHost, argv),
			where: { disk: "in the host's store", memory: containers ? "tmpfs" : "/dev/shm" },
		};
		await wait(checkPorts(kind, setup));
		const made = await wait(kind.describe(setup));
		const flush = made.flushes ? await wait(flushOf(sites, connections)) : {};
		const folder = path.dirname(request.logPath);
		for (const [i] of sites.entries()) await expectSamples(i + 1, folder);
		return await openBroker({
			facts: made,
			places: nodes.map((site, i) => {
				const { host, folders } = site;
				const number = i + 1;
				const { stopMs, data } = made;
				const samples = () =>
					tidy(
						fetchSamples(host, folders.control, number, folder),
						`${host.name}: what node ${number} has used is not known`,
					);
				return containers
					? hostContainerPlace({
							site,
							number,
							stopMs,
							data,
							fetchSamples: samples,
							image: containers.image,
							limits: containers.limits,
							engine: containers.engines[i] as HostEngine,
						})
					: hostPlace({
							host,
							folders,
							number,
							cpus: request.cpus,
							stopMs,
							prepare: (node) => wait(furnish(site, node, connections)),
							fetchSamples: samples,
						});
			}),
			request,
			world,
			remove,
			trouble: () =>
				sites.flatMap(({ tunnels }) => tunnels.map((one) => one.trouble())).find(Boolean) ?? "",
			about: {
				binary: image?.name ?? path.posix.basename(made.nodes[0]?.argv[0] ?? ""),
				// Clients on a node's machine are recognized by its identity.
				sameHost: false,
				identities: hosts.flatMap(({ facts }) => facts.identity ?? []),
				hosts: hosts.map(({ name, facts: { settings } }) => ({
					name,
					role: "brokers" as const,
					settings,
				})),
				notes,
				topology: topologyOf(hosts.length, entry, containers?.limits ?? null),
				settings: {
					...made.settings,
					...(image ? { image: `${image.name} (${image.digest ?? image.id})` } : {}),
					host: perHost(hosts, ({ machine }) => machine),
					...(made.flushes ? { store: perHost(hosts, ({ storeText }) => storeText) } : {}),
					...flush,
				},
			},
		});
	} catch (error) {
		await remove();
		orInterrupted(world.stop);
		throw error;
	}
}

type Limits = ContainerPlaceOptions["limits"];

/** The engines of the hosts, and the image, which each of them pulls if need be. It has to be the same on all. */
async function findContainers(
	{ system, cpus: cpuset }: BrokerRequest,
	hosts: readonly BrokerHost[],
	world: World,
	{ say }: Connections,
): Promise<{
	readonly engines: readonly HostEngine[];
	readonly image: ImageFacts;
	readonly limits: Limits;
}> {
	const { cpus = null, memory: memoryBytes = null } = system.options;
	const all = await Promise.all(
		hosts.map(async (host) => {
			const engine = await hostEngine(host);
			const unlimited = cannotLimit(engine.engine, { cpus, memory: memoryBytes, pin: cpuset });
			if (unlimited !== null)
				throw failure("docker-failed", {
					doing: `start ${system.key} on ${host.name}`,
					reason: unlimited,
				});
			const image = await getImage(engine.docker, system, world, say);
			return { host, engine, image };
		}),
	);
	const [first] = all;
	if (!first) throw new Error("a broker without hosts");
	const other = all.find(({ image }) => image.id !== first.image.id);
	if (other)
		throw failure("broker-missing", {
			system: system.key,
			what: `${first.image.name} is not the same image on ${first.host.name} and on ${other.host.name}`,
			remedy: `Pull it on both (docker pull ${commandLine([first.image.name])}), or name it by its digest`,
		});
	return {
		engines: all.map(({ engine }) => engine),
		image: first.image,
		limits: { cpus, memoryBytes, cpuset },
	};
}

/** Names the hosts that another mqbench is measuring on, and notes it for the report, once each. */
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
			`Another mqbench runs on ${name}, which runs ${system}: the figures of each include the load of the other.`,
		);
	}
}

function perHost(
	hosts: readonly BrokerHost[],
	text: (facts: BrokerHost["facts"]) => string,
): string {
	return [...new Set(hosts.map(({ facts }) => text(facts)))].join("; ");
}

/** "1 node on 1 host (i4i.xlarge), in a container of at most 2 CPUs, 1GiB". */
function topologyOf(nodes: number, { machine }: Entry, limits: Limits | null): string {
	const ours = `${plural(nodes, "node")} on ${plural(nodes, "host")}`;
	const there = machine === null ? ours : `${ours} (${machine})`;
	if (limits === null) return there;
	const { cpus, memoryBytes } = limits;
	const most = limitWords({
		cpus,
		memory: memoryBytes === null ? null : formatBytes(memoryBytes),
	}).join(", ");
	const within = nodes === 1 ? "in a container" : "in containers";
	return `${there}, ${within}${most === "" ? "" : ` of at most ${most}`}`;
}
