import path from "node:path";
import type { Aws } from "../../../runner/scenario/scenario.ts";
import type { World } from "../../../runner/world.ts";
import { ROOT_DISK } from "../../aws/config.ts";
import { type Api, Refused } from "./api.ts";
import { type Caller, callerOf } from "./caller.ts";
import { awsFolder } from "./folder.ts";
import { type Image, imageOf, newestDebian } from "./image.ts";
import {
	isStandard,
	type MachineType,
	machineTypes,
	quotaOf,
	zonesOf,
} from "./machine-type.ts";
import { permissions } from "./permissions.ts";
import { profilesOf } from "./profiles.ts";

/** What is certain after all checks have passed. */
export interface Preflight {
	readonly caller: Caller;
	readonly zone: string;
	/** null: no machines for brokers. */
	readonly broker: MachineType | null;
	readonly client: MachineType;
	readonly image: Image;
	readonly warnings: readonly string[];
}

/**
 * Asks AWS about everything that would otherwise fail later, when machines cost money already. Never throws a `Refused`. `unasked`: AWS cannot
 * be reached, or there are no credentials and none are named; it has the sentence that says so.
 */
export async function preflight(
	api: Api,
	aws: Aws,
	env: World["env"],
): Promise<
	| Preflight
	| { readonly wrong: readonly string[] }
	| { readonly unasked: string }
> {
	const named = aws.profile ?? (env.AWS_PROFILE || null);
	const profile = env.MQBENCH_AWS_ENDPOINT ? null : named;
	let caller: Caller;
	try {
		caller = await callerOf(api);
	} catch (error) {
		if (!(error instanceof Refused)) throw error;
		const sentence = noCaller(profile, aws, env)(error);
		return error.unreached || (profile === null && isNobody(error))
			? { unasked: sentence }
			: { wrong: [sentence] };
	}
	const place = await attempt(() => region(api, aws), refusal(aws, caller));
	if ("wrong" in place) return place;
	if (place.value !== null) return { wrong: [place.value] };

	const sentence = refusal(aws, caller);
	const types = await attempt(() => machines(api, aws), sentence);
	if ("wrong" in types) return types;
	if (types.value.wrong.length > 0) return { wrong: types.value.wrong };
	const { broker, client, architecture } = types.value;
	const [image, quotas] = await Promise.all([
		attempt(() => chooseImage(api, aws, architecture), sentence),
		quotaTrouble(api, aws, broker, client),
	]);
	const wrong = [...quotas.wrong];
	if ("wrong" in image) wrong.push(...image.wrong);
	else if (typeof image.value === "string") wrong.push(image.value);
	const found =
		"value" in image && typeof image.value !== "string" ? image.value : null;
	const may = await attempt(
		() =>
			permissions(api, {
				// Any id will do to check a permission.
				ami: found?.id ?? "ami-00000000000000000",
				instance: client.name,
				spot: aws.clients.spot,
			}),
		sentence,
	);
	if ("wrong" in may) wrong.push(...may.wrong);
	else if (may.value.denied.length > 0)
		wrong.push(
			`${may.value.denied.join(", ")}: AWS does not allow ${may.value.denied.length === 1 ? "this" : "these"} to ${caller.arn}. ${POLICY}`,
		);
	if (wrong.length > 0 || found === null) return { wrong };
	const unknown = "value" in may ? may.value.unknown : [];
	return {
		caller,
		zone: types.value.zone,
		broker,
		client,
		image: found,
		warnings: [
			...quotas.warnings,
			...(unknown.length === 0
				? []
				: [
						`whether you may is not certain for ${unknown.map(({ call, reason }) => `${call} (${reason})`).join(", ")}`,
					]),
			...volumeWarnings(aws, broker),
		],
	};
}

// --- internal ---

const POLICY = `Give it the policy ${path.join(awsFolder, "policy.json")} (what each permission is for: ${path.join(awsFolder, "PERMISSIONS.md")}), or take another account (AWS_PROFILE, aws.profile).`;

type Found<T> = { readonly value: T } | { readonly wrong: readonly string[] };

