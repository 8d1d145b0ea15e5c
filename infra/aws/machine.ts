import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type AwsConfig, isMetal, ROOT_DISK } from "./config.ts";
import type { Network } from "./network.ts";
import { withHostKey } from "./user-data.ts";

/** What the machines of a rig share. */
export interface Surroundings {
	readonly config: AwsConfig;
	readonly network: Network;
	readonly key: aws.ec2.KeyPair;
	/** Of all machines; null: each makes its own. */
	readonly hostKey: HostKey | null;
	/** Tags of the rig: volumes do not get them from the provider. */
	readonly tags: Readonly<Record<string, string>>;
}

export interface HostKey {
	readonly private: string;
	readonly public: string;
}

/** How a broker's machine differs from a client's. */
export interface MachineArgs {
	readonly instance: string;
	/** Prepares the machine, and starts by setting the time when it ends itself. */
	readonly userData: string;
	readonly volume: AwsConfig["brokers"]["volume"];
	/** Cheaper, but AWS takes it away when somebody pays more. */
	readonly spot: boolean;
}

/**
 * A machine that ends itself: its set-up schedules a shutdown, and a shutdown terminates it. Its volumes belong to it, so AWS removes them
 * even if nobody is there to ask for it.
 */
export function machine(
	name: string,
	{ instance, userData, volume, spot }: MachineArgs,
	{ config, network, key, hostKey, tags }: Surroundings,
	parent: pulumi.Resource,
): aws.ec2.Instance {
	return new aws.ec2.Instance(
		name,
		{
			ami: config.ami,
			instanceType: instance,
			availabilityZone: config.zone,
			subnetId: network.subnet.id,
			vpcSecurityGroupIds: [network.securityGroup.id],
			placementGroup: network.placementGroup.name,
			associatePublicIpAddress: true,
			keyName: key.keyName,
			// A secret, so that Pulumi's state and its words do not show the key.
			userData: hostKey === null ? userData : pulumi.secret(withHostKey(userData, hostKey)),
			// A changed script needs a new machine: it runs only at the first start, and schedules the shutdown.
			userDataReplaceOnChange: true,
			instanceInitiatedShutdownBehavior: "terminate",
			disableApiTermination: false,
			metadataOptions: {
				httpEndpoint: "enabled",
				httpTokens: "required",
				httpPutResponseHopLimit: 1,
			},
			rootBlockDevice: {
				volumeType: ROOT_DISK.type,
				volumeSize: ROOT_DISK.sizeGiB,
				encrypted: true,
				deleteOnTermination: true,
			},
			...(volume && { ebsBlockDevices: [device(volume)] }),
			...(spot && { instanceMarketOptions: SPOT }),
			tags: { Name: name },
			volumeTags: { ...tags, Name: name },
		},
		{
			parent,
			dependsOn: [...network.wayOut],
			// Otherwise 10 minutes, and 20.
			...(isMetal(instance) && { customTimeouts: { create: "40m", delete: "60m" } }),
			additionalSecretOutputs: ["userData"],
		},
	);
}

// --- internal ---

const SPOT = {
	marketType: "spot",
	spotOptions: { spotInstanceType: "one-time", instanceInterruptionBehavior: "terminate" },
};

function device(volume: NonNullable<MachineArgs["volume"]>) {
	return {
		deviceName: "/dev/sdf",
		volumeType: volume.type,
		volumeSize: volume.sizeGiB,
		...(volume.iops !== null && { iops: volume.iops }),
		...(volume.throughputMiBps !== null && { throughput: volume.throughputMiBps }),
		encrypted: true,
		deleteOnTermination: true,
	};
}
