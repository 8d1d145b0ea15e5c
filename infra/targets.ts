import { type TargetName, targets } from "../runner/model/targets.ts";
import type { RigFile } from "../runner/scenario/rig-file.ts";
import type { Scenario } from "../runner/scenario/scenario.ts";
import type { World } from "../runner/world.ts";
import type { Binaries } from "./binaries/resolve.ts";
import { localClients } from "./clients/local.ts";
import type { BrokerRequest, Client, Rig, StoodUp } from "./rig.ts";

/** Stands up what the scenario's target needs; for a rig that stays up it uses what is there. */
export async function provision(
	target: Scenario["target"],
	world: World,
	binaries: Binaries,
	rig: Scenario["rig"] = null,
	clients: Scenario["clients"]["kind"] = "local",
	kubernetes: Scenario["kubernetes"] = null,
): Promise<Rig> {
	if (rig === null)
		return standing[target].open(world, binaries, { inside: clients === "docker", kubernetes });
	const { standingRig } = await import("./existing/standing.ts");
	const { attachDocker, rigNetwork } = await import("./docker/rig.ts");
	const { onHosts } = await import("./hosts/open.ts");
	return {
		...standingRig(
			rig,
			world.stop,
			(entry, request) =>
				attachDocker(rig.id, entry, request, world, binaries, { inside: clients === "docker" }),
			onHosts(world, binaries),
		),
		...(targets[rig.target].place === "container" ? { network: rigNetwork(rig.id) } : {}),
	};
}

/** Stands up one broker for each request, all at once, to stay. If one fails, all fail, and nothing is left. */
export function standUp(
	target: TargetName,
	id: string,
	requests: readonly BrokerRequest[],
	world: World,
	binaries: Binaries,
): Promise<StoodUp> {
	return standing[target].up(id, requests, world, binaries);
}

/** Takes a rig down; nothing of it is left then. It is fine if it was down already. */
export async function takeDown(rig: RigFile, world: World): Promise<void> {
	await standing[rig.target].down(rig, world);
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
			const { overSsh } = await import("./ssh/over-ssh.ts");
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
			return podClients(...([clients.count, neededBy(kubernetes), world, binaries] as const));
		}
		case "docker": {
			const { dockerClients } = await import("./clients/docker.ts");
			return dockerClients(clients.count, network, world, binaries);
		}
	}
}

// --- internal ---

/** How a target's brokers come up and go. Each is loaded only when it is needed. */
interface Standing {
	/** For one run. `inside`: clients join its containers' network; `kubernetes`: where pods run, its own or those of the load. */
	open(
		world: World,
		binaries: Binaries,
		how: { readonly inside: boolean; readonly kubernetes: Scenario["kubernetes"] },
	): Promise<Rig>;
	/** To stay between commands. */
	up(
		id: string,
		requests: readonly BrokerRequest[],
		world: World,
		binaries: Binaries,
	): Promise<StoodUp>;
	down(rig: RigFile, world: World): Promise<void>;
}

const never = (bug: Error) => async () => {
	throw bug;
};
const THEIRS = never(new Error("brokers that were there before are not stood up or down"));
const PODS_STAY_NOT = never(new Error("pods do not outlive the command that has made them"));

function neededBy(kubernetes: Scenario["kubernetes"]) {
	if (kubernetes === null) throw new Error("nobody has said where pods run");
	return kubernetes;
}
const RENTED = never(new Error("what is rented comes with infra/cloud, and is a rig"));

const standing: Readonly<Record<TargetName, Standing>> = {
	local: {
		open: async (world, binaries) => (await import("./local/local.ts")).localRig(world, binaries),
		up: async (...asked) => (await import("./local/standing.ts")).upLocal(...asked),
		down: async (...asked) => (await import("./local/standing.ts")).downLocal(...asked),
	},
	docker: {
		open: async (world, binaries, { inside }) =>
			(await import("./docker/rig.ts")).dockerRig(world, binaries, { inside }),
		// Containers go on without the process that has made them.
		async up(id, requests, world, binaries) {
			const { downDocker, upDocker } = await import("./docker/rig.ts");
			const { brokers, keep } = await upDocker(requests, id, world, binaries);
			return {
				file: { version: 1, id, target: "docker", brokers },
				broken: null,
				keep,
				async teardown() {
					await downDocker(id, world);
					await keep();
				},
			};
		},
		down: async ({ id }, world) => (await import("./docker/rig.ts")).downDocker(id, world),
	},
	existing: {
		async open(world, binaries, { kubernetes }) {
			const { existingRig } = await import("./existing/existing.ts");
			const rig = existingRig(world.stop, kubernetes === null);
			if (kubernetes === null || kubernetes.manifests.length === 0) return rig;
			const { withManifests } = await import("./kubernetes/manifests.ts");
			return withManifests(rig, kubernetes, world, binaries);
		},
		up: THEIRS,
		down: THEIRS,
	},
	aws: { open: RENTED, up: RENTED, down: RENTED },
	kubernetes: {
		open: async (world, binaries, { kubernetes }) =>
			(await import("./kubernetes/rig.ts")).kubernetesRig(
				...([neededBy(kubernetes), world, binaries] as const),
			),
		up: PODS_STAY_NOT,
		down: PODS_STAY_NOT,
	},
};