async function attempt<T>(
	ask: () => Promise<T>,
	sentence: (refused: Refused) => string,
): Promise<Found<T>> {
	try {
		return { value: await ask() };
	} catch (error) {
		if (!(error instanceof Refused)) throw error;
		return { wrong: [sentence(error)] };
	}
}

/** The first question: the identity of the caller. */
function noCaller(
	profile: string | null,
	aws: Aws,
	env: World["env"],
): (refused: Refused) => string {
	const login =
		profile === null
			? "Log in (aws sso login, aws configure), or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
			: `Log in (aws sso login --profile ${profile}, aws configure --profile ${profile}), or name another profile`;
	return (refused) => {
		const { call, code, message } = refused;
		const known =
			profile !== null && isNobody(refused) ? profilesOf(env) : null;
		if (known !== null && profile !== null && !known.names.includes(profile))
			return `${aws.profile === null ? "AWS_PROFILE" : "aws.profile"}: there is no profile ${profile} in ${known.files.join(" or ")}${known.names.length === 0 ? "" : `, which have ${known.names.join(", ")}`}. Name another one, or make it: aws configure --profile ${profile}`;
		if (/^Request(Expired|TimeTooSkewed)$/.test(code))
			return `${call}: AWS refuses the time of this machine (${message}). Set its clock.`;
		if (/Expired/.test(code) || /\bexpired\b/i.test(message))
			return `${call}: the credentials for AWS have expired (${message}). ${login}.`;
		if (isNobody(refused))
			return `${call}: there are no credentials for AWS${profile === null ? "" : ` in the profile ${profile}`} (${message}). ${login}.`;
		if (
			/^(InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|AuthFailure|InvalidSignatureException|IncompleteSignature)/.test(
				code,
			)
		)
			return `${call}: AWS does not know the credentials (${code}: ${message}). ${login}.`;
		return way(refused) ?? other(refused);
	};
}

/** No credentials were found. */
function isNobody({ code }: Refused): boolean {
	return /^(CredentialsProviderError|TokenProviderError|NoCredentials)/.test(
		code,
	);
}

/** All other questions. */
function refusal(
	{ region: name }: Aws,
	caller: Caller,
): (refused: Refused) => string {
	return (refused) => {
		const { call, code, forbidden } = refused;
		if (forbidden)
			return `${call}: AWS does not allow this to ${caller.arn}. ${POLICY}`;
		if (/^(AuthFailure|OptInRequired|UnrecognizedClient)/.test(code))
			return `${call}: AWS does not take the credentials in ${name} (${code}). Enable the region for the account, or choose another: aws.region.`;
		return way(refused) ?? other(refused);
	};
}

/** null: it is not the connection to AWS that fails. */
function way({ call, code, message, unreached }: Refused): string | null {
	return unreached
		? `${call}: AWS cannot be reached from here (${code}: ${message}). Try again when this machine has a connection to the internet.`
		: null;
}

function other({ call, code, message }: Refused): string {
	return `${call}: AWS refused (${code}: ${message}). Try again; if it fails again, ask whoever manages the account.`;
}

/** A sentence if no machine can be there. null: the account may use it, or the question is not allowed, and then the region's own answers show it. */
async function region(api: Api, { region: name }: Aws): Promise<string | null> {
	const { Regions = [] } = await api.home.ec2
		.describeRegions({
			AllRegions: true,
			Filters: [{ Name: "region-name", Values: [name] }],
		})
		.catch((error: Refused) => {
			// Companies close whole regions for their people, and the first region may be among them.
			if (error.forbidden)
				return { Regions: [{ RegionName: name, OptInStatus: undefined }] };
			throw error;
		});
	const found = Regions.find(({ RegionName }) => RegionName === name);
	if (found === undefined)
		return `ec2:DescribeRegions: the region ${name} does not exist. Write another one, e.g. aws.region: eu-central-1.`;
	return found.OptInStatus === "not-opted-in"
		? `ec2:DescribeRegions: the region ${name} is not enabled for your account. Enable it (aws account enable-region --region-name ${name}), or choose another: aws.region.`
		: null;
}

