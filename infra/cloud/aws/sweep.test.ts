import type { Tag, TagSpecification } from "@aws-sdk/client-ec2";
import { beforeEach, expect, test } from "vitest";
import { fakeWorld } from "../../../runner/world.fake.ts";
import { taggedText } from "../leftover.ts";
import type { SweepAsked, Swept, TaggedRig } from "../provider.ts";
import { type Api, openApi } from "./api.ts";
import { emulated, IMAGES } from "./emulator.fake.ts";
import { findTagged, type Kind, removeTagged } from "./sweep.ts";

// Everything is moto's but placement groups, which moto does not have: a stand-in before it keeps those.
const { aws, onAws } = emulated();
let api: Api;

/** Each test has a region of its own, so that none finds what another has left. */
let region = "";
const regions = "eu-west-1 eu-west-2 eu-west-3 us-east-2 us-west-2 eu-north-1 sa-east-1".split(" ");
beforeEach(async () => {
	if (aws.endpoint === undefined) return;
	region = regions.shift() ?? "ca-central-1";
	aws.account.denied.clear();
	aws.account.broken.clear();
	aws.calls.length = 0;
	api = await openApi({ region, profile: null }, world());
});

/** 2026-01-02T03:04:05Z, as the fake world has it. */
const PAST = "2026-01-02T03:00:00.000Z";
const FUTURE = "2026-01-02T05:00:00.000Z";

function world(stop = new AbortController().signal) {
	return fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: aws.endpoint }, stop });
}

const asked = (parts: Partial<SweepAsked> = {}): SweepAsked => ({
	region,
	profile: null,
	id: null,
	owner: null,
	...parts,
});

const find = (parts?: Partial<SweepAsked>) => findTagged(asked(parts), world());

const said: string[] = [];
function remove(rigs: readonly TaggedRig[]): Promise<Swept> {
	said.length = 0;
	return removeTagged(rigs, { region, profile: null }, world(), (line) => said.push(line), {
		pauseMs: 5,
		machinesMs: 500,
		metalMs: 500,
		heldMs: 20,
	});
}

/** Makes all that a rig has, with those tags. */
async function stand(name: string, tags: readonly Tag[]): Promise<void> {
	const { ec2 } = api;
	const spec = (ResourceType: TagSpecification["ResourceType"]) => ({
		TagSpecifications: tags.length === 0 ? [] : [{ ResourceType, Tags: [...tags] }],
	});
	const { Vpc } = await ec2.createVpc({ CidrBlock: "10.77.0.0/16", ...spec("vpc") });
	const VpcId = Vpc?.VpcId as string;
	const { InternetGateway } = await ec2.createInternetGateway(spec("internet-gateway"));
	const GatewayId = InternetGateway?.InternetGatewayId as string;
	await ec2.attachInternetGateway({ VpcId, InternetGatewayId: GatewayId });
	const { RouteTable } = await ec2.createRouteTable({ VpcId, ...spec("route-table") });
	const RouteTableId = RouteTable?.RouteTableId as string;
	await ec2.createRoute({ RouteTableId, DestinationCidrBlock: "0.0.0.0/0", GatewayId });
	const { Subnet } = await ec2.createSubnet({
		VpcId,
		CidrBlock: "10.77.0.0/24",
		...spec("subnet"),
	});
	const SubnetId = Subnet?.SubnetId as string;
	await ec2.associateRouteTable({ RouteTableId, SubnetId });
	const { GroupId } = await ec2.createSecurityGroup({
		GroupName: name,
		Description: name,
		VpcId,
		...spec("security-group"),
	});
	await ec2.importKeyPair({
		KeyName: name,
		PublicKeyMaterial: new TextEncoder().encode(
			"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDdV1SzK1nWvZ3hA0b3J3b0u1m3mWJ8Xr0XQk1yq5YFv",
		),
		...spec("key-pair"),
	});
	await ec2.createPlacementGroup({
		GroupName: name,
		Strategy: "cluster",
		...spec("placement-group"),
	});
	await ec2.runInstances({
		ImageId: IMAGES.newest,
		InstanceType: "m5.large",
		MinCount: 2,
		MaxCount: 2,
		SubnetId,
		SecurityGroupIds: [GroupId as string],
		...spec("instance"),
	});
	await ec2.createVolume({
		AvailabilityZone: `${region}a`,
		Size: 10,
		VolumeType: "gp3",
		...spec("volume"),
	});
}

