import { readFileSync } from "node:fs";
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { BrokerFleet } from "./broker-fleet.ts";
import { ClientFleet } from "./client-fleet.ts";
import type { AwsConfig } from "./config.ts";
import type { HostKey } from "./machine.ts";
import { Network } from "./network.ts";
import { type RigOutput, rigOutput } from "./outputs.ts";
import { refusal } from "./refusal.ts";

/** A whole rig: its network, and the machines of brokers and clients. */
export class Rig extends pulumi.ComponentResource {
	/** The content of rig.json. */
	readonly file: pulumi.Output<RigOutput>;

	constructor(config: AwsConfig, options?: pulumi.ComponentResourceOptions) {
		const name = `mqbench-${config.id}`;
		super("mqbench:rig:Rig", name, {}, options);
		const tags = tagsOf(config);
		const provider = providerOf(`${name}-aws`, config, tags, this);
		const part = { parent: this, providers: { aws: provider } };

		const network = new Network(name, config, part);
		const key = new aws.ec2.KeyPair(
			`${name}-key`,
			{ publicKey: config.publicKey, tags: { Name: `${name} key` } },
			{ parent: this, provider },
		);
		const hostKey = hostKeyOf(config);
		const surroundings = { config, network, key, hostKey, tags };
		const brokers = new BrokerFleet(`${name}-broker`, surroundings, part);
		const clients = new ClientFleet(`${name}-client`, surroundings, part);

		this.file = rigOutput(config, {
			brokers: brokers.machines,
			clients: clients.machines,
			placementGroup: network.placementGroup.name,
		});
		this.registerOutputs({ rig: this.file });
	}
}

// --- internal ---

/** Tags by which a sweep finds what is left of a rig. */
function tagsOf(config: AwsConfig): Record<string, string> {
	return {
		"mqbench:run": config.id,
		"mqbench:owner": config.owner,
		"mqbench:expires": config.expiresAt,
		"mqbench:version": config.version,
	};
}

/**
 * Subtle: the provider also retries RunInstances when AWS has no room (InsufficientInstanceCapacity), with growing pauses. With its own 25
 * that takes 50 minutes; with these, half a minute, and mqbench tries the next zone.
 */
const MAX_RETRIES = 6;

/** The machines' host key, from its files: on a command line, where Pulumi takes its configuration from, others could read it. */
function hostKeyOf({ hostKey }: AwsConfig): HostKey | null {
	if (hostKey === null) return null;
	try {
		return {
			private: readFileSync(hostKey, "utf8"),
			public: readFileSync(`${hostKey}.pub`, "utf8").trim(),
		};
	} catch (error) {
		throw refusal(
			`mqbench:rig: hostKey cannot be read (${(error as Error).message}); make it: ssh-keygen -t ed25519 -N "" -f ${hostKey}`,
		);
	}
}

/** The rig has its own provider, so the region of the stack or the environment does not matter. */
function providerOf(
	name: string,
	{ region, profile, account, endpoint }: AwsConfig,
	tags: Record<string, string>,
	parent: pulumi.Resource,
): aws.Provider {
	return new aws.Provider(
		name,
		{
			region: region as aws.Region,
			...(profile !== null && { profile }),
			// This is in the state, too: a destroy with other credentials would find nothing and take the rig for gone.
			...(account !== null && endpoint === null && { allowedAccountIds: [account] }),
			defaultTags: { tags },
			maxRetries: MAX_RETRIES,
			...(endpoint !== null && emulator(endpoint)),
		},
		{ parent },
	);
}

/** An emulator has no accounts, no metadata and no regions. */
function emulator(endpoint: string): aws.ProviderArgs {
	return {
		accessKey: "test",
		secretKey: "test",
		skipCredentialsValidation: true,
		skipMetadataApiCheck: true,
		skipRequestingAccountId: true,
		skipRegionValidation: true,
		s3UsePathStyle: true,
		endpoints: [{ ec2: endpoint, sts: endpoint, iam: endpoint, ssm: endpoint }],
	};
}
