import type { EC2 } from "@aws-sdk/client-ec2";
import { tell } from "../../../runner/text/tell.ts";
import { type Api, Refused } from "./api.ts";

/** What is rented, with the details that a permission check needs. */
export interface Probe {
	readonly ami: string;
	readonly instance: string;
	readonly spot: boolean;
}

/** What is known about the caller's permissions. */
export interface Allowed {
	/** "ec2:RunInstances": AWS says no. */
	readonly denied: readonly string[];
	/** Neither yes nor no: AWS's other answers. */
	readonly unknown: readonly { readonly call: string; readonly reason: string }[];
}

/**
 * Asks AWS for each EC2 call that a rig needs, from standing up to taking down, whether the caller may make it (DryRun: nothing is done). For
 * calls that end something it uses ids that do not exist: AWS then either denies permission, or does not find them, which means that the
 * call is allowed.
 */
export async function permissions(api: Api, probe: Probe): Promise<Allowed> {
	const denied: string[] = [];
	const unknown: { call: string; reason: string }[] = [];
	const waiting = Object.entries(probes(probe));
	// A few at a time: AWS slows down callers that ask everything at once.
	await Promise.all(
		Array.from({ length: 6 }, async () => {
			for (let next = waiting.shift(); next; next = waiting.shift()) {
				const [call, ask] = next;
				const answer = await dryRun(() => ask(api.ec2));
				if (answer === "denied") denied.push(call);
				else if (answer !== "allowed") unknown.push({ call, reason: answer });
			}
		}),
	);
	const byName = (a: string, b: string) => a.localeCompare(b);
	return { denied: denied.sort(byName), unknown: unknown.sort((a, b) => byName(a.call, b.call)) };
}

/** Every call that an offer, a rig and a sweep make: what infra/aws/policy.json has to allow. */
export function neededCalls(): string[] {
	return [
		...Object.keys(probes({ ami: "", instance: "", spot: true })),
		...UNASKABLE,
		...ASKED,
		...OTHERS,
	].sort();
}

// --- internal ---

/** EC2 calls that a rig needs and that cannot be checked this way. */
const UNASKABLE = ["ec2:ModifySubnetAttribute", "ec2:ModifyVpcAttribute"];

/** EC2 calls of the offer itself. */
const ASKED = [
	"ec2:DescribeAvailabilityZones",
	"ec2:DescribeImages",
	"ec2:DescribeInstanceTypeOfferings",
	"ec2:DescribeRegions",
	"ec2:DescribeSpotPriceHistory",
];

/** Calls of other services. Without those for prices and quotas an offer says that it does not know them. */
const OTHERS = [
	"pricing:GetProducts",
	"servicequotas:GetAWSDefaultServiceQuota",
	"servicequotas:GetServiceQuota",
	"ssm:GetParameter",
	"sts:GetCallerIdentity",
];

type Ask = (ec2: EC2) => Promise<unknown>;

/** Ids of the right form that do not exist. */
const NONE = "00000000000000000";

