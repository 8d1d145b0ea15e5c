import { readFileSync } from "node:fs";
import path from "node:path";
import { DEFINITION } from "../brokers/fields.ts";
import { brokerOf, hasProcess, imageAt, noBroker } from "../brokers/index.ts";
import { commandOf } from "../brokers/outside.ts";
import { largestOf } from "../extremes.ts";
import type { Plan } from "../model/plan.ts";
import { targets } from "../model/targets.ts";
import { metricsAsked } from "../scenario/metrics.ts";
import { onHosts } from "../scenario/rig.ts";
import type { Fault, Kubernetes, Scenario, System } from "../scenario/scenario.ts";
import type { Env } from "../scenario/variables.ts";
import { maskUrls } from "../secrets.ts";
import { commandLine } from "../shell.ts";
import { percent } from "../text/percent.ts";
import {
	formatBytesExact,
	formatCount,
	formatDuration,
	formatDurationExact,
	plural,
	ratePerSecond,
} from "../units.ts";
import { openConnections } from "./samples.ts";

/** Where the systems of `keys` and the load run, and the faults. Empty if all is local with one process. */
export function placeLines(scenario: Scenario, keys: ReadonlySet<string>): string[] {
	const all = scenario.systems.filter(({ key, broker }) => keys.has(key) && broker !== noBroker);
	const systems = all.filter(({ options }) => hasProcess(options));
	return [
		...rigLine(scenario, systems),
		...awsLines(scenario),
		...systems.flatMap((system) => systemLine(scenario, system)),
		...all
			.filter((system) => !systems.includes(system))
			.map(({ key }) => `${key}: no server, its clients are connected to each other`),
		...(scenario.aws === null ? clientsLine(scenario) : []),
		...(systems.length === 0 ? [] : scenario.faults.map(faultLine)),
	];
}

/** What one load generator process can hold, if connections are what is measured. `read`: a file of /proc, "" if there is none. */
export function holdingLines(plans: readonly Plan[], read = readProc): string[] {
	const connecting = plans.filter(({ pattern }) => pattern === "connect");
	const [, files] = /^Max open files +\d+ +(\d+)/m.exec(read("self/limits")) ?? [];
	const [from = 0, to = 0] = read("sys/net/ipv4/ip_local_port_range").split(/\s+/).map(Number);
	if (connecting.length === 0 || files === undefined || to === 0) return [];
	const ports = to - from + 1;
	const able = Number(files) - OWN_FILES;
	const perClient = (of: (plan: Plan) => number) =>
		largestOf(connecting.map((plan) => of(plan) / plan.client.count));
	const most = perClient(openConnections);
	const more = most > able ? `, and this needs up to ${formatCount(Math.ceil(most))}` : "";
	const said = `one load generator process here can hold ${formatCount(able)} connections (ulimit -H -n)${more}; to one address ${formatCount(ports)} (net.ipv4.ip_local_port_range)`;
	const fastest = perClient(({ schedule: { rate } }) => (rate ? ratePerSecond(rate) : 0));
	const secondsLeft = ports / fastest;
	if (secondsLeft >= PORT_KEPT_S) return [said];
	return [
		`${said}; to a server on another machine, ${formatCount(fastest)}/s use up the ports in ${formatDuration(secondsLeft * 1e9)}, because a closed connection keeps its port for ${PORT_KEPT_S}s: use more clients`,
	];
}

