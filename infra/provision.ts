import type { Scenario } from "../runner/scenario/scenario.ts";
import type { World } from "../runner/world.ts";
import type { Binaries } from "./binaries/resolve.ts";
import { dockerClients } from "./clients/docker.ts";
import { localClients } from "./clients/local.ts";
import { sshClient } from "./clients/ssh.ts";
import { type SshHost, sshHost } from "./clients/ssh-host.ts";
import { attachDocker, dockerRig, rigNetwork } from "./docker/rig.ts";
import { existingRig } from "./existing/existing.ts";
import { standingRig } from "./existing/standing.ts";
import { localRig } from "./local/local.ts";
import type { Client, Rig } from "./rig.ts";

/** Stands up what the scenario's target asks for; of a rig that stays up it only takes what is there. */
export async function provision(
	target: Scenario["target"],
	world: World,
	binaries: Binaries,
	rig: Scenario["rig"] = null,
): Promise<Rig> {
	if (rig === null) return targets[target](world, binaries);
	return {
		...standingRig(rig, world.stop, (entry, request) =>
			attachDocker(rig.id, entry, request, world, binaries),
		),
		...(rig.target === "docker" ? { network: rigNetwork(rig.id) } : {}),
	};
}

/** What the scenario's load comes from, by index; containers join the network of the rig. Nothing is reached before `prepare`. */
export function clientsOf(
	clients: Scenario["clients"],
	world: World,
	binaries: Binaries,
	{ network = null }: { readonly network?: string | null } = {},
): readonly Client[] {
	switch (clients.kind) {
		case "local":
			return localClients(clients.count, world, binaries);
		case "ssh":
			return clients.hosts.map((host, index) =>
				sshClient(index, hostOf(host, clients.identities), {
					world,
					binaries,
					say: (line) => void world.stderr.write(`${line}\n`),
				}),
			);
		case "docker":
			return dockerClients(clients.count, network, world, binaries);
	}
}

// --- internal ---

function hostOf(
	written: string,
	identities: Readonly<Record<string, string>> = {},
): SshHost {
	return { ...sshHost(written), identity: identities[written] ?? null };
}

const targets: Record<
	Scenario["target"],
	(world: World, binaries: Binaries) => Promise<Rig>
> = {
	local: localRig,
	docker: (world, binaries) => dockerRig(world, binaries),
	existing: async (world) => existingRig(world.stop),
};
