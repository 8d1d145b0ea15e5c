import type { RigMachines } from "../model/environment-file.ts";
import { clusterText } from "../plan/place-text.ts";
import type { RigFile } from "../scenario/rig-file.ts";
import type { AwsVolume, Clients, Kubernetes, Scenario } from "../scenario/scenario.ts";

/** What decides which machines there are. */
export type Asked = Pick<Scenario, "rig" | "aws" | "clients" | "kubernetes">;

/** Machines beside the one that mqbench runs on; null: there are none. Those that are yet to be rented have neither id nor hosts. */
export function rigMachines({ rig, aws, clients, kubernetes }: Asked): RigMachines | null {
	if (rig !== null) return ofRig(rig, clients);
	if (kubernetes !== null) return ofCluster(kubernetes);
	if (aws === null) return null;
	const { region, brokers, clients: load } = aws;
	const volume = volumeText(brokers.volume);
	return {
		id: null,
		createdAt: null,
		cloud: `aws ${region}`,
		machines: rentedText(`aws ${region}`, [
			{ ...brokers, type: brokers.instance, role: "brokers", volume },
			{ ...load, type: load.instance, role: "the load", volume: null },
		]),
		brokers: [],
		clients: [],
		here: false,
		facts: {},
	};
}

// --- internal ---

/** Which machines those are each run says: a pod is where the cluster has put it. */
function ofCluster(kubernetes: Kubernetes): RigMachines {
	return {
		id: null,
		createdAt: null,
		cloud: null,
		machines: `pods of Kubernetes (${clusterText(kubernetes)})`,
		brokers: [],
		clients: [],
		here: false,
		facts: {},
	};
}

function ofRig(rig: RigFile, load: Clients): RigMachines | null {
	const brokers = sorted(
		rig.brokers.flatMap(({ hosts }) => hosts.map(({ host, port }) => named(host, port))),
	);
	const clients = load.kind === "ssh" ? sorted(load.hosts.map(bare)) : [];
	if (brokers.length + clients.length === 0) return null;
	const facts = Object.fromEntries(
		Object.entries(rig.facts).filter(
			(pair): pair is [string, string] => typeof pair[1] === "string",
		),
	);
	const cloud = rig.cloud && `${rig.cloud.provider} ${rig.cloud.region}`;
	return {
		id: rig.id,
		createdAt: rig.createdAt ?? null,
		cloud,
		machines:
			rig.cloud === null || cloud === null
				? ownText(brokers, clients)
				: ofCloud(rig, cloud, facts, brokers, clients),
		brokers,
		clients,
		here: clients.length === 0,
		facts,
	};
}

/** As Pulumi's program says it in the facts; a file that does not has the counts of all types alone. */
function ofCloud(
	rig: RigFile,
	cloud: string,
	facts: Readonly<Record<string, string>>,
	brokers: readonly string[],
	clients: readonly string[],
): string {
	const own = sorted(rig.clients.map(({ host, port }) => named(host, port)));
	const all = rig.cloud?.machines ?? {};
	const { brokers: type, clients: loadType, volume = null } = facts;
	const counts =
		loadType === undefined || (type === undefined && brokers.length > 0)
			? Object.entries(all)
					.sort(([a], [b]) => (a < b ? -1 : 1))
					.map(([name, count]) => ({ type: name, count, role: null, volume: null }))
			: [
					...(type === undefined ? [] : [{ type, count: brokers.length, role: "brokers", volume }]),
					{
						type: loadType,
						role: "the load",
						volume: null,
						count: own.filter((host) => clients.includes(host)).length,
					},
				];
	const others = clients.filter((host) => !own.includes(host));
	return [rentedText(cloud, counts), ...(others.length > 0 ? [ownText([], others)] : [])].join(
		", ",
	);
}

interface Fleet {
	readonly type: string;
	readonly count: number;
	/** null: not known. */
	readonly role: string | null;
	readonly volume: string | null;
}

function rentedText(cloud: string, fleets: readonly Fleet[]): string {
	const texts = fleets
		.filter(({ count }) => count > 0)
		.map(
			({ type, count, role, volume }) =>
				`${count} ${type}${volume === null ? "" : ` with ${volume}`}${role === null ? "" : ` for ${role}`}`,
		);
	return `${texts.join(", ")} (${cloud})`;
}

/** "hosts a, b for brokers, c for the load" */
function ownText(brokers: readonly string[], clients: readonly string[]): string {
	const texts = [
		...(brokers.length > 0 ? [`${brokers.join(", ")} for brokers`] : []),
		...(clients.length > 0 ? [`${clients.join(", ")} for the load`] : []),
	];
	const single = brokers.length + clients.length === 1;
	return `${single ? "host" : "hosts"} ${texts.join(", ")}`;
}

/** Without the user: who is let in makes no other machine. */
function bare(host: string): string {
	return host.slice(host.indexOf("@") + 1).toLowerCase();
}

function named(host: string, port: number | undefined): string {
	return `${host.toLowerCase()}${port === undefined ? "" : `:${port}`}`;
}

function sorted(hosts: readonly string[]): string[] {
	return [...new Set(hosts)].sort();
}

/** "gp3 200GiB, 6000 IOPS"; null: there is none. */
function volumeText(volume: AwsVolume | null): string | null {
	if (volume === null) return null;
	const { type, sizeGiB, iops, throughputMiBps } = volume;
	return [
		`${type} ${sizeGiB}GiB`,
		...(iops === null ? [] : [`${iops} IOPS`]),
		...(throughputMiBps === null ? [] : [`${throughputMiBps}MiB/s`]),
	].join(", ");
}
