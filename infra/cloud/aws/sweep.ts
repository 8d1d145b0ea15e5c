import type { EC2, Tag } from "@aws-sdk/client-ec2";
import { failure } from "../../../runner/errors.ts";
import { largestOf } from "../../../runner/extremes.ts";
import { pause } from "../../../runner/stop.ts";
import { formatDuration } from "../../../runner/units.ts";
import type { World } from "../../../runner/world.ts";
import { isMetal } from "../../aws/config.ts";
import type { SweepAsked, Swept, TaggedRig, Thing } from "../provider.ts";
import { type Api, allPages, openApi, Refused } from "./api.ts";
import { callerOf } from "./caller.ts";

export type Kind = (typeof ORDER)[number];

/** For how long and how often to ask AWS whether something is gone. */
export interface Patience {
	readonly pauseMs: number;
	/** Machines take minutes to end. */
	readonly machinesMs: number;
	/** Those without a hypervisor. */
	readonly metalMs: number;
	/** Things that others still use. */
	readonly heldMs: number;
}

const PATIENCE: Patience = {
	pauseMs: 3_000,
	machinesMs: 10 * 60_000,
	metalMs: 60 * 60_000,
	heldMs: 60_000,
};

/** Regions that are enabled for the account, by name. Fails with `cloud-unfit`. */
export async function enabledRegions(
	{ profile }: Pick<SweepAsked, "profile">,
	world: World,
): Promise<string[]> {
	// Any region of a partition would do; this one decides the partition.
	const region = world.env.AWS_REGION || "us-east-1";
	const { home } = await openApi({ region, profile }, world);
	const { Regions = [] } = await reworded(() => home.ec2.describeRegions({}));
	return Regions.flatMap(({ RegionName }) => RegionName ?? []).sort();
}

/**
 * Everything with the tag mqbench:run in a region, rig by rig, for when this machine does not remember it. Changes nothing. Fails with
 * `cloud-unfit`.
 */
export async function findTagged(asked: SweepAsked, world: World): Promise<TaggedRig[]> {
	const api = await openApi(asked, world);
	const [resources, owner] = await reworded(() =>
		Promise.all([everything(api, asked.id), asked.owner ?? callerOf(api).then(({ name }) => name)]),
	);
	const nowMs = world.clock.nowMs();
	const groups = new Map<string, Found[]>();
	for (const one of resources) {
		const key = JSON.stringify([one.tags.get(RUN), one.tags.get(OWNER) ?? ""]);
		groups.set(key, [...(groups.get(key) ?? []), one]);
	}
	return [...groups.values()]
		.map((group): TaggedRig => {
			const tags = group[0]?.tags ?? new Map<string, string>();
			const id = tags.get(RUN) ?? "";
			const whose = tags.get(OWNER) ?? "";
			const expiresAt = latest(group.map((one) => one.tags.get(EXPIRES)));
			const expired = expiresAt !== null && Date.parse(expiresAt) <= nowMs;
			return {
				id,
				owner: whose,
				expiresAt,
				expired,
				chosen: asked.id === null ? expired && whose === owner : true,
				things: group.map(({ thing }) => thing),
			};
		})
		.sort((a, b) => a.id.localeCompare(b.id) || a.owner.localeCompare(b.owner));
}

/**
 * Removes what was chosen, in an order that AWS accepts, and waits until machines have ended. It checks everything again first, and leaves
 * what has lost its tag. It goes on after failures. Fails with `interrupted`.
 */
export async function removeTagged(
	rigs: readonly TaggedRig[],
	asked: Pick<SweepAsked, "region" | "profile">,
	world: World,
	say: (line: string) => void,
	patience: Patience = PATIENCE,
): Promise<Swept> {
	const api = await openApi(asked, world);
	const removed: Thing[] = [];
	const left: { thing: Thing; reason: string }[] = [];
	for (const rig of rigs.filter(({ chosen }) => chosen)) {
		const now = await reworded(() => everything(api, rig.id));
		const things = now
			.filter(({ tags }) => (tags.get(OWNER) ?? "") === rig.owner)
			.map(({ thing }) => thing);
		for (const kind of ORDER) {
			const some = things.filter((thing) => thing.kind === kind);
			if (some.length === 0) continue;
			say(
				`${rig.id}: removing ${some.map(({ id }) => `${kind.replaceAll("-", " ")} ${id}`).join(", ")}`,
			);
			const results = await Promise.all(
				some.map((thing) => remove(api.ec2, thing, world, patience)),
			);
			const standing =
				kind === "instance"
					? await untilEnded(
							api,
							some.filter((_, i) => results[i] === null),
							world,
							patience,
						)
					: new Map<string, string>();
			for (const [i, thing] of some.entries()) {
				const reason = results[i] ?? standing.get(thing.id) ?? null;
				if (reason === null) removed.push(thing);
				else left.push({ thing, reason });
			}
		}
	}
	return { removed, left };
}

