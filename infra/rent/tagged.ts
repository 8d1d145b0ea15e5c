import type { EC2, Filter, Instance } from "@aws-sdk/client-ec2";
import { largestOf } from "../../runner/extremes.ts";
import { pause } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { allPages, homeOf, openApi, Refused, type Where } from "./api.ts";

/** AWS's resources of a rig, by its tags. */
export interface TaggedRig {
	readonly id: string;
	/** "": the tag is missing. */
	readonly owner: string;
	/** The latest among its things; null if one of them has no time. */
	readonly expiresAt: string | null;
	/** "instance i-0abc (i4i.xlarge)", machines first. */
	readonly things: readonly string[];
}

/** How often to ask whether something is gone, and for how long: machines (some without a hypervisor take most of it), things in use. */
const PATIENCE = { pauseMs: 3_000, machinesMs: 3_600_000, heldMs: 60_000 };

/** Regions that are enabled for the account, by name. Throws a `Refused`. */
export async function enabledRegions(profile: string | null, world: World): Promise<string[]> {
	const region = homeOf(world.env.AWS_REGION ?? "");
	const { ec2 } = await openApi({ region, profile }, world);
	const { Regions = [] } = await ec2.describeRegions({});
	return Regions.flatMap(({ RegionName }) => RegionName ?? []).sort();
}

/** Everything with the tag mqbench:run in a region, or with that value of it, rig by rig. Changes nothing. Throws a `Refused`. */
export async function findTagged(
	where: Where,
	id: string | null,
	world: World,
): Promise<TaggedRig[]> {
	const { ec2 } = await openApi(where, world);
	const all = await everything(ec2, id);
	const ids = [...new Set(all.map(({ tags }) => tags.get(RUN) ?? ""))].sort();
	return ids.map((one) => {
		const own = all.filter(({ tags }) => tags.get(RUN) === one);
		const times = own.map(({ tags }) => Date.parse(tags.get("mqbench:expires") ?? ""));
		return {
			id: one,
			owner: own[0]?.tags.get("mqbench:owner") ?? "",
			expiresAt: times.some(Number.isNaN) ? null : new Date(largestOf(times)).toISOString(),
			things: own.map(textOf),
		};
	});
}

/**
 * Removes everything of a rig, in an order that AWS accepts, and waits until machines have ended. It goes on after failures. Resolves with
 * the things left, and AWS's reasons. Throws a `Refused` if AWS does not list them, or `interrupted`.
 */
export async function removeTagged(
	where: Where,
	id: string,
	world: World,
	say: (line: string) => void,
	{ pauseMs, machinesMs, heldMs }: typeof PATIENCE = PATIENCE,
): Promise<string[]> {
	const { ec2 } = await openApi(where, world);
	const things = await everything(ec2, id);
	const left: string[] = [];
	for (const kind of KINDS) {
		const some = things.filter((thing) => thing.kind === kind);
		if (some.length === 0) continue;
		say(`${id}: removing ${some.map((thing) => `${kind.name} ${thing.id}`).join(", ")}`);
		const refusals = await Promise.all(some.map(remove));
		const asked = some.filter((_, i) => refusals[i] === null).map((thing) => thing.id);
		const alive = kind === INSTANCES ? await untilEnded(asked) : [];
		for (const [i, thing] of some.entries()) {
			const reason = alive.includes(thing.id) ? "it has not ended yet" : refusals[i];
			if (reason !== null) left.push(`${textOf(thing)}: ${reason}`);
		}
	}
	return left;

	/** null if AWS accepted it; otherwise its reason. */
	async function remove({ kind, id }: Thing): Promise<string | null> {
		for (let waitedMs = 0; ; waitedMs += pauseMs)
			try {
				await kind.release?.(ec2, id);
				// One by one: if AWS refuses one of several machines, it ends none of them.
				const words = kind === INSTANCES ? { InstanceIds: [id] } : { [kind.id]: id };
				await callsOf(ec2)[kind.remove]?.(words);
				return null;
			} catch (error) {
				if (!(error instanceof Refused)) throw error;
				const { refusal, reason } = error;
				if (/NotFound|^InvalidPlacementGroup\.Unknown$/.test(refusal)) return null;
				const held = /^DependencyViolation$|InUse$|^RequestLimitExceeded$/.test(refusal);
				if (!held || waitedMs >= heldMs) return reason;
				await pause(pauseMs, world.stop);
			}
	}

	/** Those that have not ended in time. */
	async function untilEnded(ids: string[]): Promise<string[]> {
		let waiting = ids;
		for (let waitedMs = 0; waiting.length > 0; waitedMs += pauseMs) {
			const Filters = [{ Name: "instance-id", Values: waiting }];
			waiting = (await listed(ec2, INSTANCES, Filters)).map((one) => one.id);
			if (waiting.length === 0 || waitedMs >= machinesMs) break;
			await pause(pauseMs, world.stop);
		}
		return waiting;
	}
}

