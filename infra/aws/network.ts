import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { AwsConfig } from "./config.ts";

/**
 * The network of a rig's machines. They are close to each other (one zone, one subnet, one cluster placement group) and open to each other.
 * From outside only the caller's SSH gets in.
 */
export class Network extends pulumi.ComponentResource {
	readonly subnet: aws.ec2.Subnet;
	readonly securityGroup: aws.ec2.SecurityGroup;
	readonly placementGroup: aws.ec2.PlacementGroup;
	/**
	 * What machines have to wait for. Without a way out their set-up finds no packages. On the way down, AWS keeps a gateway as long as a
	 * machine behind it has a public address.
	 */
	readonly wayOut: readonly pulumi.Resource[];

	constructor(name: string, config: AwsConfig, options: pulumi.ComponentResourceOptions) {
		super("mqbench:rig:Network", name, {}, options);
		const child = { parent: this };
		const tags = (what: string) => ({ tags: { Name: `${name} ${what}` } });

		const vpc = new aws.ec2.Vpc(
			`${name}-vpc`,
			{ cidrBlock: VPC, enableDnsSupport: true, enableDnsHostnames: true, ...tags("vpc") },
			child,
		);
		const gateway = new aws.ec2.InternetGateway(
			`${name}-gateway`,
			{ vpcId: vpc.id, ...tags("gateway") },
			child,
		);
		const routes = new aws.ec2.RouteTable(
			`${name}-routes`,
			{
				vpcId: vpc.id,
				routes: [{ cidrBlock: ANYWHERE, gatewayId: gateway.id }],
				...tags("routes"),
			},
			child,
		);
		this.subnet = new aws.ec2.Subnet(
			`${name}-subnet`,
			{ vpcId: vpc.id, cidrBlock: SUBNET, availabilityZone: config.zone, ...tags("subnet") },
			child,
		);
		const association = new aws.ec2.RouteTableAssociation(
			`${name}-association`,
			{ subnetId: this.subnet.id, routeTableId: routes.id },
			child,
		);
		// The rules are part of the group, not resources of their own, so that a rule that somebody added by hand is removed.
		this.securityGroup = new aws.ec2.SecurityGroup(
			`${name}-machines`,
			{
				vpcId: vpc.id,
				description: "Machines of an mqbench rig",
				ingress: [
					{
						description: "All between the machines of the rig",
						protocol: "-1",
						fromPort: 0,
						toPort: 0,
						self: true,
					},
					{
						description: "SSH from the caller",
						protocol: "tcp",
						fromPort: 22,
						toPort: 22,
						cidrBlocks: [config.callerCidr],
					},
				],
				egress: [
					{
						description: "Packages and the clock",
						protocol: "-1",
						fromPort: 0,
						toPort: 0,
						cidrBlocks: [ANYWHERE],
					},
				],
				...tags("machines"),
			},
			child,
		);
		this.placementGroup = new aws.ec2.PlacementGroup(
			`${name}-placement`,
			{ strategy: "cluster", ...tags("placement") },
			child,
		);
		this.wayOut = [association, routes, gateway];
		this.registerOutputs({
			subnet: this.subnet.id,
			securityGroup: this.securityGroup.id,
			placementGroup: this.placementGroup.name,
		});
	}
}

// --- internal ---

const ANYWHERE = "0.0.0.0/0";
const VPC = "10.77.0.0/16";
/** 251 addresses, more than a rig has machines. */
const SUBNET = "10.77.0.0/24";
