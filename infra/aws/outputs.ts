import type * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type AwsConfig, isMetal } from "./config.ts";
import { refusal } from "./refusal.ts";

/** What mqbench needs to know about the rig: the form of rig.json (`mqbench schema rig`). It holds no secret, only names of files with secrets. */
export interface RigOutput {
	readonly version: 1;
	readonly id: string;
	readonly target: "aws";
	readonly expiresAt: string;
	/** Each system has the first `nodes` of the brokers' machines. */
	readonly brokers: readonly {
		readonly system: string;
		readonly broker: string;
		readonly hosts: readonly (Host & { readonly address: string })[];
		readonly machine: string;
	}[];
	readonly clients: readonly Host[];
	readonly cloud: {
		readonly provider: "aws";
		readonly region: string;
		readonly profile: string | null;
		readonly owner: string;
		readonly machines: Readonly<Record<string, number>>;
		/** The program does not ask for prices. */
		readonly hourlyUsd: null;
		/** mqbench knows where the state is if it has stood up the rig; the program does not. */
		readonly state: null;
	};
	readonly facts: Readonly<Record<string, string | null>>;
}

/** The machines of the rig. */
export interface Fleets {
	readonly brokers: readonly aws.ec2.Instance[];
	readonly clients: readonly aws.ec2.Instance[];
	readonly placementGroup: pulumi.Output<string>;
}

/** Known once all machines have their addresses. */
export function rigOutput(
	config: AwsConfig,
	{ brokers, clients, placementGroup }: Fleets,
): pulumi.Output<RigOutput> {
	const { id, expiresAt, region, profile, owner, zone, ami } = config;
	return pulumi
		.all([pulumi.all(brokers.map(addresses)), pulumi.all(clients.map(addresses)), placementGroup])
		.apply(
			([broker, client, placement]): RigOutput => ({
				version: 1,
				id,
				target: "aws",
				expiresAt,
				brokers: config.systems.map(({ system, broker: kind, nodes }) => ({
					system,
					broker: kind,
					hosts: broker.slice(0, nodes).map(({ publicIp, privateIp }) => ({
						...host(publicIp, config.brokers.instance, config),
						address: privateIp,
					})),
					machine: config.brokers.instance,
				})),
				clients: client.map(({ publicIp }) => host(publicIp, config.clients.instance, config)),
				cloud: {
					provider: "aws",
					region,
					profile,
					owner,
					machines: machines(config),
					hourlyUsd: null,
					state: null,
				},
				facts: {
					zone,
					ami,
					brokers: brokers.length > 0 ? config.brokers.instance : null,
					volume: volume(config),
					clients: config.clients.instance,
					placementGroup: placement,
				},
			}),
		);
}

/** Without an address, a host would be named "undefined". */
export function addressesOf(machine: string, publicIp: string, privateIp: string): Addresses {
	if (!publicIp || !privateIp)
		throw refusal(
			`AWS gave ${machine} no ${publicIp ? "private" : "public"} address; take the rig down and stand it up again`,
		);
	return { publicIp, privateIp };
}

// --- internal ---

const METAL_BOOT_MINUTES = 25;

interface Host {
	readonly host: string;
	readonly user: string;
	readonly identity: string;
	readonly knownHosts: string;
	readonly hostKeyKnown: boolean;
	readonly setUp: true;
	/** Only of those that take longer than others. */
	readonly bootMinutes?: number;
}

interface Addresses {
	readonly publicIp: string;
	readonly privateIp: string;
}

function addresses(machine: aws.ec2.Instance, i: number): pulumi.Output<Addresses> {
	const { publicIp, privateIp, instanceType } = machine;
	return pulumi
		.all([publicIp, privateIp, instanceType])
		.apply(([open, closed, type]) => addressesOf(`machine ${i + 1} of type ${type}`, open, closed));
}

function host(
	address: string,
	instance: string,
	{ user, identity, hostKey, knownHosts }: AwsConfig,
): Host {
	return {
		host: address,
		user,
		identity,
		knownHosts,
		hostKeyKnown: hostKey !== null,
		setUp: true,
		...(isMetal(instance) && { bootMinutes: METAL_BOOT_MINUTES }),
	};
}

/** "gp3 200GiB, 6000 IOPS": reports treat machines with different volumes as different; null: it has none. */
function volume({ brokers }: AwsConfig): string | null {
	if (brokers.count === 0 || brokers.volume === null) return null;
	const { type, sizeGiB, iops, throughputMiBps } = brokers.volume;
	return [
		`${type} ${sizeGiB}GiB`,
		...(iops === null ? [] : [`${iops} IOPS`]),
		...(throughputMiBps === null ? [] : [`${throughputMiBps}MiB/s`]),
	].join(", ");
}

function machines({ brokers, clients }: AwsConfig): Record<string, number> {
	const all: Record<string, number> = {};
	for (const { instance, count } of [brokers, clients])
		if (count > 0) all[instance] = (all[instance] ?? 0) + count;
	return all;
}