// --- internal ---

const RUN = "mqbench:run";

interface Thing {
	readonly kind: Kind;
	/** "i-0abc", "vpc-0abc"; for placement groups and key pairs the name. */
	readonly id: string;
	/** A machine's, "i4i.xlarge"; null for other things. */
	readonly type: string | null;
	readonly tags: ReadonlyMap<string, string>;
}

/** In AWS's words, which are regular. */
interface Kind {
	readonly name: string;
	/** The field of an answer: "Subnets" of describeSubnets. */
	readonly list: string;
	/** The field of a thing, and of the call that removes it. */
	readonly id: string;
	readonly remove: string;
	/** Removes the things that hold it. */
	release?(ec2: EC2, id: string): Promise<void>;
}

const kind = (
	name: string,
	list: string,
	id: string,
	remove: string,
	more: Pick<Kind, "release"> = {},
): Kind => ({ name, list, id, remove, ...more });

const INSTANCES = kind("instance", "Instances", "InstanceId", "terminateInstances");

/** In the order of removal: none is needed by a later one. */
const KINDS: readonly Kind[] = [
	INSTANCES,
	kind("volume", "Volumes", "VolumeId", "deleteVolume"),
	kind("placement group", "PlacementGroups", "GroupName", "deletePlacementGroup"),
	kind("key pair", "KeyPairs", "KeyName", "deleteKeyPair"),
	kind("security group", "SecurityGroups", "GroupId", "deleteSecurityGroup"),
	kind("subnet", "Subnets", "SubnetId", "deleteSubnet"),
	kind("route table", "RouteTables", "RouteTableId", "deleteRouteTable", {
		async release(ec2, id) {
			const { RouteTables = [] } = await ec2.describeRouteTables({ RouteTableIds: [id] });
			for (const { Main, RouteTableAssociationId } of RouteTables[0]?.Associations ?? [])
				if (Main !== true && RouteTableAssociationId !== undefined)
					await ec2.disassociateRouteTable({ AssociationId: RouteTableAssociationId });
		},
	}),
	kind("internet gateway", "InternetGateways", "InternetGatewayId", "deleteInternetGateway", {
		async release(ec2, id) {
			const asked = { InternetGatewayIds: [id] };
			const { InternetGateways = [] } = await ec2.describeInternetGateways(asked);
			for (const { VpcId } of InternetGateways[0]?.Attachments ?? [])
				if (VpcId !== undefined) await ec2.detachInternetGateway({ InternetGatewayId: id, VpcId });
		},
	}),
	kind("VPC", "Vpcs", "VpcId", "deleteVpc"),
];

type Fields = Readonly<Record<string, unknown>>;
type Page = Fields & { readonly NextToken?: string };
type Item = Instance & Fields;

/** Its calls by name. */
function callsOf(ec2: EC2) {
	return ec2 as unknown as Readonly<Record<string, (input: object) => Promise<Page>>>;
}

/** With our own comparison instead of AWS's filter. */
async function everything(ec2: EC2, id: string | null): Promise<Thing[]> {
	const filter =
		id === null ? { Name: "tag-key", Values: [RUN] } : { Name: `tag:${RUN}`, Values: [id] };
	const all = await Promise.all(KINDS.map((one) => listed(ec2, one, [filter])));
	return all.flat().filter(({ tags }) => (id === null ? tags.has(RUN) : tags.get(RUN) === id));
}

async function listed(ec2: EC2, kind: Kind, Filters: Filter[]): Promise<Thing[]> {
	const pages = await allPages(async (token) => {
		const input = { ...token, Filters };
		if (kind !== INSTANCES) return (await callsOf(ec2)[`describe${kind.list}`]?.(input)) ?? {};
		const { Reservations = [], NextToken } = await ec2.describeInstances(input);
		const Instances = Reservations.flatMap((one) => one.Instances ?? []);
		return { Instances: Instances.filter(({ State }) => State?.Name !== "terminated"), NextToken };
	});
	const found = pages.flatMap((page) => ((page as Page)[kind.list] ?? []) as Item[]);
	return found.map((one) => ({
		kind,
		id: String(one[kind.id]),
		type: one.InstanceType ?? null,
		tags: new Map((one.Tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value])),
	}));
}

function textOf({ kind, id, type }: Thing): string {
	return `${kind.name} ${id}${type === null ? "" : ` (${type})`}`;
}