interface Machines {
	readonly wrong: readonly string[];
	readonly zone: string;
	readonly broker: MachineType | null;
	readonly client: MachineType;
	readonly architecture: string;
}

async function machines(api: Api, aws: Aws): Promise<Machines> {
	const { brokers, clients } = aws;
	const names = [
		...new Set([
			...(brokers.count > 0 ? [brokers.instance] : []),
			clients.instance,
		]),
	];
	const [types, zones] = await Promise.all([
		machineTypes(api, names),
		zonesOf(api, names),
	]);
	const all = names.flatMap((name) => types.get(name) ?? []);
	const broker =
		brokers.count > 0 ? (types.get(brokers.instance) ?? null) : null;
	const client = types.get(clients.instance) as MachineType;
	const none = { zone: "", broker, client, architecture: "" };
	const missing = names.filter((name) => !types.has(name));
	if (missing.length > 0)
		return {
			...none,
			wrong: missing.map(
				(name) =>
					`ec2:DescribeInstanceTypes: ${aws.region} has no instance type ${name}. Write another one (aws.${name === clients.instance ? "clients" : "brokers"}.instance), or choose another region.`,
			),
		};
	const wrong = [
		...all
			.filter(({ cluster }) => !cluster)
			.map(
				({ name }) =>
					`ec2:DescribeInstanceTypes: ${name} cannot be in a cluster placement group, where all machines of a rig are. Take another type, such as c7i.xlarge or m7i.xlarge.`,
			),
		...(broker !== null && broker.nvmeGB === null && brokers.volume === null
			? [
					`ec2:DescribeInstanceTypes: ${broker.name} has no NVMe of its own to write on. Take a type that has (i4i, i3en, m6id, c6id), or give it a volume: aws.brokers.volume.`,
				]
			: []),
		...(clients.spot && !client.spot
			? [
					`ec2:DescribeInstanceTypes: ${client.name} is not on the spot market. Take another type, or drop aws.clients.spot.`,
				]
			: []),
	];
	const common = (all[0]?.architectures ?? []).filter((architecture) =>
		all.every(({ architectures }) => architectures.includes(architecture)),
	);
	if (common.length === 0)
		wrong.push(
			`ec2:DescribeInstanceTypes: ${all.map(({ name, architectures }) => `${name} is ${architectures.join(" or ") || "of a kind that mqbench does not know"}`).join(", ")}, and a rig starts from one image. Take types of one kind.`,
		);
	const zone = aws.zone ?? zones.all[0];
	if (aws.zone !== null && !zones.open.includes(aws.zone))
		wrong.push(
			`ec2:DescribeAvailabilityZones: ${aws.region} has no zone ${aws.zone}; it has ${zones.open.join(", ")}. Write one of them, or drop aws.zone.`,
		);
	else if (zone === undefined || !zones.all.includes(zone))
		wrong.push(noZone(aws, names, zones));
	return {
		wrong,
		zone: zone ?? "",
		broker,
		client,
		architecture: common[0] ?? "",
	};
}

function noZone(
	{ region: name, zone }: Aws,
	names: readonly string[],
	{ all, byType }: Awaited<ReturnType<typeof zonesOf>>,
): string {
	const where = names
		.map(
			(type) =>
				`${type} is in ${byType.get(type)?.join(", ") || "none of its zones"}`,
		)
		.join("; ");
	if (zone === null)
		return `ec2:DescribeInstanceTypeOfferings: no zone of ${name} has all types (${where}). Take other types, or another region.`;
	return `ec2:DescribeInstanceTypeOfferings: ${zone} does not have ${names.length === 1 ? names[0] : "all types"} (${where}). ${all.length > 0 ? `Write aws.zone: ${all[0]}${all.length > 1 ? ` (or ${all.slice(1).join(", ")})` : ""}` : "Take other types, or another region"}.`;
}

