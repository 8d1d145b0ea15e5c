import { imageAt } from "../brokers/image.ts";
import { brokerOf, hasProcess, noBroker } from "../brokers/index.ts";
import { targets } from "../model/targets.ts";
import { onHosts } from "../scenario/rig.ts";
import type { Aws, Fault, Kubernetes, Scenario, System } from "../scenario/scenario.ts";
import { maskUrls } from "../secrets.ts";
import { say } from "../text/say.ts";
import { formatBytesExact, formatDurationExact } from "../units.ts";

/**
 * Where brokers and load come from and what is done to them, a line each; empty: brokers of this machine's own, and one process beside
 * them. Only what the systems of `keys` need.
 */
export function placeLines(scenario: Scenario, keys: ReadonlySet<string>): string[] {
	const all = scenario.systems.filter(({ key, broker }) => keys.has(key) && broker !== noBroker);
	const systems = all.filter(({ options }) => hasProcess(options));
	return [
		...rigLine(scenario, systems),
		...awsLines(scenario),
		...systems.flatMap((system) => systemLine(scenario, system)),
		...all
			.filter((system) => !systems.includes(system))
			.map(({ key }) => say("without-server", { system: key }).text),
		...(scenario.aws === null ? clientsLine(scenario) : []),
		...(systems.length === 0 ? [] : scenario.faults.map(faultLine)),
	];
}

// --- internal ---

function rigLine({ rig }: Scenario, systems: readonly System[]): string[] {
	if (rig === null) return [];
	const here = systems.filter(({ key }) => onHosts({ path: "", rig }, key));
	const fresh = here.map(({ key }) => key);
	const allFresh = fresh.length > 0 && fresh.length === systems.length;
	return [
		allFresh
			? say("rig-hosts-stay", { rig: rig.id }).text
			: say("rig-brokers-stay", { rig: rig.id, fresh }).text,
	];
}

/** What is rented, and until when at the latest. */
function awsLines({ aws }: Scenario): string[] {
	if (aws === null) return [];
	const { brokers, clients, region, zone } = aws;
	const machines = [
		...(brokers.count === 0
			? []
			: [`${brokers.count} x ${brokers.instance} for brokers${disk(brokers)}`]),
		`${clients.count} x ${clients.instance}${clients.spot ? " (spot)" : ""} for the load`,
	];
	return [
		say("rented-machines", { where: zone ?? region, machines, ttl: formatDurationExact(aws.ttlNs) })
			.text,
	];
}

/** ", on a gp3 volume of 100GiB"; of its own NVMe nothing. */
function disk({ volume }: Aws["brokers"]): string {
	return volume === null ? "" : ` on a ${volume.type} volume of ${volume.sizeGiB}GiB each`;
}

function systemLine({ target, rig }: Scenario, system: System): string[] {
	const { key, url, existingTopics } = system;
	const { nodes = 1 } = system.options;
	const { place } = targets[target];
	const hosts = place === "host" || onHosts(rig === null ? null : { path: "", rig }, key);
	const image = imageAt(hosts ? "host" : rig === null ? place : null, system);
	const parts = [
		...(image === null ? [] : [container(system, image)]),
		...(hosts && image === null ? [programs(system)] : []),
		...(hosts && nodes > 1 ? [say("nodes-on-hosts", { nodes }).text] : []),
		...(url === null ? [] : [`at ${maskUrls(url)}`]),
		...(existingTopics === null ? [] : [say("existing-topics", { topics: existingTopics }).text]),
	];
	return parts.length === 0 ? [] : [`${key}: ${parts.join("; ")}`];
}

/** "image apache/kafka:4.1.1, 3 nodes, each of at most 2 CPUs and 2GiB". */
function container({ options }: System, image: string): string {
	const { cpus, memory, nodes = 1 } = options;
	const limits = [
		...(cpus === undefined ? [] : [`${cpus} ${cpus === 1 ? "CPU" : "CPUs"}`]),
		...(memory === undefined ? [] : [`${formatBytesExact(memory)} of memory`]),
	];
	const most = limits.length === 0 ? [] : [`at most ${limits.join(" and ")}`];
	return [
		`image ${image}`,
		...(nodes === 1 ? most : [`${nodes} containers${most.length === 0 ? "" : ` of ${most} each`}`]),
	].join(", ");
}

/** "the host's redis-server": what runs without an image. */
function programs({ options }: System): string {
	const { process } = brokerOf(options);
	return process?.onHosts.text(options) ?? "";
}

/** "namespace bench of context kind-bench", as far as the scenario says. */
export function clusterText(kubernetes: Kubernetes | null): string {
	const { context = null, namespace = null } = kubernetes ?? {};
	const of = context === null ? "kubectl's context" : `context ${context}`;
	return namespace === null ? of : `namespace ${namespace} of ${of}`;
}

function clientsLine({ clients, kubernetes }: Pick<Scenario, "clients" | "kubernetes">): string[] {
	switch (clients.kind) {
		case "local":
			return clients.count === 1 ? [] : [say("clients-here", { clients: clients.count }).text];
		case "rented":
			return [say("clients-rented", { clients: clients.count }).text];
		case "docker":
			return [say("clients-in-containers", { clients: clients.count }).text];
		case "pods":
			return [
				say("clients-in-pods-there", { clients: clients.count, where: clusterText(kubernetes) })
					.text,
			];
		case "ssh":
			return [say("clients-on-hosts", { hosts: clients.hosts }).text];
	}
}

/** "fault at 10s: kill of the leader, which is started again after 2s". */
function faultLine({ atNs, action, forNs, node, delayNs }: Fault): string {
	const whom = node === null ? "all nodes" : node === "leader" ? "the leader" : `node ${node}`;
	const time = forNs === null ? "" : formatDurationExact(forNs);
	const how: Readonly<Record<Fault["action"], string>> = {
		pause: `for ${time}`,
		partition: `for ${time}`,
		latency: `of ${formatDurationExact(delayNs ?? 0)} for ${time}`,
		kill: forNs === null ? "for good" : `and start again after ${time}`,
		restart: forNs === 0 ? "at once" : `after ${time}`,
	};
	return `fault at ${formatDurationExact(atNs)} of the measured part: ${action} of ${whom} ${how[action]}`;
}
