import type { Target } from "../model/plan.ts";
import { sshPlace, sshPlaceText } from "../model/ssh-host.ts";
import { targets } from "../model/targets.ts";
import { plural } from "../units.ts";
import type { Context } from "./context.ts";
import type { GivenRig } from "./overrides.ts";
import { type Path, type Problem, refuse } from "./problem.ts";
import type { Clients } from "./scenario.ts";
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
	const own: Clients = clientsOfRig(rig) ?? { kind: ofTarget(target), count: 1 };
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

// --- internal ---

/** What a number of clients is: machines beside those that are rented, pods beside pods, else processes of this machine. */
function ofTarget(target: Target | undefined): "rented" | "pods" | "local" {
	if (target === undefined) return "local";
	if (targets[target].place === "pod") return "pods";
	return targets[target].rents === null ? "local" : "rented";
}

function clientsOf(written: ScenarioFile["clients"], target: Target | undefined): Clients {
	if (typeof written === "number") return { kind: ofTarget(target), count: written };
	if (Array.isArray(written)) return { kind: "ssh", hosts: written };
	return "docker" in written
		? { kind: "docker", count: written.docker }
		: { kind: "pods", count: written.kubernetes };
}

function clientsOfRig(rig: GivenRig | null): OnHosts | null {
	const hosts = (rig?.rig.clients ?? []).map(
		({ host, user, port, identity, knownHosts, hostKeyKnown, setUp, bootMinutes }) => ({
			name: sshPlaceText({ user: user ?? null, host, port: port ?? null }),
			access: {
				identity: identity ?? null,
				knownHosts: knownHosts ?? null,
				hostKeyKnown,
				setUp,
				bootMinutes,
			},
		}),
	);
	if (hosts.length === 0) return null;
	return {
		kind: "ssh",
		hosts: hosts.map(({ name }) => name),
		access: Object.fromEntries(hosts.map(({ name, access }) => [name, access] as const)),
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
						refuse(["clients"], "clients-beyond-rig", {
							clients: count,
							rig: path,
							most,
							hosts: plural(most, noun),
						}),
					],
	};
}

function misplaced(clients: Clients, target: Target | undefined, rig: GivenRig | null): Problem[] {
	if (target === undefined) return [];
	const { place, rents, here } = targets[target];
	const at = ["clients"];
	if (clients.kind === "ssh" && rents !== null && rig === null)
		return [refuse(at, "clients-far-from-rented", { target })];
	if (clients.kind === "docker" && place !== "container")
		return [refuse(at, "clients-in-docker", { ...clients, target })];
	// A pod's network is the cluster's own.
	if (clients.kind === "pods" && place !== "pod" && place !== null)
		return [refuse(at, "clients-in-pods", { ...clients, target })];
	if (clients.kind === "ssh" && place === "pod")
		return [refuse(at, "clients-outside-cluster", { target })];
	if (clients.kind === "ssh" && here) return [refuse(at, "clients-beyond-loopback", { target })];
	return [];
}

/** A host that is named twice would have two clients on its cores, and no figure would say so. */
function twice(clients: Clients, from: GivenRig | null): Problem[] {
	if (clients.kind !== "ssh") return [];
	// Of a rig's own the command line tells which file it is.
	const path = (at: number): Path => (from === null ? ["clients", at] : ["target"]);
	const whose = from === null ? "clients" : "its clients";
	const addresses = clients.hosts.map(placeOf);
	const at = addresses.findIndex((place, i) => addresses.indexOf(place) < i);
	if (at >= 0)
		return [refuse(path(at), "host-twice", { whose, host: addresses[at]?.replace(/:22$/, "") })];
	const badPort = clients.hosts.findIndex((host) => Number(sshPlace(host).port) > 65_535);
	return badPort < 0
		? []
		: [refuse(path(badPort), "host-port", { whose, host: clients.hosts[badPort] })];
}

/** "10.0.0.11:22": what two names of one host have in common. */
function placeOf(host: string): string {
	const place = sshPlace(host.toLowerCase());
	return sshPlaceText({ ...place, user: null, port: place.port ?? 22 });
}
