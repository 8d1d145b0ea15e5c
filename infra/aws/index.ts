import { readFileSync } from "node:fs";
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { AwsConfig, isMetal, machinesOf, ROOT_DISK, volumeText, wrongIn } from "./config.ts";
import { userData, withHostKey } from "./user-data.ts";

const parsed = AwsConfig.safeParse(new pulumi.Config("mqbench").getObject("rig"));
if (!parsed.success) throw refusal(`${wrongIn(parsed.error)}\nREADME.md shows one that is right`);
const config = parsed.data;
const { id, region, profile, account, endpoint, zone, brokers, clients } = config;

/** A sweep uses them to find leftovers of a rig. */
const tags = {
	Name: `mqbench-${id}`,
	"mqbench:run": id,
	"mqbench:owner": config.owner,
	"mqbench:expires": config.expiresAt,
	"mqbench:version": config.version,
};

/** A separate one, because region and profile of the stack or the environment must not matter. */
const provider = new aws.Provider("aws", {
	region: region as aws.Region,
	...(profile !== null && { profile }),
	// This is in the state, too: a destroy with other credentials would find nothing and take the rig for gone.
	...(account !== null && endpoint === null && { allowedAccountIds: [account] }),
	defaultTags: { tags },
	// Subtle: the provider also retries when AWS has no room, with growing pauses. Its default of 25 takes 50 minutes, 6 half a minute.
	maxRetries: 6,
	// An emulator has no accounts, no metadata and no regions.
	...(endpoint !== null && {
		accessKey: "test",
		secretKey: "test",
		skipCredentialsValidation: true,
		skipMetadataApiCheck: true,
		skipRequestingAccountId: true,
		skipRegionValidation: true,
		endpoints: [{ ec2: endpoint, sts: endpoint }],
	}),
});

// --- network: one subnet, open inside, and from outside only to the caller's SSH ---

const ANYWHERE = "0.0.0.0/0";
const vpc = new aws.ec2.Vpc(
	"vpc",
	{ cidrBlock: "10.77.0.0/16", enableDnsSupport: true, enableDnsHostnames: true },
	{ provider },
);
const gateway = new aws.ec2.InternetGateway("gateway", { vpcId: vpc.id }, { provider });
const routes = new aws.ec2.RouteTable(
	"routes",
	{ vpcId: vpc.id, routes: [{ cidrBlock: ANYWHERE, gatewayId: gateway.id }] },
	{ provider },
);
const subnet = new aws.ec2.Subnet(
	"subnet",
	{ vpcId: vpc.id, cidrBlock: "10.77.0.0/24", availabilityZone: zone },
	{ provider },
);
const association = new aws.ec2.RouteTableAssociation(
	"association",
	{ subnetId: subnet.id, routeTableId: routes.id },
	{ provider },
);
const all = { protocol: "-1", fromPort: 0, toPort: 0 };
const ssh = { protocol: "tcp", fromPort: 22, toPort: 22 };
const group = new aws.ec2.SecurityGroup(
	"machines",
	{
		vpcId: vpc.id,
		description: "Machines of an mqbench rig",
		// The rules are part of the group, not separate resources: one added by hand is removed.
		ingress: [
			{ ...all, self: true, description: "All between the machines of the rig" },
			{ ...ssh, cidrBlocks: [config.callerCidr], description: "SSH from the caller" },
		],
		egress: [{ ...all, cidrBlocks: [ANYWHERE], description: "Packages and the clock" }],
	},
	{ provider },
);
const placement = new aws.ec2.PlacementGroup("placement", { strategy: "cluster" }, { provider });

// --- machines ---

const key = new aws.ec2.KeyPair("key", { publicKey: config.publicKey }, { provider });
const hostKey = readHostKey(config.hostKey);
// All systems take turns on these, so they have the same hardware.
const brokerMachines = Array.from({ length: brokers.count }, (_, i) =>
	machine("broker", i + 1, brokers.instance),
);
const clientMachines = Array.from({ length: clients.count }, (_, i) =>
	machine("client", i + 1, clients.instance),
);

// --- output ---

