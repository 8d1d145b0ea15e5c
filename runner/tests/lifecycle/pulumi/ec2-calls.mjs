// Calls of EC2 that Pulumi's AWS provider makes for each kind of resource of infra/aws, in its order, as its sources have them
// (hashicorp/aws 6). The provider itself is a binary of Pulumi's releases and cannot be had here, so this list is ours: what it lacks shows
// only on AWS.
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.MQBENCH_TEST_AWS, "package.json"));

/** For an endpoint: what creating, reading and deleting a resource asks of it. `read` gives null for what is not there. */
export function ec2Calls({ region, endpoint, defaultTags }) {
	const { EC2 } = require("@aws-sdk/client-ec2");
	const ec2 = new EC2({
		region,
		endpoint,
		credentials: { accessKeyId: "test", secretAccessKey: "test" },
	});
	const list = (tags = {}) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
	const tagged = (ResourceType, { tags }) => [
		{ ResourceType, Tags: list({ ...defaultTags, ...tags }) },
	];
	const kinds = {
		"aws:ec2/vpc:Vpc": {
			async create(inputs) {
				const { Vpc } = await ec2.createVpc({
					CidrBlock: inputs.cidrBlock,
					TagSpecifications: tagged("vpc", inputs),
				});
				const { VpcId } = Vpc;
				await ec2.describeVpcs({ VpcIds: [VpcId] });
				await ec2.modifyVpcAttribute({
					VpcId,
					EnableDnsHostnames: { Value: inputs.enableDnsHostnames },
				});
				return { id: VpcId };
			},
			async read(id) {
				await ec2.describeVpcs({ VpcIds: [id] });
				for (const Attribute of [
					"enableDnsHostnames",
					"enableDnsSupport",
					"enableNetworkAddressUsageMetrics",
				])
					await ec2.describeVpcAttribute({ VpcId: id, Attribute });
				const Filters = [{ Name: "vpc-id", Values: [id] }];
				await ec2.describeNetworkAcls({ Filters });
				await ec2.describeRouteTables({ Filters });
				await ec2.describeSecurityGroups({ Filters });
			},
			delete: (id) => ec2.deleteVpc({ VpcId: id }),
		},
		"aws:ec2/internetGateway:InternetGateway": {
			async create(inputs) {
				const { InternetGateway } = await ec2.createInternetGateway({
					TagSpecifications: tagged("internet-gateway", inputs),
				});
				const { InternetGatewayId } = InternetGateway;
				await ec2.attachInternetGateway({ InternetGatewayId, VpcId: inputs.vpcId });
				return { id: InternetGatewayId };
			},
			read: (id) => ec2.describeInternetGateways({ InternetGatewayIds: [id] }),
			async delete(id, { vpcId }) {
				await ec2.detachInternetGateway({ InternetGatewayId: id, VpcId: vpcId });
				await ec2.deleteInternetGateway({ InternetGatewayId: id });
			},
		},
		"aws:ec2/routeTable:RouteTable": {
			async create(inputs) {
				const { RouteTable } = await ec2.createRouteTable({
					VpcId: inputs.vpcId,
					TagSpecifications: tagged("route-table", inputs),
				});
				const { RouteTableId } = RouteTable;
				for (const { cidrBlock, gatewayId } of inputs.routes)
					await ec2.createRoute({
						RouteTableId,
						DestinationCidrBlock: cidrBlock,
						GatewayId: gatewayId,
					});
				return { id: RouteTableId };
			},
			read: (id) => ec2.describeRouteTables({ RouteTableIds: [id] }),
			async delete(id) {
				const { RouteTables } = await ec2.describeRouteTables({ RouteTableIds: [id] });
				for (const one of RouteTables[0].Associations ?? [])
					await ec2.disassociateRouteTable({ AssociationId: one.RouteTableAssociationId });
				await ec2.deleteRouteTable({ RouteTableId: id });
			},
		},
		"aws:ec2/routeTableAssociation:RouteTableAssociation": {
			async create({ routeTableId, subnetId }) {
				const { AssociationId } = await ec2.associateRouteTable({
					RouteTableId: routeTableId,
					SubnetId: subnetId,
				});
				return { id: AssociationId };
			},
			async read(id) {
				const { RouteTables } = await ec2.describeRouteTables({
					Filters: [{ Name: "association.route-table-association-id", Values: [id] }],
				});
				if (RouteTables.length === 0) return null;
			},
			delete: (id) => ec2.disassociateRouteTable({ AssociationId: id }),
		},
		"aws:ec2/subnet:Subnet": {
			async create(inputs) {
				const { Subnet } = await ec2.createSubnet({
					VpcId: inputs.vpcId,
					CidrBlock: inputs.cidrBlock,
					AvailabilityZone: inputs.availabilityZone,
					TagSpecifications: tagged("subnet", inputs),
				});
				return { id: Subnet.SubnetId };
			},
			read: (id) => ec2.describeSubnets({ SubnetIds: [id] }),
			async delete(id) {
				await ec2.describeNetworkInterfaces({ Filters: [{ Name: "subnet-id", Values: [id] }] });
				await ec2.deleteSubnet({ SubnetId: id });
			},
		},
		"aws:ec2/securityGroup:SecurityGroup": {
			async create(inputs, name) {
				const { GroupId } = await ec2.createSecurityGroup({
					GroupName: name,
					Description: inputs.description,
					VpcId: inputs.vpcId,
					TagSpecifications: tagged("security-group", inputs),
				});
				const everything = (CidrIp) => [{ IpProtocol: "-1", IpRanges: [{ CidrIp }] }];
				// A new group lets everything out: the provider begins with none.
				await ec2.revokeSecurityGroupEgress({ GroupId, IpPermissions: everything("0.0.0.0/0") });
				await ec2.authorizeSecurityGroupIngress({
					GroupId,
					IpPermissions: inputs.ingress.map((rule) => rights(rule, GroupId)),
				});
				await ec2.authorizeSecurityGroupEgress({
					GroupId,
					IpPermissions: inputs.egress.map((rule) => rights(rule, GroupId)),
				});
				return { id: GroupId };
			},
			read: (id) => ec2.describeSecurityGroups({ GroupIds: [id] }),
			async delete(id) {
				await ec2.describeNetworkInterfaces({ Filters: [{ Name: "group-id", Values: [id] }] });
				await ec2.deleteSecurityGroup({ GroupId: id });
			},
		},
		"aws:ec2/placementGroup:PlacementGroup": {
			async create(inputs, name) {
				await ec2.createPlacementGroup({
					GroupName: name,
					Strategy: inputs.strategy,
					TagSpecifications: tagged("placement-group", inputs),
				});
				return { id: name, name };
			},
			async read(id) {
				const { PlacementGroups } = await ec2.describePlacementGroups({ GroupNames: [id] });
				if (PlacementGroups.every(({ GroupName }) => GroupName !== id)) return null;
			},
			delete: (id) => ec2.deletePlacementGroup({ GroupName: id }),
		},
		"aws:ec2/keyPair:KeyPair": {
			async create(inputs, name) {
				await ec2.importKeyPair({
					KeyName: name,
					PublicKeyMaterial: Buffer.from(inputs.publicKey),
					TagSpecifications: tagged("key-pair", inputs),
				});
				return { id: name, keyName: name };
			},
			read: (id) => ec2.describeKeyPairs({ KeyNames: [id] }),
			delete: (id) => ec2.deleteKeyPair({ KeyName: id }),
		},
		"aws:ec2/instance:Instance": {
			async create(inputs) {
				await ec2.describeInstanceTypes({ InstanceTypes: [inputs.instanceType] });
				const { Images } = await ec2.describeImages({ ImageIds: [inputs.ami] });
				const { Instances } = await ec2.runInstances({
					MinCount: 1,
					MaxCount: 1,
					ImageId: inputs.ami,
					InstanceType: inputs.instanceType,
					KeyName: inputs.keyName,
					UserData: Buffer.from(inputs.userData).toString("base64"),
					InstanceInitiatedShutdownBehavior: inputs.instanceInitiatedShutdownBehavior,
					Placement: {
						AvailabilityZone: inputs.availabilityZone,
						GroupName: inputs.placementGroup,
					},
					NetworkInterfaces: [
						{
							DeviceIndex: 0,
							SubnetId: inputs.subnetId,
							Groups: inputs.vpcSecurityGroupIds,
							AssociatePublicIpAddress: inputs.associatePublicIpAddress,
						},
					],
					BlockDeviceMappings: [
						disk(Images[0].RootDeviceName, inputs.rootBlockDevice),
						...(inputs.ebsBlockDevices ?? []).map((one) => disk(one.deviceName, one)),
					],
					MetadataOptions: {
						HttpEndpoint: inputs.metadataOptions.httpEndpoint,
						HttpTokens: inputs.metadataOptions.httpTokens,
					},
					...(inputs.instanceMarketOptions && { InstanceMarketOptions: { MarketType: "spot" } }),
					TagSpecifications: tagged("instance", inputs),
				});
				const [{ InstanceId }] = Instances;
				const machine = await described(InstanceId);
				await ec2.describeVolumes({
					Filters: [{ Name: "attachment.instance-id", Values: [InstanceId] }],
				});
				for (const { Ebs } of machine.BlockDeviceMappings)
					await ec2.createTags({ Resources: [Ebs.VolumeId], Tags: list(inputs.volumeTags) });
				return {
					id: InstanceId,
					publicIp: machine.PublicIpAddress,
					privateIp: machine.PrivateIpAddress,
				};
			},
			async read(id) {
				const machine = await described(id);
				if (machine.State.Name === "terminated") return null;
				await ec2.describeInstanceTypes({ InstanceTypes: [machine.InstanceType] });
				await ec2.describeVpcs({ VpcIds: [machine.VpcId] });
				for (const Attribute of [
					"instanceInitiatedShutdownBehavior",
					"disableApiTermination",
					"userData",
				])
					await ec2.describeInstanceAttribute({ InstanceId: id, Attribute });
				const { Volumes } = await ec2.describeVolumes({
					Filters: [{ Name: "attachment.instance-id", Values: [id] }],
				});
				await ec2.describeTags({
					Filters: [{ Name: "resource-id", Values: Volumes.map(({ VolumeId }) => VolumeId) }],
				});
				if (machine.InstanceLifecycle === "spot")
					await ec2.describeSpotInstanceRequests({
						Filters: [{ Name: "instance-id", Values: [id] }],
					});
			},
			async delete(id, inputs) {
				await ec2.modifyInstanceAttribute({
					InstanceId: id,
					DisableApiTermination: { Value: false },
				});
				if (inputs.instanceMarketOptions) {
					const { SpotInstanceRequestId } = await described(id);
					await ec2.cancelSpotInstanceRequests({
						SpotInstanceRequestIds: [SpotInstanceRequestId ?? "sir-00000000"],
					});
				}
				await ec2.terminateInstances({ InstanceIds: [id] });
				await described(id);
			},
		},
	};
	async function described(id) {
		const { Reservations } = await ec2.describeInstances({ InstanceIds: [id] });
		return Reservations[0].Instances[0];
	}
	return {
		async create(type, name, inputs) {
			// Pulumi adds such an end to names that the program leaves open.
			const made = await kinds[type].create(
				inputs,
				`${name}-${Math.random().toString(16).slice(2, 9)}`,
			);
			await kinds[type].read(made.id);
			return made;
		},
		read: (type, id) => orGone(async () => (await kinds[type].read(id)) !== null, false),
		delete: (type, id, inputs) => orGone(() => kinds[type].delete(id, inputs), null),
	};
}

async function orGone(ask, gone) {
	try {
		return await ask();
	} catch (error) {
		if (/NotFound|\.Unknown$/.test(error.name)) return gone;
		throw error;
	}
}

function rights(rule, group) {
	return {
		IpProtocol: rule.protocol,
		FromPort: rule.fromPort,
		ToPort: rule.toPort,
		...(rule.self && { UserIdGroupPairs: [{ GroupId: group }] }),
		IpRanges: (rule.cidrBlocks ?? []).map((CidrIp) => ({ CidrIp })),
	};
}

function disk(DeviceName, { volumeType, volumeSize, encrypted, iops, throughput }) {
	return {
		DeviceName,
		Ebs: {
			VolumeType: volumeType,
			VolumeSize: volumeSize,
			Encrypted: encrypted,
			DeleteOnTermination: true,
			...(iops && { Iops: iops }),
			...(throughput && { Throughput: throughput }),
		},
	};
}