/** The image, or a sentence why there is none. */
async function chooseImage(
	api: Api,
	{ ami, region: name }: Aws,
	architecture: string,
): Promise<Image | string> {
	if (ami === null)
		return (
			(await newestDebian(api, architecture)) ??
			`ec2:DescribeImages: ${name} has no image of Debian 12 for ${architecture}. Write one of your own: aws.ami.`
		);
	const image = await imageOf(api, ami);
	const call = `ec2:DescribeImages: the image ${ami}`;
	if (image === null)
		return `${call} is not in ${name}, or not yours to use. Write another one, or drop aws.ami to use Debian 12.`;
	if (image.state !== "available")
		return `${call} is ${image.state}. Wait until it is available, or write another one.`;
	if (image.architecture !== architecture)
		return `${call} is for ${image.architecture}, and the machines are ${architecture}. Take an image or types that fit.`;
	if (image.disk !== null && image.disk.sizeGiB > ROOT_DISK.sizeGiB)
		return `${call} needs a disk of ${image.disk.sizeGiB} GiB, and machines of mqbench start from ${ROOT_DISK.sizeGiB} GiB. Take a smaller image.`;
	return image;
}

interface QuotaTrouble {
	readonly wrong: readonly string[];
	readonly warnings: readonly string[];
}

async function quotaTrouble(
	api: Api,
	{ brokers, clients }: Aws,
	broker: MachineType | null,
	client: MachineType,
): Promise<QuotaTrouble> {
	const wanted = [
		...(broker === null
			? []
			: [{ type: broker, count: brokers.count, spot: false }]),
		{ type: client, count: clients.count, spot: clients.spot },
	];
	const wrong: string[] = [];
	const warnings: string[] = [];
	// Types with the same quota are checked together.
	const sums = new Map<
		string,
		{ spot: boolean; asked: number; type: string; all: string[] }
	>();
	for (const { type, count, spot } of wanted) {
		const family = isStandard(type.name) ? "standard" : type.name;
		const key = `${family} ${spot}`;
		const sum = sums.get(key) ?? { spot, asked: 0, type: type.name, all: [] };
		sum.asked += type.vcpus * count;
		sum.all.push(`${count} x ${type.name}`);
		sums.set(key, sum);
	}
	for (const { spot, asked, type, all } of sums.values()) {
		try {
			const quota = await quotaOf(api, type, spot);
			if (quota === null)
				warnings.push(
					`whether the quota of ${type} carries ${all.join(" and ")} was not asked: mqbench knows that of standard types only`,
				);
			else if (quota.running + asked > quota.vcpus)
				wrong.push(
					`servicequotas:GetServiceQuota: ${all.join(" and ")} take ${asked} vCPUs${spot ? " of the spot market" : ""}, ${quota.running} run already, and the account may have ${quota.vcpus} (${quota.code}). Ask for more (aws service-quotas request-service-quota-increase --service-code ec2 --quota-code ${quota.code} --desired-value ${quota.running + asked}), or take fewer or smaller machines.`,
				);
		} catch (error) {
			if (!(error instanceof Refused)) throw error;
			warnings.push(
				`whether the account's quota carries ${all.join(" and ")} is not known: ${error.forbidden ? `${error.call} is not allowed to you` : `${error.call} failed (${error.code})`}`,
			);
		}
	}
	return { wrong, warnings };
}

/** Volumes whose paid performance exceeds what the machine's connection to them can always carry. */
function volumeWarnings(
	{ brokers: { volume } }: Aws,
	type: MachineType | null,
): string[] {
	if (volume === null || type === null) return [];
	const { baselineIops, baselineMBps } = type.volumes;
	return [
		...(baselineIops !== null &&
		volume.iops !== null &&
		volume.iops > baselineIops
			? [
					`brokers: the volume has ${volume.iops} IOPS, and ${type.name} carries ${baselineIops} of them always; above that it lives on burst credit`,
				]
			: []),
		...(baselineMBps !== null &&
		volume.throughputMiBps !== null &&
		volume.throughputMiBps * 1.048_576 > baselineMBps
			? [
					`brokers: the volume has ${volume.throughputMiBps} MiB/s, and ${type.name} carries ${baselineMBps} MB/s always; above that it lives on burst credit`,
				]
			: []),
	];
}
