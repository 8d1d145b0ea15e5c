import { hasProcess } from "../brokers/index.ts";
import { crosses, type Target } from "../model/plan.ts";
import { targets } from "../model/targets.ts";
import { formatBytesExact } from "../units.ts";
import { caseProblems, type ResolvedCases } from "./cases.ts";
import type { Context } from "./context.ts";
import type { GivenRig } from "./overrides.ts";
import type { Path, Problem } from "./problem.ts";
import type { Case, Clients, System } from "./scenario.ts";
import type { ScenarioFile } from "./schema.ts";
import {
	CHECKSUM_BYTES,
	ENVELOPE_BYTES,
	LAG_BYTES,
} from "./workload-schema.ts";

/** Who makes the load. `written`: undefined where nothing is said, or nothing right. */
export function resolveClients(
	written: ScenarioFile["clients"] | undefined,
	{
		target,
		targetChosen,
		rig,
		labelOf,
	}: Pick<Context, "target" | "targetChosen" | "rig" | "labelOf">,
): { clients: Clients; problems: Problem[] } {
	const own: Clients = clientsOfRig(rig) ?? {
		kind: ofTarget(target),
		count: 1,
	};
	const leftAside = targetChosen && labelOf(["clients"]) === undefined;
	const mistakes = (clients: Clients) => [
		...misplaced(clients, target, rig),
		...twice(clients, clients === own ? rig : null),
	];
	if (written === undefined) return { clients: own, problems: mistakes(own) };
	// The hosts of a rig are what a number stands for.
	if (typeof written === "number" && rig !== null && own.kind === "ssh") {
		const { clients, problems } = someOf(rig, own, written);
		return { clients, problems: [...problems, ...mistakes(own)] };
	}
	const clients = clientsOf(written, target);
	if (leftAside && misplaced(clients, target, rig).length > 0)
		return { clients: own, problems: mistakes(own) };
	return { clients, problems: mistakes(clients) };
}

/** How many k6 processes that makes. */
export function clientCount(clients: Clients): number {
	return clients.kind === "ssh" ? clients.hosts.length : clients.count;
}

/**
 * Cases that so many clients cannot share. A message is sent by the client of its connection (connection c: client c mod
 * clients), and where it comes back to its sender it has to come back to the same client.
 */
export function unshareable(
	count: number,
	systems: readonly Pick<System, "key" | "broker">[],
	cases: ResolvedCases,
): Problem[] {
	if (count === 1) return [];
	return caseProblems(
		cases,
		(one) => [
			{
				messages: closed(one, count),
				connections: connections(one, count),
				topics: apart(one, count),
				message: lag(one, count),
				order: order(one, count),
				pattern: inProcess(one, count, systems),
			},
		],
		["clients"],
	);
}

// --- internal ---

/** What a number of clients is: machines beside those that are rented, else processes of this one. */
function ofTarget(target: Target | undefined): "rented" | "local" {
	return target !== undefined && targets[target].rents !== null
		? "rented"
		: "local";
}

function clientsOf(
	written: ScenarioFile["clients"],
	target: Target | undefined,
): Clients {
	if (typeof written === "number")
		return { kind: ofTarget(target), count: written };
	return Array.isArray(written)
		? { kind: "ssh", hosts: written }
		: { kind: "docker", count: written.docker };
}

function clientsOfRig(rig: GivenRig | null): OnHosts | null {
	const hosts = (rig?.rig.clients ?? []).map(
		({ host, user, port, identity, knownHosts, setUp }) => ({
			name: `${user === undefined ? "" : `${user}@`}${host}${port === undefined ? "" : `:${port}`}`,
			access: {
				identity: identity ?? null,
				knownHosts: knownHosts ?? null,
				setUp,
			},
		}),
	);
	if (hosts.length === 0) return null;
	return {
		kind: "ssh",
		hosts: hosts.map(({ name }) => name),
		access: Object.fromEntries(
			hosts.map(({ name, access }) => [name, access] as const),
		),
	};
}

type OnHosts = Extract<Clients, { kind: "ssh" }>;

/** The first hosts of a rig. */
function someOf(
	{ path, rig }: GivenRig,
	all: OnHosts,
	count: number,
): { clients: Clients; problems: Problem[] } {
	const most = all.hosts.length;
	const [one, several, instead] =
		targets[rig.target].rents !== null
			? ["one machine", "machines", "stand another rig up"]
			: ["one host", "hosts", "name more there"];
	return {
		clients: { ...all, hosts: all.hosts.slice(0, count) },
		problems:
			count <= most
				? []
				: [
						{
							path: ["clients"],
							at: "value",
							message: `clients: ${count} are more than the ${most === 1 ? one : `${most} ${several}`} that ${path} has for the load; write at most clients: ${most}, or ${instead}`,
						},
					],
	};
}

