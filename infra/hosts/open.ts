import path from "node:path";
import { imageAt, processes } from "../../runner/brokers/index.ts";
import type { BrokerProcess, ImageFacts, Setup } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { limitWords } from "../docker/container.ts";
import { cannotLimit } from "../docker/engine.ts";
import { flushText, flushWarning } from "../docker/flush.ts";
import { getImage } from "../docker/images.ts";
import { pathsInside } from "../docker/sites.ts";
import { makeFolders } from "../machines/folders.ts";
import type { RemoteMachine } from "../machines/machine.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { untouchedBroker } from "../rig.ts";
import { settled } from "../settled.ts";
import { type ChosenHost, checkHosts, chooseHosts } from "./choose-hosts.ts";
import { type Connections, connections } from "./connections.ts";
import { type ContainerPlaceOptions, hostContainerPlace } from "./container-place.ts";
import { type HostEngine, hostEngine } from "./engine.ts";
import { tidying, unlessStopped } from "./patience.ts";
import { hostPlace } from "./place.ts";
import { expectSamples, fetchSamples } from "./samples.ts";
import { furnish, type HostSite, hostSite } from "./sites.ts";

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
		await wait(checkHosts(request, kind, chosen, hosts));
		const sites = await wait(
			settled(
				hosts.map(async (host, i) => {
					const { name, remote, link, facts } = host;
					const folders = await makeFolders(remote, link, facts.store);
					undo.push(() =>
						tidy(
							folders.remove(),
							`${name}: files of this run stay there (${folders.store}, ${folders.control}) until the next mqbench uses the host`,
						),
					);
					const site = await hostSite(kind, hosts.length, host, chosen[i] as ChosenHost, folders);
					undo.push(async () => site.tunnel?.close());
					return site;
				}),
			),
		);
		const look = () => lookForOthers(system.key, sites, notes, connections);
		await wait(look());
		// One that came later has its folder there as well.
		undo.push(() => tidy(look(), null));
		const containers =
			imageAt("host", system) === null
				? null
				: await wait(findContainers(request, hosts, world, connections));
		const image = containers?.image ?? null;
		const nodes = containers ? sites.map((site) => ({ ...site, ...pathsInside(kind) })) : sites;
		const { level, messageBytes } = request;
		const setup: Setup = {
			system,
			level,
			messageBytes,
			image,
			nodes,
			tools: connections.tools((hosts[0] as RemoteMachine).binaries),
			ask: async (node, argv) => {
				const { link } = hosts[node] as RemoteMachine;
				const how = { limitMs: ASK_MS };
				const { code, out } = await link.run('exec "$@" 2>&1 </dev/null', argv, how);
				return { code, said: out };
			},
			where: { disk: "in the host's store", memory: containers ? "tmpfs" : "/dev/shm" },
		};
		const made = await wait(kind.describe(setup));
		const flush = made.flushes ? await wait(flushOf(sites, connections)) : {};
		const folder = path.dirname(request.logPath);
		for (const [i] of sites.entries()) await expectSamples(i + 1, folder);
		return await openBroker({
			facts: made,
			places: nodes.map((site, i) => {
				const number = i + 1;
				const { stopMs, data } = made;
				const common = {
					site,
					number,
					stopMs,
					fetchSamples: () =>
						tidy(
							fetchSamples(site, number, folder),
							`${site.host.name}: what node ${number} has used is not known`,
						),
				};
				return containers
					? hostContainerPlace({
							...common,
							...containers,
							data,
							engine: containers.engines[i] as HostEngine,
						})
					: hostPlace({
							...common,
							cpus: request.cpus,
							prepare: (node) => wait(furnish(site, node)),
						});
			}),
			request,
			world,
			remove,
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

const ASK_MS = 60_000;

/** How long a flush takes on the measured disks: the slowest one, because a cluster waits for it. */
async function flushOf(
	sites: readonly Pick<HostSite, "host" | "folders">[],
	{ warn }: Connections,
): Promise<Record<string, string>> {
	const all = await Promise.all(sites.map(({ host, folders }) => host.flush(folders.store)));
	for (const [i, flush] of all.entries()) {
		const warning = flushWarning(flush, `The disk of ${sites[i]?.host.name}`);
		if (warning !== null) warn(warning);
	}
	const known = all.filter((one) => one !== null).sort((a, b) => b.p50Ns - a.p50Ns);
	const slowest = known.length < all.length ? null : (known[0] ?? null);
	return {
		"store fdatasync": `${flushText(slowest)}${slowest !== null && sites.length > 1 ? `, the slowest of ${sites.length} hosts` : ""}`,
	};
}

type Limits = ContainerPlaceOptions["limits"];

/** The engines of the hosts, and the image, which each of them pulls if need be. Its id is the first one's; an engine that has another refuses it. */
async function findContainers(
	{ system, cpus: cpuset }: BrokerRequest,
	hosts: readonly RemoteMachine[],
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
			const reason = cannotLimit(engine.engine, { cpus, memory: memoryBytes, pin: cpuset });
			if (reason !== null)
				throw failure("docker-failed", { doing: `start ${system.key} on ${host.name}`, reason });
			return { engine, image: await getImage(engine.docker, system, world, say) };
		}),
	);
	const [first] = all;
	if (!first) throw new Error("a broker without hosts");
	return {
		engines: all.map(({ engine }) => engine),
		image: first.image,
		limits: { cpus, memoryBytes, cpuset },
	};
}

/** Names the hosts that another mqbench is measuring on, and notes it for the report, once each. */
async function lookForOthers(
	system: string,
	sites: readonly Pick<HostSite, "host" | "folders">[],
	notes: string[],
	{ warn }: Connections,
): Promise<void> {
	for (const { host, folders } of sites) {
		const note = `another mqbench ran on ${host.name}: it took CPU, disk and network from ${system}`;
		if (notes.includes(note) || !(await folders.shared())) continue;
		notes.push(note);
		warn(
			`Another mqbench runs on ${host.name}, which runs ${system}: the figures of each include the load of the other.`,
		);
	}
}

function perHost(
	hosts: readonly RemoteMachine[],
	text: (facts: RemoteMachine["facts"]) => string,
): string {
	return [...new Set(hosts.map(({ facts }) => text(facts)))].join("; ");
}

/** "1 node on 1 host (i4i.xlarge), in a container of at most 2 CPUs, 1GiB". */
function topologyOf(nodes: number, { machine }: Entry, limits: Limits | null): string {
	const ours = `${plural(nodes, "node")} on ${plural(nodes, "host")}`;
	const there = machine === null ? ours : `${ours} (${machine})`;
	if (limits === null) return there;
	const { cpus, memoryBytes } = limits;
	const most = limitWords({ cpus, memory: memoryBytes }).join(", ");
	const within = nodes === 1 ? "in a container" : "in containers";
	return `${there}, ${within}${most === "" ? "" : ` of at most ${most}`}`;
}