const tags = (id: string, owner: string, expires: string | null): Tag[] => [
	{ Key: "mqbench:run", Value: id },
	{ Key: "mqbench:owner", Value: owner },
	...(expires === null ? [] : [{ Key: "mqbench:expires", Value: expires }]),
];

const ALL: Record<Kind, number> = {
	instance: 2,
	volume: 1,
	"placement-group": 1,
	"key-pair": 1,
	"security-group": 1,
	subnet: 1,
	"route-table": 1,
	"internet-gateway": 1,
	VPC: 1,
};

function count(things: readonly { kind: string }[]): Partial<Record<Kind, number>> {
	const counts: Partial<Record<Kind, number>> = {};
	for (const { kind } of things) counts[kind as Kind] = (counts[kind as Kind] ?? 0) + 1;
	return counts;
}

/** How many of each there are without the tag; those that AWS makes by itself are among them. */
async function untagged(): Promise<Record<string, number>> {
	const { ec2 } = api;
	const free = (all: { Tags?: Tag[] | undefined }[] | undefined) =>
		(all ?? []).filter(({ Tags = [] }) => !Tags.some(({ Key }) => Key === "mqbench:run")).length;
	const { Reservations = [] } = await ec2.describeInstances({
		Filters: [{ Name: "instance-state-name", Values: ["running"] }],
	});
	return {
		instances: free(Reservations.flatMap(({ Instances = [] }) => Instances)),
		volumes: free((await ec2.describeVolumes({})).Volumes),
		keys: free((await ec2.describeKeyPairs({})).KeyPairs),
		placements: free((await ec2.describePlacementGroups({})).PlacementGroups),
		groups: free((await ec2.describeSecurityGroups({})).SecurityGroups),
		subnets: free((await ec2.describeSubnets({})).Subnets),
		tables: free((await ec2.describeRouteTables({})).RouteTables),
		gateways: free((await ec2.describeInternetGateways({})).InternetGateways),
		vpcs: free((await ec2.describeVpcs({})).Vpcs),
	};
}

onAws(
	"a sweep takes one's own expired rig, all of it in the order in which AWS lets go, and nothing else",
	async () => {
		await stand("mine", tags("mine-old", "moto", PAST));
		await stand("new", tags("mine-new", "moto", FUTURE));
		await stand("other", tags("other-old", "alice", PAST));
		// Without a time of expiry a rig never expires.
		await stand("untimed", tags("mine-untimed", "moto", null));
		await stand("foreign", []);
		const before = await untagged();
		expect(before).toMatchObject({ instances: 2, keys: 1, placements: 1 });

		const found = await find();
		expect(
			found.map(({ id, owner, expired, chosen, things }) => ({
				id,
				owner,
				expired,
				chosen,
				things: count(things),
			})),
		).toEqual([
			{ id: "mine-new", owner: "moto", expired: false, chosen: false, things: ALL },
			{ id: "mine-old", owner: "moto", expired: true, chosen: true, things: ALL },
			{ id: "mine-untimed", owner: "moto", expired: false, chosen: false, things: ALL },
			{ id: "other-old", owner: "alice", expired: true, chosen: false, things: ALL },
		]);

		aws.calls.length = 0;
		const { removed, left } = await remove(found);
		expect(left).toEqual([]);
		expect(count(removed)).toEqual(ALL);
		expect(said[0]).toMatch(/^mine-old: removing instance i-\w+, instance i-\w+$/);
		const order = aws.calls.filter((call) => /:(Terminate|Delete)/.test(call));
		expect([...new Set(order)]).toEqual([
			"ec2:TerminateInstances",
			"ec2:DeleteVolume",
			"ec2:DeletePlacementGroup",
			"ec2:DeleteKeyPair",
			"ec2:DeleteSecurityGroup",
			"ec2:DeleteSubnet",
			"ec2:DeleteRouteTable",
			"ec2:DeleteInternetGateway",
			"ec2:DeleteVpc",
		]);
		expect((await find()).map(({ id }) => id)).toEqual(["mine-new", "mine-untimed", "other-old"]);
		for (const { things } of await find()) expect(count(things)).toEqual(ALL);
		const after = await untagged();
		// With the machines went their own disks, with the VPC the security group and the route table that AWS had made for it.
		expect(after).toEqual({
			...before,
			volumes: Number(before.volumes) - 2,
			groups: Number(before.groups) - 1,
			tables: Number(before.tables) - 1,
		});
		// By its id a rig goes whoever's it is and however young.
		for (const id of ["mine-new", "other-old"]) {
			const rigs = await find({ id });
			expect(rigs.map(({ id, chosen }) => ({ id, chosen }))).toEqual([{ id, chosen: true }]);
			expect((await remove(rigs)).left).toEqual([]);
		}
		expect((await find()).map(({ id }) => id)).toEqual(["mine-untimed"]);
	},
	120_000,
);