/** Other programs and files that a scenario uses, in case another person wrote it. Drivers' variables are listed only if set in `env`. */
export function usesLines(scenario: Scenario, plans: readonly Plan[], env: Env): string[] {
	const { kubernetes, clients, baseline, rig } = scenario;
	const keys = new Set(plans.map(({ system }) => system));
	const systems = scenario.systems.filter(
		({ key, broker }) => keys.has(key) && broker !== noBroker,
	);
	const access = [
		...(clients.kind === "ssh" ? Object.values(clients.access ?? {}) : []),
		...(rig?.brokers.flatMap(({ hosts }) => hosts) ?? []),
	];
	const files = [
		...plans.map(({ message }) => message.file),
		...systems.flatMap(({ options: { tls } }) =>
			typeof tls === "object" ? [tls.ca, tls.cert, tls.key] : [],
		),
		...(baseline?.path ? [baseline.path] : []),
		...access.flatMap((one) => [one.identity, one.knownHosts]),
	].filter((file) => typeof file === "string");
	const own = systems.flatMap(({ options }) => brokerOf(options).secretEnv(options));
	const variables = [...scenario.variables, ...own.filter((name) => env[name] !== undefined)];
	const here = rig === null && targets[scenario.target].place === "process";
	const inPods = kubernetes !== null && clients.kind === "pods";
	const metrics = systems.map(({ options }) => maskUrls(metricsAsked(options).url ?? ""));
	return [
		...codeLines(scenario),
		...(here ? systems.flatMap(programLine) : []),
		...(kubernetes === null ? [] : [`cluster: ${clusterText(kubernetes)}`]),
		...(inPods ? [`image ${kubernetes.image} for the load generator pods`] : []),
		...lineOf("files", files),
		...lineOf("metrics", metrics.filter(Boolean)),
		...lineOf("variables of the environment", variables),
	];
}

/** Code of others that a scenario runs. */
export function codeLines({ drivers, systems, target, rig }: Scenario): string[] {
	if (drivers === null) return [];
	const lock = path.basename(drivers.lock);
	const here = rig === null && targets[target].place === "process";
	return drivers.found.flatMap(({ title, sum, before, manifest }) => {
		const pinned = before === sum ? `as in ${lock}` : `changed: ${lock} has ${before}`;
		const own = systems.filter(({ broker }) => here && broker === manifest.broker);
		return [
			`extension ${title}, the driver of ${manifest.broker}: ${sum}, ${before === null ? `not in ${lock} yet` : pinned}`,
			...own.map(({ key, binary, options }) => {
				const [program, ...args] = commandOf(manifest, options);
				return `${key}: program ${commandLine([binary ?? program ?? "", ...args])}`;
			}),
		];
	});
}

/** "namespace bench of context kind-bench", as far as the scenario has them. */
export function clusterText(kubernetes: Kubernetes | null): string {
	const { context = null, namespace = null } = kubernetes ?? {};
	const of = context === null ? "kubectl's context" : `context ${context}`;
	return namespace === null ? of : `namespace ${namespace} of ${of}`;
}

// --- internal ---

/** Files that k6 has open besides (ownFiles in extensions/xk6-mqbench/generator/session.go), and Linux's TIME_WAIT. */
const OWN_FILES = 32;
const PORT_KEPT_S = 60;

function readProc(file: string): string {
	try {
		return readFileSync(`/proc/${file}`, "utf8");
	} catch {
		return "";
	}
}

function rigLine({ rig }: Scenario, systems: readonly System[]): string[] {
	if (rig === null) return [];
	const fresh = systems.map(({ key }) => key).filter((key) => onHosts(rig, key));
	const allFresh = fresh.length > 0 && fresh.length === systems.length;
	return [
		allFresh
			? `rig ${rig.id}: its hosts stay up, brokers are fresh for each run`
			: `rig ${rig.id}: its brokers stay up, and each run has topics of its own${fresh.length === 0 ? "" : `; those on hosts are fresh for each run (${fresh.join(", ")})`}`,
	];
}

function awsLines({ aws }: Scenario): string[] {
	if (aws === null) return [];
	const { brokers, clients, region, zone } = aws;
	const { volume } = brokers;
	const disk = volume && ` on a ${volume.type} volume of ${volume.sizeGiB}GiB each`;
	const machines = [
		brokers.count > 0 && `${brokers.count} x ${brokers.instance} for brokers${disk ?? ""}`,
		`${clients.count} x ${clients.instance}${clients.spot ? " (spot)" : ""} for the load`,
	];
	return [
		`machines of EC2 in ${zone ?? region}: ${machines.filter(Boolean).join(", ")}; they end themselves after ${formatDurationExact(aws.ttlNs)}`,
	];
}