// --- internal ---

const RUN = "mqbench:run";
const OWNER = "mqbench:owner";
const EXPIRES = "mqbench:expires";

/** The order of removal: no kind is needed by a later one. */
const ORDER = [
	"instance",
	"volume",
	"placement-group",
	"key-pair",
	"security-group",
	"subnet",
	"route-table",
	"internet-gateway",
	"VPC",
] as const;

interface Found {
	readonly thing: Thing;
	readonly tags: ReadonlyMap<string, string>;
}

/** A refusal as a sentence for people. */
async function reworded<T>(ask: () => Promise<T>): Promise<T> {
	try {
		return await ask();
	} catch (error) {
		if (!(error instanceof Refused)) throw error;
		const { call, code, message, forbidden } = error;
		throw failure("cloud-unfit", {
			wrong: [
				forbidden
					? `${call}: AWS does not allow this. Use an account with the permission (--profile, AWS_PROFILE); infra/aws/policy.json of mqbench names what is needed.`
					: `${call}: AWS refused (${code}: ${message}). Log in to AWS again, check the region, and try again.`,
			],
		});
	}
}

/** Everything with the tag, with our own comparison instead of AWS's filter; with an id only what has it as the tag's value. */
async function everything(api: Api, id: string | null): Promise<Found[]> {
	const { ec2 } = api;
	const Filters =
		id === null ? [{ Name: "tag-key", Values: [RUN] }] : [{ Name: `tag:${RUN}`, Values: [id] }];
	const [machines, volumes, groups, keys, placements, subnets, tables, gateways, vpcs] =
		await Promise.all([
			allPages((token) => ec2.describeInstances({ ...token, Filters })),
			allPages((token) => ec2.describeVolumes({ ...token, Filters })),
			allPages((token) => ec2.describeSecurityGroups({ ...token, Filters })),
			ec2.describeKeyPairs({ Filters }),
			ec2.describePlacementGroups({ Filters }),
			allPages((token) => ec2.describeSubnets({ ...token, Filters })),
			allPages((token) => ec2.describeRouteTables({ ...token, Filters })),
			allPages((token) => ec2.describeInternetGateways({ ...token, Filters })),
			allPages((token) => ec2.describeVpcs({ ...token, Filters })),
		]);
	const resources = [
		...machines
			.flatMap(({ Reservations = [] }) => Reservations)
			.flatMap(({ Instances = [] }) => Instances)
			.filter(({ State }) => State?.Name !== "terminated")
			.map((one) =>
				make(
					"instance",
					one.InstanceId,
					one.Tags,
					`${one.InstanceType}, ${one.State?.Name}`,
					one.LaunchTime,
				),
			),
		...volumes
			.flatMap(({ Volumes = [] }) => Volumes)
			.map((one) =>
				make(
					"volume",
					one.VolumeId,
					one.Tags,
					`${one.Size} GiB ${one.VolumeType}, ${one.State}`,
					one.CreateTime,
				),
			),
		...(placements.PlacementGroups ?? []).map((one) =>
			make("placement-group", one.GroupName, one.Tags, one.Strategy),
		),
		...(keys.KeyPairs ?? []).map((one) =>
			make("key-pair", one.KeyName, one.Tags, one.KeyPairId, one.CreateTime),
		),
		...groups
			.flatMap(({ SecurityGroups = [] }) => SecurityGroups)
			.map((one) => make("security-group", one.GroupId, one.Tags, one.GroupName)),
		...subnets
			.flatMap(({ Subnets = [] }) => Subnets)
			.map((one) => make("subnet", one.SubnetId, one.Tags, one.AvailabilityZone)),
		...tables
			.flatMap(({ RouteTables = [] }) => RouteTables)
			.map((one) => make("route-table", one.RouteTableId, one.Tags, one.VpcId)),
		...gateways
			.flatMap(({ InternetGateways = [] }) => InternetGateways)
			.map((one) => make("internet-gateway", one.InternetGatewayId, one.Tags)),
		...vpcs
			.flatMap(({ Vpcs = [] }) => Vpcs)
			.map((one) => make("VPC", one.VpcId, one.Tags, one.CidrBlock)),
	];
	return resources.filter(
		({ thing, tags }) => thing.id !== "" && tags.has(RUN) && (id === null || tags.get(RUN) === id),
	);
}

