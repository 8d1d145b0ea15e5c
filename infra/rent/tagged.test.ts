import type { Tag, TagSpecification } from "@aws-sdk/client-ec2";
import { beforeEach, expect, vi } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { openApi } from "./api.ts";
import { emulated, IMAGES } from "./emulator.fake.ts";
import { findTagged, removeTagged, type TaggedRig } from "./tagged.ts";

// Everything is moto's but placement groups, which moto does not have: a stand-in before it keeps those.
const { aws, onAws } = emulated();
vi.setConfig({ testTimeout: 120_000 });
let api: Awaited<ReturnType<typeof openApi>>;

/** Each test has a region of its own, so that none finds what another has left. */
const regions = ["eu-west-1", "eu-west-2", "eu-west-3"];
let where = { region: "", profile: null };
beforeEach(async () => {
	if (aws.endpoint === undefined) return;
	where = { region: regions.shift() ?? "", profile: null };
	aws.account.denied.clear();
	aws.account.broken.clear();
	aws.calls.length = 0;
	api = await openApi(where, world());
});

/** 2026-01-02T03:04:05Z, as the fake world has it. */
const PAST = "2026-01-02T03:00:00.000Z";
const FUTURE = "2026-01-02T05:00:00.000Z";

const world = () => fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: aws.endpoint } });
const find = (id: string | null = null) => findTagged(where, id, world());
const said: string[] = [];
function remove(id: string) {
	said.length = 0;
	const patience = { pauseMs: 5, machinesMs: 500, heldMs: 20 };
	return removeTagged(where, id, world(), (line) => said.push(line), patience);
}

/** Makes all that a rig has, with those tags. */
async function stand(name: string, tags: Readonly<Record<string, string>>): Promise<void> {
	const { ec2 } = api;
	const Tags = Object.entries(tags).map(([key, Value]) => ({ Key: `mqbench:${key}`, Value }));
	const spec = (ResourceType: TagSpecification["ResourceType"]) => ({
		TagSpecifications: Tags.length === 0 ? [] : [{ ResourceType, Tags }],
	});
	const { Vpc } = await ec2.createVpc({ CidrBlock: "10.77.0.0/16", ...spec("vpc") });
	const VpcId = Vpc?.VpcId as string;
	const { InternetGateway } = await ec2.createInternetGateway(spec("internet-gateway"));
	const GatewayId = InternetGateway?.InternetGatewayId as string;
	await ec2.attachInternetGateway({ VpcId, InternetGatewayId: GatewayId });
	const { RouteTable } = await ec2.createRouteTable({ VpcId, ...spec("route-table") });
	const RouteTableId = RouteTable?.RouteTableId as string;
	await ec2.createRoute({ RouteTableId, DestinationCidrBlock: "0.0.0.0/0", GatewayId });
	const CidrBlock = "10.77.0.0/24";
	const { Subnet } = await ec2.createSubnet({ VpcId, CidrBlock, ...spec("subnet") });
	const SubnetId = Subnet?.SubnetId as string;
	await ec2.associateRouteTable({ RouteTableId, SubnetId });
	const names = { GroupName: name, Description: name };
	const { GroupId } = await ec2.createSecurityGroup({ ...names, VpcId, ...spec("security-group") });
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDdV1SzK1nWvZ3hA0b3J3b0u1m3mWJ8Xr0XQk1yq5YFv";
	const PublicKeyMaterial = new TextEncoder().encode(key);
	await ec2.importKeyPair({ KeyName: name, PublicKeyMaterial, ...spec("key-pair") });
	const group = { GroupName: name, Strategy: "cluster" as const, ...spec("placement-group") };
	await ec2.createPlacementGroup(group);
	await ec2.runInstances({
		ImageId: IMAGES.newest,
		InstanceType: "m5.large",
		MinCount: 2,
		MaxCount: 2,
		SubnetId,
		SecurityGroupIds: [GroupId as string],
		...spec("instance"),
	});
	const AvailabilityZone = `${where.region}a`;
	const volume = { AvailabilityZone, Size: 10, VolumeType: "gp3" as const, ...spec("volume") };
	await ec2.createVolume(volume);
}

/** All that a rig has, in the order in which AWS lets go. */
const ALL =
	"instance,instance,volume,placement group,key pair,security group,subnet,route table,internet gateway,VPC".split(
		",",
	);

/** "security group sg-0abc" -> "security group". */
const kinds = (rig: TaggedRig) =>
	rig.things.map((thing) => /^(.+?) \S+( \(.*\))?$/.exec(thing)?.[1]);

