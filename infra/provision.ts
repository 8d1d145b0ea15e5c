import type { Scenario } from "../runner/scenario/scenario.ts";
import type { World } from "../runner/world.ts";
import type { Binaries } from "./binaries/resolve.ts";
import { localClients } from "./clients/local.ts";
import { localRig } from "./local/local.ts";
import type { Client, Rig } from "./rig.ts";

/** Stands up what the scenario's target asks for; of a rig that stays up it only takes what is there. */
export async function provision(
	target: Scenario["target"],
	world: World,
	binaries: Binaries,
	rig: Scenario["rig"] = null,
	clients: Scenario["clients"]["kind"] = "local",
): Promise<Rig> {
	if (rig === null) return targets[target](world, binaries, clients);
	const { standingRig } = await import("./existing/standing.ts");
	const { attachDocker, rigNetwork } = await import("./docker/rig.ts");
	const { onHosts } = await import("./hosts/open.ts");
	return {
		...standingRig(
			rig,
			world.stop,
			(entry, request) =>
				attachDocker(rig.id, entry, request, world, binaries, {
					inside: clients === "docker",
				}),
			onHosts(world, binaries),
		),
		...(rig.target === "docker" ? { network: rigNetwork(rig.id) } : {}),
	};
}

/** What the scenario's load comes from, by index; containers join the network of the rig. Nothing is reached before `prepare`. */
export async function clientsOf(
	clients: Scenario["clients"],
	world: World,
	binaries: Binaries,
	{ network = null }: { readonly network?: string | null } = {},
): Promise<readonly Client[]> {
	switch (clients.kind) {
		case "local":
			return localClients(clients.count, world, binaries);
		case "ssh": {
			const { sshClient } = await import("./clients/ssh.ts");
			const { sshHost } = await import("./clients/ssh-host.ts");
			return clients.hosts.map((host, index) =>
				sshClient(
					index,
					{ ...sshHost(host), ...clients.access?.[host] },
					{
						world,
						binaries,
						say: (line) => void world.stderr.write(`${line}\n`),
					},
				),
			);
		}
		case "aws":
			// They are a rig's by the time that anybody measures on them.
			throw new Error("machines that are rented come with a rig");
		case "docker": {
			const { dockerClients } = await import("./clients/docker.ts");
			return dockerClients(clients.count, network, world, binaries);
		}
	}
}

// --- internal ---

/** What one target needs, a run on another does not wait for. */
const targets: Record<
	Scenario["target"],
	(
		world: World,
		binaries: Binaries,
		clients: Scenario["clients"]["kind"],
	) => Promise<Rig>
> = {
	local: (world, binaries) => localRig(world, binaries),
	docker: async (world, binaries, clients) =>
		(await import("./docker/rig.ts")).dockerRig(world, binaries, {
			inside: clients === "docker",
		}),
	existing: async (world) =>
		(await import("./existing/existing.ts")).existingRig(world.stop),
	async aws() {
		throw new Error("what is rented is measured on as a rig");
	},
};