function make(
	kind: Kind,
	id: string | undefined,
	tags: readonly Tag[] | undefined,
	detail = "",
	since?: Date,
): Found {
	return {
		thing: { kind, id: id ?? "", detail, since: since?.toISOString() ?? null },
		tags: new Map((tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value])),
	};
}

/** null if one of them is missing or is not a time. */
function latest(times: readonly (string | undefined)[]): string | null {
	const known = times.map((time) => Date.parse(time ?? ""));
	return known.length === 0 || known.some((ms) => Number.isNaN(ms))
		? null
		: new Date(largestOf(known)).toISOString();
}

/** null: AWS accepted it; otherwise its reason. */
async function remove(
	ec2: EC2,
	thing: Thing,
	world: World,
	{ pauseMs, heldMs }: Patience,
): Promise<string | null> {
	const end = world.clock.monotonicMs() + heldMs;
	for (let tries = 1; ; tries++) {
		try {
			await removers[thing.kind as Kind](ec2, thing.id);
			return null;
		} catch (error) {
			if (!(error instanceof Refused)) throw error;
			const { call, code, message } = error;
			if (/NotFound|^InvalidPlacementGroup\.Unknown$/.test(code)) return null;
			const inUse =
				/^(DependencyViolation|VolumeInUse|InvalidPlacementGroup\.InUse|RequestLimitExceeded)$/.test(
					code,
				);
			// A clock that stands still, as in tests, must not make this endless.
			if (!inUse || world.clock.monotonicMs() >= end || tries * pauseMs >= heldMs)
				return `${call}: ${code}: ${message}`;
			await pause(pauseMs, world.stop);
		}
	}
}

const removers: Readonly<Record<Kind, (ec2: EC2, id: string) => Promise<unknown>>> = {
	// One by one: if AWS refuses one of several, it ends none of them.
	instance: (ec2, id) => ec2.terminateInstances({ InstanceIds: [id] }),
	volume: (ec2, id) => ec2.deleteVolume({ VolumeId: id }),
	"placement-group": (ec2, id) => ec2.deletePlacementGroup({ GroupName: id }),
	"key-pair": (ec2, id) => ec2.deleteKeyPair({ KeyName: id }),
	"security-group": (ec2, id) => ec2.deleteSecurityGroup({ GroupId: id }),
	subnet: (ec2, id) => ec2.deleteSubnet({ SubnetId: id }),
	"route-table": async (ec2, id) => {
		const { RouteTables = [] } = await ec2.describeRouteTables({ RouteTableIds: [id] });
		for (const { Main, RouteTableAssociationId } of RouteTables[0]?.Associations ?? [])
			if (Main !== true && RouteTableAssociationId !== undefined)
				await ec2.disassociateRouteTable({ AssociationId: RouteTableAssociationId });
		await ec2.deleteRouteTable({ RouteTableId: id });
	},
	"internet-gateway": async (ec2, id) => {
		const { InternetGateways = [] } = await ec2.describeInternetGateways({
			InternetGatewayIds: [id],
		});
		for (const { VpcId } of InternetGateways[0]?.Attachments ?? [])
			if (VpcId !== undefined) await ec2.detachInternetGateway({ InternetGatewayId: id, VpcId });
		await ec2.deleteInternetGateway({ InternetGatewayId: id });
	},
	VPC: (ec2, id) => ec2.deleteVpc({ VpcId: id }),
};

/** Machines that have not ended in time, with the reason. */
async function untilEnded(
	{ ec2 }: Api,
	machines: readonly Thing[],
	world: World,
	{ pauseMs, machinesMs, metalMs }: Patience,
): Promise<Map<string, string>> {
	// Their detail begins with the type.
	const limitMs = machines.some(({ detail }) => isMetal(detail)) ? metalMs : machinesMs;
	let waiting = machines.map(({ id }) => id);
	const end = world.clock.monotonicMs() + limitMs;
	for (let tries = 0; waiting.length > 0; tries++) {
		const pages = await reworded(() =>
			allPages((token) =>
				ec2.describeInstances({ ...token, Filters: [{ Name: "instance-id", Values: waiting }] }),
			),
		);
		const states = new Map(
			pages
				.flatMap(({ Reservations = [] }) => Reservations)
				.flatMap(({ Instances = [] }) => Instances)
				.map(({ InstanceId = "", State }) => [InstanceId, State?.Name ?? ""]),
		);
		waiting = waiting.filter((id) => (states.get(id) ?? "terminated") !== "terminated");
		if (waiting.length === 0) break;
		if (world.clock.monotonicMs() >= end || tries * pauseMs >= limitMs)
			return new Map(
				waiting.map((id) => [id, `it is ${states.get(id)} after ${formatDuration(limitMs * 1e6)}`]),
			);
		await pause(pauseMs, world.stop);
	}
	return new Map();
}