function misplaced(
	clients: Clients,
	target: Target | undefined,
	rig: GivenRig | null,
): Problem[] {
	const wrong = (message: string): Problem[] => [
		{ path: ["clients"], at: "value", message },
	];
	if (target === undefined) return [];
	const { place, rents, here } = targets[target];
	if (clients.kind === "ssh" && rents !== null && rig === null)
		return wrong(
			`clients on hosts of yours are not beside the machines that target ${target} rents: how far they are would be measured; write how many machines make the load, e.g. clients: 2`,
		);
	if (clients.kind === "docker" && rents !== null)
		return wrong(
			`clients: { docker: ${clients.count} } are containers beside those of target docker, and the target is ${target}; write clients: ${clients.count} for as many machines, or target: docker`,
		);
	if (clients.kind === "docker" && place !== "container")
		return wrong(
			`clients: { docker: ${clients.count} } are containers beside those of target docker, and the target is ${target}; write clients: ${clients.count} for as many processes of this machine, or target: docker`,
		);
	if (clients.kind === "ssh" && here)
		return wrong(
			`clients on other hosts cannot reach brokers of target ${target}, which listen on this machine's loopback alone; write target: existing with a url that the hosts reach, or measure on a rig (--rig rig.json)`,
		);
	return [];
}

/** A host that is named twice would have two clients on its cores, and no figure would say so. */
function twice(clients: Clients, from: GivenRig | null): Problem[] {
	if (clients.kind !== "ssh") return [];
	// Of a rig's own the command line tells which file it is.
	const path = (at: number): Path =>
		from === null ? ["clients", at] : ["target"];
	const whose = from === null ? "clients" : "its clients";
	const places = clients.hosts.map(placeOf);
	const at = places.findIndex((place, i) => places.indexOf(place) < i);
	if (at >= 0)
		return [
			{
				path: path(at),
				at: "value",
				message: `${whose} name ${places[at]?.replace(/:22$/, "")} twice, and two on one host share its cores; remove one of them`,
			},
		];
	const badPort = places.findIndex(
		(place) => Number(/:(\d+)$/.exec(place)?.[1]) > 65_535,
	);
	return badPort < 0
		? []
		: [
				{
					path: path(badPort),
					at: "value",
					message: `${whose}: ${clients.hosts[badPort]} has a port above 65535; write one that there is, or leave it away for ssh's own`,
				},
			];
}

/** "10.0.0.11:22": what two names of one host have in common. */
function placeOf(host: string): string {
	const bare = host.slice(host.indexOf("@") + 1).toLowerCase();
	return /:\d+$/.test(bare) ? bare : `${bare}:22`;
}

function closed({ schedule }: Case, clients: number): string | undefined {
	return schedule.kind === "closed"
		? `a closed load (messages) goes as fast as each client by itself can, so that ${clients} clients share no schedule; write rate and duration, or clients: 1`
		: undefined;
}

function connections({ connections: c }: Case, clients: number) {
	return c >= clients
		? undefined
		: `${clients} clients share ${c === 1 ? "one connection" : `${c} connections`} of producers, and each needs one of its own; write connections: ${clients}`;
}

/** A topic whose messages would leave one client and come back to another: its response time would be of two clocks. */
function apart(one: Case, clients: number): string | undefined {
	const { pattern, topics, producers, connections: c } = one;
	if (pattern !== "round-trip" && pattern !== "request-reply") return undefined;
	if (c < clients) return undefined;
	for (let p = 0; p < producers; p++) {
		const topic = p % topics;
		if ((p % c) % clients !== (topic % c) % clients)
			return `topics ${topics}: messages of one topic would be sent by several of the ${clients} clients, and come back to one of them; write topics: ${c}, one for each connection, or clients: 1`;
	}
	return undefined;
}

function lag(one: Case, clients: number): string | undefined {
	if (!crossing(one, clients)) return undefined;
	const { bytes } = one.message;
	const checksum = one.message.checksum ? CHECKSUM_BYTES : 0;
	const least = ENVELOPE_BYTES + LAG_BYTES + checksum;
	return bytes >= least
		? undefined
		: `message ${formatBytesExact(bytes)} is too small for pattern ${one.pattern} over ${clients} clients: behind the ${ENVELOPE_BYTES} bytes of envelope it carries ${LAG_BYTES} more to the client that receives it${checksum > 0 ? `, and ${CHECKSUM_BYTES} of CRC32C` : ""}; write at least message: ${least}B`;
}

function order(one: Case, clients: number): string | undefined {
	const { pattern } = one;
	return one.order !== "none" && grouped(one)
		? `order ${one.order} cannot be seen where the members of a group are on ${clients} clients, as with pattern ${pattern}; write order: none, or clients: 1`
		: undefined;
}

/** What is no process lives in each client: what is sent on one never gets to another. */
function inProcess(
	one: Case,
	clients: number,
	systems: readonly Pick<System, "key" | "broker">[],
): string | undefined {
	const alone = systems.find((system) => !hasProcess(system));
	return alone && crossing(one, clients)
		? `pattern ${one.pattern} over ${clients} clients: ${alone.key} is no broker between them, but a part of each client; leave ${alone.key} out, or write clients: 1`
		: undefined;
}

function crossing({ pattern }: Case, count: number): boolean {
	return crosses({ pattern, client: { index: 0, count } });
}

/** Members of one group share the messages. */
function grouped({ pattern }: Case): boolean {
	return pattern === "work-queue" || pattern === "backlog";
}