onAws(
	"what AWS does not let go of stays, with its reason, and the rest goes",
	async () => {
		await stand("mine", tags("mine", "moto", PAST));
		aws.account.denied.add("ec2:DeleteVolume");
		// A subnet of somebody else in it holds the VPC.
		const { Vpcs = [] } = await api.ec2.describeVpcs({
			Filters: [{ Name: "tag:mqbench:run", Values: ["mine"] }],
		});
		aws.account.broken.set("ec2:DeleteVpc", "DependencyViolation");
		const { removed, left } = await remove(await find());
		expect(left).toEqual([
			{
				thing: expect.objectContaining({ kind: "volume" }),
				reason:
					"ec2:DeleteVolume: UnauthorizedOperation: You are not authorized to perform this operation",
			},
			{
				thing: expect.objectContaining({ kind: "VPC", id: Vpcs[0]?.VpcId }),
				reason: "ec2:DeleteVpc: DependencyViolation: as the test wants",
			},
		]);
		expect(count(removed)).toEqual(
			Object.fromEntries(
				Object.entries(ALL).filter(([kind]) => kind !== "volume" && kind !== "VPC"),
			),
		);
		// What others hold on to is tried again, what is forbidden is not.
		const tries = (call: string) => aws.calls.filter((one) => one === call).length;
		expect(tries("ec2:DeleteVolume")).toBe(1);
		expect(tries("ec2:DeleteVpc")).toBeGreaterThan(1);
	},
	120_000,
);

onAws("without permission to look it names the call", async () => {
	aws.account.denied.add("ec2:DescribeVolumes");
	await expect(find()).rejects.toThrow(
		/^ec2:DescribeVolumes: AWS does not allow this\. .*policy\.json/,
	);
});

test("people see what there is, how old it is, and what stays", () => {
	const rig: TaggedRig = {
		id: "steady-1",
		owner: "alice",
		expiresAt: PAST,
		expired: true,
		chosen: true,
		things: [
			{
				kind: "instance",
				id: "i-0abc",
				detail: "i4i.xlarge, running",
				since: "2026-01-02T01:00:00.000Z",
			},
			{ kind: "VPC", id: "vpc-0abc", detail: "", since: null },
		],
	};
	const unknown = { owner: "", expiresAt: null, expired: false, chosen: false, things: [] };
	const both = [rig, { ...rig, id: "steady-2", ...unknown }];
	expect(taggedText(both, Date.parse("2026-01-02T03:00:30.000Z"))).toBe(
		`steady-1  owner alice, expired 2026-01-02 03:00 UTC
  instance i-0abc (i4i.xlarge, running), 2h old
  VPC vpc-0abc
steady-2  owner not known, expiry not known, stays
`,
	);
	expect(taggedText([], 0)).toBe("Nothing has the tag mqbench:run.\n");
});
