import { volumeText } from "../../infra/aws/config.ts";
import type { RigMachines } from "../model/environment-file.ts";
import { clusterText } from "../plan/place-text.ts";
import type { RigFile } from "../scenario/rig-file.ts";
import type { Clients, Scenario } from "../scenario/scenario.ts";

export type Asked = Pick<Scenario, "rig" | "aws" | "clients" | "kubernetes">;

/** The machines in addition to the one that mqbench runs on. Those that are not rented yet have neither ID nor hosts. */
export function rigMachines({ rig, aws, clients, kubernetes }: Asked): RigMachines | null {
	if (rig !== null) return ofRig(rig, clients);
	// Each run records its machines, because the cluster places the pods.
	if (kubernetes !== null) return machinesOf(`pods of Kubernetes (${clusterText(kubernetes)})`);
	if (aws === null) return null;
	const cloud = `aws ${aws.region}`;
	const { brokers, clients: load } = aws;
	const volume = volumeText(brokers.volume);
	const machines = rentedText(cloud, [
		{ ...brokers, type: brokers.instance, role: "brokers", volume },
		{ ...load, type: load.instance, role: "the load" },
	]);
	return machinesOf(machines, { cloud });
}

// --- internal ---

function machinesOf(machines: string, known: Partial<RigMachines> = {}): RigMachines {
	return {
		id: null,
		createdAt: null,
		cloud: null,
		machines,
		brokers: [],
		clients: [],
		here: false,
		facts: {},
		...known,
	};
}

function ofRig(rig: RigFile, load: Clients): RigMachines | null {
	const brokers = sorted(
		rig.brokers.flatMap(({ hosts }) => hosts.map(({ host, port }) => named(host, port))),
	);
	// Without the user, because users do not change the machine.
	const bare = (host: string) => host.slice(host.indexOf("@") + 1).toLowerCase();
	const clients = load.kind === "ssh" ? sorted(load.hosts.map(bare)) : [];
	if (brokers.length + clients.length === 0) return null;
	const facts: Record<string, string> = {};
	for (const [name, fact] of Object.entries(rig.facts))
		if (typeof fact === "string") facts[name] = fact;
	const cloud = rig.cloud && `${rig.cloud.provider} ${rig.cloud.region}`;
	const rented = rig.clients.map(({ host, port }) => named(host, port));
	const others = clients.filter((host) => !rented.includes(host));
	// Pulumi's program puts types and roles into the facts.
	const { brokers: type = "machines", clients: loadType = "machines", volume = null } = facts;
	const inCloud = [
		{ type, count: brokers.length, role: "brokers", volume },
		{ type: loadType, count: clients.length - others.length, role: "the load" },
	];
	const beside = others.length > 0 ? `, ${ownText([], others)}` : "";
	const machines =
		cloud === null ? ownText(brokers, clients) : `${rentedText(cloud, inCloud)}${beside}`;
	const { id, createdAt = null } = rig;
	const here = clients.length === 0;
	return machinesOf(machines, { id, createdAt, cloud, brokers, clients, here, facts });
}

type Fleet = Record<"type" | "role", string> & { count: number; volume?: string | null };

function rentedText(cloud: string, fleets: readonly Fleet[]): string {
	const texts = fleets
		.filter(({ count }) => count > 0)
		.map(
			({ type, count, role, volume }) =>
				`${count} ${type}${volume ? ` with ${volume}` : ""} for ${role}`,
		);
	return `${texts.join(", ")} (${cloud})`;
}

function ownText(brokers: readonly string[], clients: readonly string[]): string {
	const texts = [
		...(brokers.length > 0 ? [`${brokers.join(", ")} for brokers`] : []),
		...(clients.length > 0 ? [`${clients.join(", ")} for the load`] : []),
	];
	const single = brokers.length + clients.length === 1;
	return `${single ? "host" : "hosts"} ${texts.join(", ")}`;
}

function named(host: string, port: number | undefined): string {
	return `${host.toLowerCase()}${port === undefined ? "" : `:${port}`}`;
}

function sorted(hosts: readonly string[]): string[] {
	return [...new Set(hosts)].sort();
}