/** How many of each there are without the tag; those that AWS makes by itself are among them. */
async function untagged(): Promise<Record<string, number>> {
	const { ec2 } = api;
	const free = (all: { Tags?: Tag[] | undefined }[] = []) =>
		all.filter(({ Tags = [] }) => !Tags.some(({ Key }) => Key === "mqbench:run")).length;
	const Filters = [{ Name: "instance-state-name", Values: ["running"] }];
	const { Reservations = [] } = await ec2.describeInstances({ Filters });
	return {
		instances: free(Reservations.flatMap(({ Instances = [] }) => Instances)),
		keys: free((await ec2.describeKeyPairs({})).KeyPairs),
		placements: free((await ec2.describePlacementGroups({})).PlacementGroups),
		subnets: free((await ec2.describeSubnets({})).Subnets),
		gateways: free((await ec2.describeInternetGateways({})).InternetGateways),
		vpcs: free((await ec2.describeVpcs({})).Vpcs),
	};
}

onAws("a rig goes, all of it in the order in which AWS lets go, and nothing else", async () => {
	await stand("mine", { run: "mine-old", owner: "moto", expires: PAST });
	await stand("new", { run: "mine-new", owner: "moto", expires: FUTURE });
	await stand("other", { run: "other-old", owner: "alice", expires: PAST });
	await stand("untimed", { run: "mine-untimed", owner: "moto" });
	await stand("foreign", {});
	const before = await untagged();
	expect(before).toMatchObject({ instances: 2, keys: 1, placements: 1 });

	const found = await find();
	expect(found.map(({ id, owner, expiresAt }) => [id, owner, expiresAt])).toEqual([
		["mine-new", "moto", FUTURE],
		["mine-old", "moto", PAST],
		// Without a time of expiry a rig never expires.
		["mine-untimed", "moto", null],
		["other-old", "alice", PAST],
	]);
	for (const rig of found) expect(kinds(rig)).toEqual(ALL);
	expect(found[0]?.things[0]).toMatch(/^instance i-\w+ \(m5\.large\)$/);

	aws.calls.length = 0;
	expect(await remove("mine-old")).toEqual([]);
	expect(said[0]).toMatch(/^mine-old: removing instance i-\w+, instance i-\w+$/);
	const order = aws.calls.filter((call) => /:(Terminate|Delete)/.test(call));
	const names = new Set(order.map((call) => call.replace(/^ec2:(Delete|Terminate)/, "")));
	expect([...names].join()).toBe(
		"Instances,Volume,PlacementGroup,KeyPair,SecurityGroup,Subnet,RouteTable,InternetGateway,Vpc",
	);
	expect((await find()).map(({ id }) => id)).toEqual(["mine-new", "mine-untimed", "other-old"]);
	for (const rig of await find()) expect(kinds(rig)).toEqual(ALL);
	expect(await untagged()).toEqual(before);
	// By its id a rig is removed, whoever rented it.
	expect((await find("other-old")).map(({ id }) => id)).toEqual(["other-old"]);
	expect(await remove("other-old")).toEqual([]);
});

onAws("what AWS does not let go of stays, with its reason, and the rest goes", async () => {
	await stand("mine", { run: "mine", owner: "moto", expires: PAST });
	aws.account.denied.add("ec2:DeleteVolume");
	aws.account.broken.set("ec2:DeleteVpc", "DependencyViolation");
	expect(await remove("mine")).toEqual([
		expect.stringMatching(
			/^volume vol-\w+: ec2:DeleteVolume: UnauthorizedOperation: You are not authorized to perform this operation$/,
		),
		expect.stringMatching(/^VPC vpc-\w+: ec2:DeleteVpc: DependencyViolation: as the test wants$/),
	]);
	expect((await find()).map(kinds)).toEqual([["volume", "VPC"]]);
	// What others hold on to is tried again, what is forbidden is not.
	const tries = (call: string) => aws.calls.filter((one) => one === call).length;
	expect(tries("ec2:DeleteVolume")).toBe(1);
	expect(tries("ec2:DeleteVpc")).toBeGreaterThan(1);
});

onAws("without permission to look it names the call", async () => {
	aws.account.denied.add("ec2:DescribeVolumes");
	await expect(find()).rejects.toThrow(
		/^ec2:DescribeVolumes: AWS refused \(UnauthorizedOperation: .*policy\.json/,
	);
});
