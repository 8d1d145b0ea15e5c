import { imageAt, processes } from "../../runner/brokers/index.ts";
import type { BrokerProcess, ImageFacts, NodeDescription } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { type Limits, limitsOf, limitWords } from "../docker/container.ts";
import { cannotLimit } from "../docker/engine.ts";
import { flushText, flushWarning } from "../docker/flush.ts";
import { getImage } from "../docker/images.ts";
import type { OnHosts } from "../existing/existing.ts";
import type { RemoteMachine } from "../machines/machine.ts";
import type { Binaries } from "../programs/resolve.ts";
import { type Broker, type BrokerRequest, rigOf, untouchedBroker } from "../rig.ts";
import { brokerOn, perHost } from "./broker-on.ts";
import { checkHosts, chooseHosts } from "./choose-hosts.ts";
import { type Connections, connections } from "./connections.ts";
import { hostContainerPlace } from "./container-place.ts";
import { type HostEngine, hostEngine } from "./engine.ts";
import { hostPlace } from "./place.ts";
import { furnish, type HostSite } from "./sites.ts";

type Entry = RigFile["brokers"][number];

export function onHosts(
	world: World,
	binaries: Binaries,
	kinds: Readonly<Record<string, BrokerProcess | null>> = processes,
): OnHosts {
	const hosts = connections(world, binaries);
	const rig = rigOf(async ([entry, request]: readonly [Entry, BrokerRequest]) => {
		const kind = kinds[request.system.broker];
		return kind ? await openOnHosts(entry, request, kind, world, hosts) : untouchedBroker();
	}, hosts.close);
	return { open: (entry, request) => rig.open([entry, request]), close: rig.teardown };
}

// --- internal ---

function openOnHosts(
	entry: Entry,
	request: BrokerRequest,
	kind: BrokerProcess,
	world: World,
	connections: Connections,
): Promise<Broker> {
	const { system, cpus } = request;
	const chosen = chooseHosts(entry, request);
	return brokerOn(request, kind, world, connections, async ({ wait, undo, sites: make }) => {
		// A missing host is reported at once, however long others take.
		const machines = await wait(
			Promise.all(
				chosen.map(async ({ ssh, ...at }) => ({ ...at, host: await connections.get(ssh) })),
			),
		);
		await wait(checkHosts(request, kind, machines));
		const sites = await make(machines, true);
		const hosts = machines.map(({ host }) => host);
		const notes: string[] = [];
		const look = () => lookForOthers(system.key, sites, notes, connections);
		await wait(look());
		// One that came later has its folder there as well.
		undo(look);
		const containers =
			imageAt("host", system) === null
				? null
				: await wait(findContainers(request, hosts, world, connections));
		return {
			sites,
			notes,
			image: containers?.image ?? null,
			topology: topologyOf(hosts.length, entry, containers?.limits ?? null),
			where: { disk: "in the host's store", memory: containers ? "tmpfs" : "/dev/shm" },
			store: {
				text: perHost(hosts, ({ storeText }) => storeText),
				flush: () => flushOf(sites, connections),
			},
			async ask(node, argv) {
				const { link } = hosts[node] as RemoteMachine;
				const how = { limitMs: ASK_MS };
				const { code, out } = await link.run('exec "$@" 2>&1 </dev/null', argv, how);
				return { code, said: out };
			},
			place(common, { data }) {
				const prepare = (node: NodeDescription) => wait(furnish(common.site, node));
				if (!containers) return hostPlace({ ...common, cpus, prepare });
				const engine = containers.engines[common.number - 1] as HostEngine;
				return hostContainerPlace({ ...common, ...containers, data, engine });
			},
		};
	});
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

/** The engines of the hosts, and the image, which each of them pulls if need be. Its id is the first one's; an engine that has another refuses it. */
async function findContainers(
	request: BrokerRequest,
	hosts: readonly RemoteMachine[],
	world: World,
	{ say }: Connections,
): Promise<{
	readonly engines: readonly HostEngine[];
	readonly image: ImageFacts;
	readonly limits: Limits;
}> {
	const { system } = request;
	const limits = limitsOf(request);
	const all = await Promise.all(
		hosts.map(async (host) => {
			const engine = await hostEngine(host);
			const reason = cannotLimit(engine.engine, limits);
			if (reason !== null)
				throw failure("docker-failed", { doing: `start ${system.key} on ${host.name}`, reason });
			return { engine, image: await getImage(engine.docker, system, world, say) };
		}),
	);
	const [first] = all;
	if (!first) throw new Error("a broker without hosts");
	return { engines: all.map(({ engine }) => engine), image: first.image, limits };
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

/** "1 node on 1 host (i4i.xlarge), in a container of at most 2 CPUs, 1GiB". */
function topologyOf(nodes: number, { machine }: Entry, limits: Limits | null): string {
	const ours = `${plural(nodes, "node")} on ${plural(nodes, "host")}`;
	const there = machine === null ? ours : `${ours} (${machine})`;
	if (limits === null) return there;
	const most = limitWords(limits).join(", ");
	const within = nodes === 1 ? "in a container" : "in containers";
	return `${there}, ${within}${most === "" ? "" : ` of at most ${most}`}`;
}