/** The content of rig.json (`mqbench schema rig`): `pulumi stack output rig --json > rig.json`. It names files with secrets, and holds none. */
export const rig = {
	version: 1,
	id,
	target: "aws",
	expiresAt: config.expiresAt,
	brokers: config.systems.map(({ system, broker, nodes }) => ({
		system,
		broker,
		hosts: brokerMachines
			.slice(0, nodes)
			.map((one) => ({ ...host(one, brokers.instance), address: one.privateIp })),
		machine: brokers.instance,
	})),
	clients: clientMachines.map((one) => host(one, clients.instance)),
	cloud: { provider: "aws", region, profile, owner: config.owner, machines: machinesOf(config) },
	// Reports treat machines that differ in these as different.
	facts: {
		zone,
		ami: config.ami,
		brokers: brokers.count > 0 ? brokers.instance : null,
		volume: brokers.count > 0 ? volumeText(brokers.volume) : null,
		clients: clients.instance,
		placementGroup: placement.name,
	},
};

// --- internal ---

/**
 * A machine that ends itself: its user data schedules a shutdown, and a shutdown terminates it. Its volumes go with it, even if no
 * mqbench is left to ask for that.
 */
function machine(role: "broker" | "client", number: number, instance: string): aws.ec2.Instance {
	const isBroker = role === "broker";
	const volume = isBroker ? brokers.volume : null;
	const name = `${role}-${number}`;
	const own = { Name: `mqbench-${id}-${name}` };
	const script = userData({
		ttlMinutes: config.ttlMinutes,
		role,
		// Everything that makes load is copied over SSH.
		packages: isBroker ? config.packages : [],
		user: config.user,
		volume: volume !== null,
	});
	return new aws.ec2.Instance(
		name,
		{
			ami: config.ami,
			instanceType: instance,
			availabilityZone: zone,
			subnetId: subnet.id,
			vpcSecurityGroupIds: [group.id],
			placementGroup: placement.name,
			associatePublicIpAddress: true,
			keyName: key.keyName,
			// A secret: neither Pulumi's state nor its messages may show the key.
			userData: hostKey === null ? script : pulumi.secret(withHostKey(script, hostKey)),
			// It runs only at the first start: another script needs another machine.
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
			...(volume && {
				ebsBlockDevices: [
					{
						deviceName: "/dev/sdf",
						volumeType: volume.type,
						volumeSize: volume.sizeGiB,
						...(volume.iops !== null && { iops: volume.iops }),
						...(volume.throughputMiBps !== null && { throughput: volume.throughputMiBps }),
						encrypted: true,
						deleteOnTermination: true,
					},
				],
			}),
			// Never brokers: AWS takes such a machine away when another customer pays more, and all measurements are lost with it.
			...(!isBroker &&
				clients.spot && {
					instanceMarketOptions: {
						marketType: "spot",
						spotOptions: {
							spotInstanceType: "one-time",
							instanceInterruptionBehavior: "terminate",
						},
					},
				}),
			tags: own,
			// Volumes do not get the provider's.
			volumeTags: { ...tags, ...own },
		},
		{
			provider,
			// Their set-up needs a way out. On the way down, AWS keeps a gateway as long as a machine behind it has a public address.
			dependsOn: [association, routes, gateway],
			// Otherwise 10 minutes, and 20.
			...(isMetal(instance) && { customTimeouts: { create: "40m", delete: "60m" } }),
			additionalSecretOutputs: ["userData"],
		},
	);
}

function host({ publicIp }: aws.ec2.Instance, instance: string) {
	return {
		host: publicIp,
		user: config.user,
		identity: config.identity,
		knownHosts: config.knownHosts,
		hostKeyKnown: hostKey !== null,
		setUp: true,
		...(isMetal(instance) && { bootMinutes: 25 }),
	};
}

/** From its files: on a command line, where Pulumi takes its configuration from, others could read it. */
function readHostKey(file: string | null) {
	if (file === null) return null;
	try {
		return {
			private: readFileSync(file, "utf8"),
			public: readFileSync(`${file}.pub`, "utf8").trim(),
		};
	} catch (error) {
		throw refusal(
			`mqbench:rig.hostKey: ${(error as Error).message}; make it: ssh-keygen -t ed25519 -N "" -f ${file}`,
		);
	}
}

/**
 * An error that Pulumi prints without a stack. Subtle: it must not have one, because Node takes 15 to 30 s to colour a stack with Pulumi's
 * own paths in it.
 */
function refusal(sentence: string): pulumi.RunError {
	const error = new pulumi.RunError(sentence);
	error.stack = "";
	return error;
}
