import { hasProcess } from "../brokers/index.ts";
import { CHECKSUM_BYTES, ENVELOPE_BYTES, LAG_BYTES } from "../model/load.ts";
import { crosses, type Target } from "../model/plan.ts";
import { targets } from "../model/targets.ts";
import { say } from "../text/say.ts";
import { formatBytesExact, plural } from "../units.ts";
import { caseProblems, type ResolvedCases } from "./cases.ts";
import type { Context } from "./context.ts";
import type { GivenRig } from "./overrides.ts";
import type { Path, Problem } from "./problem.ts";
import type { Case, Clients, System } from "./scenario.ts";
import type { ScenarioFile } from "./schema.ts";

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
				warmup: steady(one),
			},
		],
		["clients"],
	);
}

// --- internal ---

/** Clients would have to agree on the second in which the window opens, and each sees the latency of its own messages only. */
function steady({ schedule }: Case): string | undefined {
	return schedule.steady === null ? undefined : say("steady-clients").text;
}

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
	const noun = targets[rig.target].rents !== null ? "machine" : "host";
	return {
		clients: { ...all, hosts: all.hosts.slice(0, count) },
		problems:
			count <= most
				? []
				: [
						{
							path: ["clients"],
							at: "value",
							message: `clients: ${count}, and ${path} has ${plural(most, noun)} for the load; write at most clients: ${most}`,
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
			`clients on your own hosts would measure their distance from the machines that target ${target} rents; write how many to rent, e.g. clients: 2`,
		);
	if (clients.kind === "docker" && rents !== null)
		return wrong(
			`clients: { docker: ${clients.count} } needs target docker; this target is ${target}: write clients: ${clients.count}`,
		);
	if (clients.kind === "docker" && place !== "container")
		return wrong(
			`clients: { docker: ${clients.count} } needs target docker; this target is ${target}: write clients: ${clients.count}`,
		);
	if (clients.kind === "ssh" && here)
		return wrong(
			`clients on other hosts cannot reach brokers of target ${target}, which listen on 127.0.0.1 only; write target: existing with a url that they reach`,
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
				message: `${whose} name ${places[at]?.replace(/:22$/, "")} twice; remove one of them`,
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
					message: `${whose}: the port of ${clients.hosts[badPort]} is above 65535; write the host's SSH port`,
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
		? `a closed load (messages) has no schedule that ${clients} clients could share; write clients: 1`
		: undefined;
}

function connections({ connections: c }: Case, clients: number) {
	return c >= clients
		? undefined
		: `${clients} clients need at least one connection each, and connections is ${c}; write connections: ${clients}`;
}

/** A topic whose messages would leave one client and come back to another: its response time would be of two clocks. */
function apart(one: Case, clients: number): string | undefined {
	const { pattern, topics, producers, connections: c } = one;
	if (pattern !== "round-trip" && pattern !== "request-reply") return undefined;
	if (c < clients) return undefined;
	for (let p = 0; p < producers; p++) {
		const topic = p % topics;
		if ((p % c) % clients !== (topic % c) % clients)
			return `with ${plural(topics, "topic")} messages of one client would come back to another; write topics: ${c}, one for each connection`;
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
		: `message ${formatBytesExact(bytes)} is too small for pattern ${one.pattern} over ${clients} clients${checksum > 0 ? " with checksum: true" : ""}; write at least message: ${least}B`;
}

function order(one: Case, clients: number): string | undefined {
	const { pattern } = one;
	return one.order !== "none" && grouped(one)
		? `in pattern ${pattern} order can only be checked by one client, and there are ${clients}; write order: none`
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
		? `${alone.key} lives inside each client, so messages cannot reach another of the ${clients} clients; write clients: 1`
		: undefined;
}

function crossing({ pattern }: Case, count: number): boolean {
	return crosses({ pattern, client: { index: 0, count } });
}

/** Members of one group share the messages. */
function grouped({ pattern }: Case): boolean {
	return pattern === "work-queue" || pattern === "backlog";
}
