import type { Target } from "../model/plan.ts";
import { sshPlaceText } from "../model/ssh-host.ts";
import { targets } from "../model/targets.ts";
import { plural } from "../units.ts";
import { type Context, type GivenRig, type Problem, reporter, type Wrong } from "./problem.ts";
import type { Clients } from "./scenario.ts";
import type { ScenarioFile } from "./schema.ts";

/** `written` is undefined if nothing valid is written. */
export function resolveClients(
	written: ScenarioFile["clients"] | undefined,
	context: Pick<Context, "target" | "targetChosen" | "rig" | "labelOf" | "problems">,
): Clients {
	const { target, targetChosen, rig, labelOf } = context;
	const { place, rents } = targets[target];
	const kind = place === "pod" ? "pods" : rents === null ? "local" : "rented";
	const own: Clients = clientsOfRig(rig) ?? { kind, count: 1 };
	const clients = written === undefined ? own : clientsOf(written, own);
	const problems: Problem[] = [];
	checkClients(clients, target, rig, reporter(problems));
	// For a target from the command line, settings that only other targets have are ignored.
	if (problems.length > 0 && targetChosen && labelOf(["clients"]) === undefined) return own;
	const most = clientCount(own);
	if (rig && own.kind === "ssh" && written?.kind === "number" && written.count > most)
		reporter(problems)("clients", "clients-beyond-rig", {
			clients: written.count,
			rig: rig.path,
			most,
			hosts: plural(most, targets[rig.rig.target].rents === null ? "host" : "machine"),
		});
	context.problems.push(...problems);
	return clients;
}

export function clientCount(clients: Clients): number {
	return clients.kind === "ssh" ? clients.hosts.length : clients.count;
}

// --- internal ---

function clientsOf(written: ScenarioFile["clients"], own: Clients): Clients {
	if (written.kind !== "number") return written;
	return own.kind === "ssh"
		? { ...own, hosts: own.hosts.slice(0, written.count) }
		: { ...own, count: written.count };
}

function clientsOfRig(rig: GivenRig | null): Clients | null {
	const hosts = (rig?.rig.clients ?? []).map(
		({ host, user = null, port = null, identity = null, knownHosts = null, ...rest }) =>
			[sshPlaceText({ user, host, port }), { identity, knownHosts, ...rest }] as const,
	);
	if (hosts.length === 0) return null;
	return { kind: "ssh", hosts: hosts.map(([name]) => name), access: Object.fromEntries(hosts) };
}

function checkClients(clients: Clients, target: Target, rig: GivenRig | null, wrong: Wrong): void {
	const { place, rents, here } = targets[target];
	if (clients.kind === "docker" && place !== "container")
		wrong("clients", "clients-in-docker", { ...clients, target });
	// A pod's network is private to the cluster.
	if (clients.kind === "pods" && place !== "pod" && place !== null)
		wrong("clients", "clients-in-pods", { ...clients, target });
	if (clients.kind !== "ssh") return;
	if (rents !== null && rig === null) wrong("clients", "clients-far-from-rented", { target });
	if (place === "pod") wrong("clients", "clients-outside-cluster", { target });
	if (here) wrong("clients", "clients-beyond-loopback", { target });
}