function systemLine({ target, rig }: Scenario, system: System): string[] {
	const { key, url, existingTopics } = system;
	const { nodes = 1 } = system.options;
	const { process } = brokerOf(system.options);
	const { place } = targets[target];
	const hosts = place === "host" || onHosts(rig, key);
	const image = imageAt(hosts ? "host" : rig === null ? place : null, system);
	const parts = [
		image !== null && container(system, image),
		hosts && image === null && (process?.onHosts.text(system.options) ?? ""),
		hosts && nodes > 1 && `${nodes} nodes on ${nodes} hosts`,
		url !== null && `at ${maskUrls(url)}`,
		existingTopics !== null &&
			`uses ${existingTopics.join(", ")}; makes and removes nothing, and counts what others send there as foreign`,
	].filter((part) => part !== false);
	return parts.length === 0 ? [] : [`${key}: ${parts.join("; ")}`];
}

/** "image apache/kafka:4.1.1, 3 nodes, each of at most 2 CPUs and 2GiB". */
function container({ options }: System, image: string): string {
	const { cpus, memory, nodes = 1 } = options;
	const limits = [
		cpus !== undefined && `${cpus} ${cpus === 1 ? "CPU" : "CPUs"}`,
		memory !== undefined && `${formatBytesExact(memory)} of memory`,
	].filter(Boolean);
	const most = limits.length > 0 ? `at most ${limits.join(" and ")}` : "";
	const each = nodes === 1 ? most : `${nodes} containers${most && ` of ${most} each`}`;
	return [`image ${image}`, each].filter(Boolean).join(", ");
}

function clientsLine({ clients, kubernetes }: Pick<Scenario, "clients" | "kubernetes">): string[] {
	if (clients.kind === "ssh") return [`clients: ${clients.hosts.join(", ")}, over SSH`];
	const { kind, count } = clients;
	if (kind === "local") return count === 1 ? [] : [`clients: ${count} processes of this machine`];
	const noun = { rented: "machine", docker: "container", pods: "pod" }[kind];
	const where = kind === "pods" ? ` in ${clusterText(kubernetes)}` : "";
	return [`clients: ${plural(count, noun)}${where}`];
}

/** "fault at 10s: kill of the leader, which is started again after 2s". */
function faultLine({ atNs, of, action, count, forNs, node, delayNs }: Fault): string {
	const whom = node === null ? "all nodes" : node === "leader" ? "the leader" : `node ${node}`;
	const time = forNs === null ? "" : formatDurationExact(forNs);
	const how: Readonly<Partial<Record<Fault["action"], string>>> = {
		pause: `for ${time}`,
		partition: `for ${time}`,
		latency: `of ${formatDurationExact(delayNs ?? 0)} for ${time}`,
		kill: forNs === null ? "for good" : `and start again after ${time}`,
		restart: forNs === 0 ? "at once" : `after ${time}`,
	};
	const when = `fault at ${formatDurationExact(atNs)} of the measured part`;
	if (of === "consumers") {
		const who =
			typeof count === "object" && count !== null
				? `${percent(count.share)} of the consumers`
				: plural(count ?? 1, "consumer");
		const back = action === "pause" ? ` for ${time}` : time && `, back after ${time}`;
		return `${when}: ${action} of ${who}${back}`;
	}
	return `${when}: ${action} of ${whom} ${how[action]}`;
}

function programLine({ key, binary, options }: System): string[] {
	if (!hasProcess(options)) return [];
	// Drops alternatives meant for tables; without a server only the forwarder is a program.
	const from = brokerOf(options)
		.install?.from.split(/(?:; or|,) `binary:/)[0]
		?.split(/; with `\w+: true` /)
		.at(-1);
	const { server } = options as { readonly server?: string };
	const program = binary ?? server ?? from?.replaceAll("`", "");
	return program === undefined || options[DEFINITION] ? [] : [`${key}: program ${program}`];
}

function lineOf(what: string, names: readonly string[]): string[] {
	return names.length === 0 ? [] : [`${what}: ${[...new Set(names)].join(", ")}`];
}