function probes({ ami, instance, spot }: Probe): Record<string, Ask> {
	const DryRun = true;
	const vpc = `vpc-${NONE}`;
	const subnet = `subnet-${NONE}`;
	const table = `rtb-${NONE}`;
	const gateway = `igw-${NONE}`;
	const group = `sg-${NONE}`;
	const machine = `i-${NONE}`;
	const name = "mqbench-dry-run";
	const permission = [
		{ IpProtocol: "tcp", FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: "192.0.2.1/32" }] },
	];
	return {
		"ec2:CreateVpc": (ec2) => ec2.createVpc({ DryRun, CidrBlock: "10.0.0.0/16" }),
		"ec2:DeleteVpc": (ec2) => ec2.deleteVpc({ DryRun, VpcId: vpc }),
		"ec2:CreateSubnet": (ec2) => ec2.createSubnet({ DryRun, VpcId: vpc, CidrBlock: "10.0.0.0/24" }),
		"ec2:DeleteSubnet": (ec2) => ec2.deleteSubnet({ DryRun, SubnetId: subnet }),
		"ec2:CreateInternetGateway": (ec2) => ec2.createInternetGateway({ DryRun }),
		"ec2:AttachInternetGateway": (ec2) =>
			ec2.attachInternetGateway({ DryRun, InternetGatewayId: gateway, VpcId: vpc }),
		"ec2:DetachInternetGateway": (ec2) =>
			ec2.detachInternetGateway({ DryRun, InternetGatewayId: gateway, VpcId: vpc }),
		"ec2:DeleteInternetGateway": (ec2) =>
			ec2.deleteInternetGateway({ DryRun, InternetGatewayId: gateway }),
		"ec2:CreateRouteTable": (ec2) => ec2.createRouteTable({ DryRun, VpcId: vpc }),
		"ec2:CreateRoute": (ec2) =>
			ec2.createRoute({
				DryRun,
				RouteTableId: table,
				DestinationCidrBlock: "0.0.0.0/0",
				GatewayId: gateway,
			}),
		"ec2:DeleteRoute": (ec2) =>
			ec2.deleteRoute({ DryRun, RouteTableId: table, DestinationCidrBlock: "0.0.0.0/0" }),
		"ec2:AssociateRouteTable": (ec2) =>
			ec2.associateRouteTable({ DryRun, RouteTableId: table, SubnetId: subnet }),
		"ec2:DisassociateRouteTable": (ec2) =>
			ec2.disassociateRouteTable({ DryRun, AssociationId: `rtbassoc-${NONE}` }),
		"ec2:DeleteRouteTable": (ec2) => ec2.deleteRouteTable({ DryRun, RouteTableId: table }),
		"ec2:CreateSecurityGroup": (ec2) =>
			ec2.createSecurityGroup({ DryRun, GroupName: name, Description: name }),
		"ec2:AuthorizeSecurityGroupIngress": (ec2) =>
			ec2.authorizeSecurityGroupIngress({ DryRun, GroupId: group, IpPermissions: permission }),
		"ec2:AuthorizeSecurityGroupEgress": (ec2) =>
			ec2.authorizeSecurityGroupEgress({ DryRun, GroupId: group, IpPermissions: permission }),
		"ec2:RevokeSecurityGroupIngress": (ec2) =>
			ec2.revokeSecurityGroupIngress({ DryRun, GroupId: group, IpPermissions: permission }),
		"ec2:RevokeSecurityGroupEgress": (ec2) =>
			ec2.revokeSecurityGroupEgress({ DryRun, GroupId: group, IpPermissions: permission }),
		"ec2:DeleteSecurityGroup": (ec2) => ec2.deleteSecurityGroup({ DryRun, GroupId: group }),
		"ec2:CreatePlacementGroup": (ec2) =>
			ec2.createPlacementGroup({ DryRun, GroupName: name, Strategy: "cluster" }),
		"ec2:DeletePlacementGroup": (ec2) => ec2.deletePlacementGroup({ DryRun, GroupName: name }),
		"ec2:ImportKeyPair": (ec2) =>
			ec2.importKeyPair({
				DryRun,
				KeyName: name,
				PublicKeyMaterial: new TextEncoder().encode(
					"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
				),
			}),
		"ec2:DeleteKeyPair": (ec2) => ec2.deleteKeyPair({ DryRun, KeyName: name }),
		"ec2:RunInstances": (ec2) =>
			ec2.runInstances({
				DryRun,
				MinCount: 1,
				MaxCount: 1,
				ImageId: ami,
				InstanceType: instance as never,
				...(spot ? { InstanceMarketOptions: { MarketType: "spot" } } : {}),
			}),
		"ec2:ModifyInstanceAttribute": (ec2) =>
			ec2.modifyInstanceAttribute({
				DryRun,
				InstanceId: machine,
				DisableApiTermination: { Value: false },
			}),
		"ec2:TerminateInstances": (ec2) => ec2.terminateInstances({ DryRun, InstanceIds: [machine] }),
		"ec2:DeleteVolume": (ec2) => ec2.deleteVolume({ DryRun, VolumeId: `vol-${NONE}` }),
		"ec2:CreateTags": (ec2) =>
			ec2.createTags({ DryRun, Resources: [machine], Tags: [{ Key: "mqbench:run", Value: name }] }),
		"ec2:DeleteTags": (ec2) =>
			ec2.deleteTags({ DryRun, Resources: [machine], Tags: [{ Key: "mqbench:run" }] }),
		"ec2:DescribeInstanceAttribute": (ec2) =>
			ec2.describeInstanceAttribute({
				DryRun,
				InstanceId: machine,
				Attribute: "disableApiTermination",
			}),
		"ec2:GetConsoleOutput": (ec2) => ec2.getConsoleOutput({ DryRun, InstanceId: machine }),
		"ec2:DescribeInstanceTypes": (ec2) => ec2.describeInstanceTypes({ DryRun }),
		"ec2:DescribeInstances": (ec2) => ec2.describeInstances({ DryRun }),
		"ec2:DescribeInternetGateways": (ec2) => ec2.describeInternetGateways({ DryRun }),
		"ec2:DescribeKeyPairs": (ec2) => ec2.describeKeyPairs({ DryRun }),
		"ec2:DescribeNetworkAcls": (ec2) => ec2.describeNetworkAcls({ DryRun }),
		"ec2:DescribeNetworkInterfaces": (ec2) => ec2.describeNetworkInterfaces({ DryRun }),
		"ec2:DescribePlacementGroups": (ec2) => ec2.describePlacementGroups({ DryRun }),
		"ec2:DescribeRouteTables": (ec2) => ec2.describeRouteTables({ DryRun }),
		"ec2:DescribeSecurityGroupRules": (ec2) => ec2.describeSecurityGroupRules({ DryRun }),
		"ec2:DescribeSecurityGroups": (ec2) => ec2.describeSecurityGroups({ DryRun }),
		"ec2:DescribeSubnets": (ec2) => ec2.describeSubnets({ DryRun }),
		"ec2:DescribeTags": (ec2) => ec2.describeTags({ DryRun }),
		"ec2:DescribeVolumes": (ec2) => ec2.describeVolumes({ DryRun }),
		"ec2:DescribeVpcAttribute": (ec2) =>
			ec2.describeVpcAttribute({ DryRun, VpcId: vpc, Attribute: "enableDnsHostnames" }),
		"ec2:DescribeVpcs": (ec2) => ec2.describeVpcs({ DryRun }),
		...(spot ? ofSpot : {}),
	};
}

/** Pulumi's provider reads the spot request of a machine, and cancels it when it removes the machine. */
const ofSpot: Record<string, Ask> = {
	"ec2:DescribeSpotInstanceRequests": (ec2) => ec2.describeSpotInstanceRequests({ DryRun: true }),
	"ec2:CancelSpotInstanceRequests": (ec2) =>
		ec2.cancelSpotInstanceRequests({ DryRun: true, SpotInstanceRequestIds: ["sir-00000000"] }),
};

async function dryRun(ask: () => Promise<unknown>): Promise<string> {
	try {
		await ask();
	} catch (error) {
		if (!(error instanceof Refused)) throw error;
		if (error.code === "DryRunOperation") return "allowed";
		if (error.forbidden) return "denied";
		// AWS has looked for it, so the call was allowed.
		if (/NotFound|\.Unknown$|^InvalidGatewayID/.test(error.code)) return "allowed";
		return `${error.code}: ${error.message}`;
	}
	return tell("dry-run-answered");
}
