import type { TargetName } from "../runner/model/targets.ts";
import type { Scenario } from "../runner/scenario/scenario.ts";
import type { World } from "../runner/world.ts";
import { localClients } from "./clients/local.ts";
import type { Binaries } from "./programs/resolve.ts";
import type { Client, Rig } from "./rig.ts";

/** Stands up everything for the scenario's target; for a rig that stays up it uses the existing one. */
export async function provision(
	target: Scenario["target"],
	world: World,
	binaries: Binaries,
	rig: Scenario["rig"] = null,
	clients: Scenario["clients"]["kind"] = "local",
	kubernetes: Scenario["kubernetes"] = null,
): Promise<Rig> {
	if (rig === null)
		return open[target](world, binaries, { inside: clients === "docker", kubernetes });
	const { standingRig } = await import("./existing/existing.ts");
	const { onHosts } = await import("./hosts/open.ts");
	return standingRig(rig, world.stop, onHosts(world, binaries));
}

/** The clients of the scenario, by index; containers join the rig's network. Nothing is contacted before `prepare`. */
export async function clientsOf(
	clients: Scenario["clients"],
	world: World,
	binaries: Binaries,
	{
		network = null,
		kubernetes = null,
	}: { readonly network?: string | null; readonly kubernetes?: Scenario["kubernetes"] } = {},
): Promise<readonly Client[]> {
	switch (clients.kind) {
		case "local":
			return localClients(clients.count, world, binaries);
		case "ssh": {
			const { remoteClient } = await import("./clients/remote.ts");
			const { sshHost } = await import("./ssh/host.ts");
			const { overSsh } = await import("./ssh/set-up.ts");
			return clients.hosts.map((host, index) =>
				remoteClient(index, overSsh({ ...sshHost(host), ...clients.access?.[host] }), {
					world,
					binaries,
					say: (line) => void world.stderr.write(`${line}\n`),
				}),
			);
		}
		case "rented":
			// They belong to a rig by the time they are used.
			throw new Error("machines that are rented come with a rig");
		case "pods": {
			const { podClients } = await import("./kubernetes/clients.ts");
			return podClients(clients.count, neededBy(kubernetes), world, binaries);
		}
		case "docker": {
			const { dockerClients } = await import("./clients/docker.ts");
			return dockerClients(clients.count, network, world, binaries);
		}
	}
}

// --- internal ---

/** How a target's brokers come up for one run. With `inside`, clients join its containers' network. Pods run in `kubernetes`. */
type Open = (
	world: World,
	binaries: Binaries,
	how: { readonly inside: boolean; readonly kubernetes: Scenario["kubernetes"] },
) => Promise<Rig>;

function neededBy(kubernetes: Scenario["kubernetes"]) {
	if (kubernetes === null) throw new Error("the kubernetes settings are missing");
	return kubernetes;
}

const open: Readonly<Record<TargetName, Open>> = {
	local: async (world, binaries) => (await import("./local/local.ts")).localRig(world, binaries),
	docker: async (world, binaries, { inside }) =>
		(await import("./docker/rig.ts")).dockerRig(world, binaries, { inside }),
	existing: async (world, _, { kubernetes }) =>
		(await import("./existing/existing.ts")).existingRig(world.stop, kubernetes === null),
	async aws() {
		throw new Error("what is rented comes with infra/rent, and is a rig");
	},
	kubernetes: async (world, binaries, { kubernetes }) =>
		(await import("./kubernetes/rig.ts")).kubernetesRig(neededBy(kubernetes), world, binaries),
};
