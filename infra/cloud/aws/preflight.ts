import path from "node:path";
import type { Aws } from "../../../runner/scenario/scenario.ts";
import { tell } from "../../../runner/text/tell.ts";
import type { World } from "../../../runner/world.ts";
import { ROOT_DISK } from "../../aws/config.ts";
import { type Api, Refused } from "./api.ts";
import { type Caller, callerOf } from "./caller.ts";
import { awsFolder } from "./folder.ts";
import { type Image, imageOf, newestDebian } from "./image.ts";
import { isStandard, type MachineType, machineTypes, quotaOf, zonesOf } from "./machine-type.ts";
import { permissions } from "./permissions.ts";
import { profilesOf } from "./profiles.ts";

/** What is certain after all checks have passed. */
export interface Preflight {
	readonly caller: Caller;
	/** In the order in which they are tried: the first types in all zones, then the next types. */
	readonly choices: readonly [Choice, ...Choice[]];
	readonly image: Image;
	readonly warnings: readonly string[];
}

/** Where machines may be, and of which types. */
export interface Choice {
	readonly zone: string;
	/** null: no machines for brokers. */
	readonly broker: MachineType | null;
	readonly client: MachineType;
}

/**
 * Asks AWS about everything that would otherwise fail later, when machines cost money already. Never throws a `Refused`. `unasked`: AWS cannot
 * be reached, or there are no credentials and none are named; it has the sentence that says so.
 */
export async function preflight(
	api: Api,
	aws: Aws,
	env: World["env"],
): Promise<Preflight | { readonly wrong: readonly string[] } | { readonly unasked: string }> {
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
	if ("wrong" in types.value) return types.value;
	const { choices, architecture } = types.value;
	const [first] = choices;
	const [image, quotas] = await Promise.all([
		attempt(() => chooseImage(api, aws, architecture), sentence),
		quotasOf(api, aws, choices),
	]);
	const wrong = [...quotas.wrong];
	if ("wrong" in image) for (const one of image.wrong) wrong.push(one);
	else if (typeof image.value === "string") wrong.push(image.value);
	const chosenImage = "value" in image && typeof image.value !== "string" ? image.value : null;
	const may = await attempt(
		() =>
			permissions(api, {
				// Any id will do to check a permission.
				ami: chosenImage?.id ?? "ami-00000000000000000",
				instance: first.client.name,
				spot: aws.clients.spot,
			}),
		sentence,
	);
	if ("wrong" in may) for (const one of may.wrong) wrong.push(one);
	else if (may.value.denied.length > 0)
		wrong.push(
			`${may.value.denied.join(", ")}: AWS does not allow ${may.value.denied.length === 1 ? "this" : "these"} to ${caller.arn}. ${POLICY}`,
		);
	if (wrong.length > 0 || chosenImage === null) return { wrong };
	const unknown = "value" in may ? may.value.unknown : [];
	return {
		caller,
		choices,
		image: chosenImage,
		warnings: [
			...(chosenImage.runsUserData ? [] : [tell("image-end-uncertain", { image: chosenImage.id })]),
			...quotas.warnings,
			...(unknown.length === 0
				? []
				: [
						tell("permission-uncertain", {
							calls: unknown.map(({ call, reason }) => `${call} (${reason})`),
						}),
					]),
			...new Set(choices.flatMap(({ broker }) => volumeWarnings(aws, broker))),
		],
	};
}

/** The choices of the first zone that each two types have. */
export function typesIn<One extends Choice>(choices: readonly One[]): One[] {
	return choices.filter(
		({ broker, client }, i) =>
			choices.findIndex((one) => one.broker === broker && one.client === client) === i,
	);
}

// --- internal ---

const POLICY = tell("policy-remedy", {
	policy: path.join(awsFolder, "policy.json"),
	permissions: path.join(awsFolder, "PERMISSIONS.md"),
});

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
			? tell("aws-log-in")
			: `Log in (aws sso login --profile ${profile}, aws configure --profile ${profile}), or name another profile`;
	return (refused) => {
		const { call, code, message } = refused;
		const known = profile !== null && isNobody(refused) ? profilesOf(env) : null;
		if (known !== null && profile !== null && !known.names.includes(profile))
			return tell("no-profile", {
				by: aws.profile === null ? "AWS_PROFILE" : "aws.profile",
				profile,
				files: known.files.join(" or "),
				others: known.names.length === 0 ? "" : `, which have ${known.names.join(", ")}`,
			});
		if (/^Request(Expired|TimeTooSkewed)$/.test(code))
			return tell("clock-refused", { call, message });
		if (/Expired/.test(code) || /\bexpired\b/i.test(message))
			return tell("credentials-expired", { call, message, login });
		if (isNobody(refused))
			return tell("credentials-none", {
				call,
				of: profile === null ? "" : ` in the profile ${profile}`,
				message,
				login,
			});
		if (
			/^(InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|AuthFailure|InvalidSignatureException|IncompleteSignature)/.test(
				code,
			)
		)
			return tell("credentials-unknown", { call, code, message, login });
		return way(refused) ?? other(refused);
	};
}

/** No credentials were found. */
function isNobody({ code }: Refused): boolean {
	return /^(CredentialsProviderError|TokenProviderError|NoCredentials)/.test(code);
}

/** All other questions. */
function refusal({ region: name }: Aws, caller: Caller): (refused: Refused) => string {
	return (refused) => {
		const { call, code, forbidden } = refused;
		if (forbidden) return tell("call-forbidden", { call, who: caller.arn, policy: POLICY });
		if (/^(AuthFailure|OptInRequired|UnrecognizedClient)/.test(code))
			return tell("region-refuses", { call, region: name, code });
		return way(refused) ?? other(refused);
	};
}

/** null: it is not the connection to AWS that fails. */
function way({ call, code, message, unreached }: Refused): string | null {
	return unreached ? tell("aws-unreached", { call, code, message }) : null;
}

function other({ call, code, message }: Refused): string {
	return tell("aws-refused", { call, code, message });
}

/** A sentence if no machine can be there. null: the account may use it, or the question is not allowed, and then the region's own answers show it. */
async function region(api: Api, { region: name }: Aws): Promise<string | null> {
	const { Regions = [] } = await api.home.ec2
		.describeRegions({ AllRegions: true, Filters: [{ Name: "region-name", Values: [name] }] })
		.catch((error: Refused) => {
			// Companies close whole regions for their people, and the first region may be among them.
			if (error.forbidden) return { Regions: [{ RegionName: name, OptInStatus: undefined }] };
			throw error;
		});
	const entry = Regions.find(({ RegionName }) => RegionName === name);
	if (entry === undefined)
		return `ec2:DescribeRegions: the region ${name} does not exist. Write another one, e.g. aws.region: eu-central-1.`;
	return entry.OptInStatus === "not-opted-in" ? tell("region-disabled", { region: name }) : null;
}

type Machines =
	| { readonly wrong: readonly string[] }
	| { readonly choices: Preflight["choices"]; readonly architecture: string };

async function machines(api: Api, aws: Aws): Promise<Machines> {
	const { brokers, clients } = aws;
	const ofBrokers = brokers.count > 0 ? brokers.instances : [];
	const names = [...new Set([...ofBrokers, ...clients.instances])];
	const [types, zones] = await Promise.all([machineTypes(api, names), zonesOf(api, names)]);
	const all = names.flatMap((name) => types.get(name) ?? []);
	const missing = names.filter((name) => !types.has(name));
	if (missing.length > 0)
		return {
			wrong: missing.map(
				(name) =>
					`ec2:DescribeInstanceTypes: ${aws.region} has no instance type ${name}. Write another one (aws.${clients.instances.includes(name) ? "clients" : "brokers"}.instance), or choose another region.`,
			),
		};
	const wrong = [
		...all
			.filter(({ cluster }) => !cluster)
			.map(({ name }) => tell("no-placement-group", { type: name })),
		...all
			.filter(
				({ name, nvmeGB }) =>
					nvmeGB === null && brokers.volume === null && ofBrokers.includes(name),
			)
			.map(({ name }) => tell("no-nvme", { type: name })),
		...all
			.filter(({ name, spot }) => !spot && clients.spot && clients.instances.includes(name))
			.map(({ name }) => tell("no-spot", { type: name })),
	];
	const common = (all[0]?.architectures ?? []).filter((architecture) =>
		all.every(({ architectures }) => architectures.includes(architecture)),
	);
	if (common.length === 0)
		wrong.push(
			tell("types-differ", {
				types: all.map(
					({ name, architectures }) =>
						`${name} is ${architectures.join(" or ") || tell("kind-unknown")}`,
				),
			}),
		);
	const choices = choicesOf(aws, types, zones);
	const [first, ...rest] = choices;
	if (aws.zone !== null && !zones.open.includes(aws.zone))
		wrong.push(tell("no-such-zone", { region: aws.region, zone: aws.zone, zones: zones.open }));
	else if (first === undefined) wrong.push(noZone(aws, names, zones));
	return wrong.length > 0 || first === undefined
		? { wrong }
		: { choices: [first, ...rest], architecture: common[0] ?? "" };
}

function choicesOf(
	{ brokers, clients, zone: only }: Aws,
	types: ReadonlyMap<string, MachineType>,
	{ open, byType }: Awaited<ReturnType<typeof zonesOf>>,
): Choice[] {
	const of = (names: readonly string[]) => names.flatMap((name) => types.get(name) ?? []);
	const offers = (zone: string, type: MachineType | null) =>
		type === null || (byType.get(type.name)?.includes(zone) ?? false);
	return (brokers.count > 0 ? of(brokers.instances) : [null]).flatMap((broker) =>
		of(clients.instances).flatMap((client) =>
			open
				.filter((zone) => only === null || zone === only)
				.filter((zone) => offers(zone, broker) && offers(zone, client))
				.map((zone) => ({ zone, broker, client })),
		),
	);
}

function noZone(
	{ region: name, zone }: Aws,
	names: readonly string[],
	{ all, byType }: Awaited<ReturnType<typeof zonesOf>>,
): string {
	const where = names
		.map((type) => `${type} is in ${byType.get(type)?.join(", ") || "none of its zones"}`)
		.join("; ");
	if (zone === null)
		return tell("no-zone-has-all", { region: name, where, remedy: tell("other-types") });
	return `ec2:DescribeInstanceTypeOfferings: ${zone} does not have ${names.length === 1 ? names[0] : "all types"} (${where}). ${all.length > 0 ? `Write aws.zone: ${all[0]}${all.length > 1 ? ` (or ${all.slice(1).join(", ")})` : ""}.` : tell("other-types")}`;
}

/** The image, or a sentence why there is none. */
async function chooseImage(
	api: Api,
	{ ami, region: name }: Aws,
	architecture: string,
): Promise<Image | string> {
	if (ami === null)
		return (
			(await newestDebian(api, architecture)) ?? tell("no-debian", { region: name, architecture })
		);
	const image = await imageOf(api, ami);
	const call = `ec2:DescribeImages: the image ${ami}`;
	if (image === null) return tell("image-absent", { call, region: name });
	if (image.state !== "available") return tell("image-not-ready", { call, state: image.state });
	if (image.windows) return tell("image-windows", { call });
	if (image.architecture !== architecture)
		return tell("image-architecture", { call, image: image.architecture, machines: architecture });
	if (image.disk !== null && image.disk.sizeGiB > ROOT_DISK.sizeGiB)
		return tell("image-disk", { call, image: image.disk.sizeGiB, machines: ROOT_DISK.sizeGiB });
	return image;
}

/** Of each two types, as nobody knows beforehand which will be taken. */
async function quotasOf(api: Api, aws: Aws, choices: readonly Choice[]): Promise<QuotaTrouble> {
	const wrong = new Set<string>();
	const warnings = new Set<string>();
	for (const { broker, client } of typesIn(choices)) {
		const trouble = await quotaTrouble(api, aws, broker, client);
		for (const one of trouble.wrong) wrong.add(one);
		for (const one of trouble.warnings) warnings.add(one);
	}
	return { wrong: [...wrong], warnings: [...warnings] };
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
		...(broker === null ? [] : [{ type: broker, count: brokers.count, spot: false }]),
		{ type: client, count: clients.count, spot: clients.spot },
	];
	const wrong: string[] = [];
	const warnings: string[] = [];
	// Types with the same quota are checked together.
	const sums = new Map<string, { spot: boolean; asked: number; type: string; all: string[] }>();
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
				warnings.push(tell("quota-not-asked", { type, machines: all.join(" and ") }));
			else if (quota.running + asked > quota.vcpus)
				wrong.push(
					tell("quota-exceeded", {
						machines: all.join(" and "),
						asked,
						spot: spot ? " of the spot market" : "",
						running: quota.running,
						vcpus: quota.vcpus,
						code: quota.code,
						wanted: quota.running + asked,
					}),
				);
		} catch (error) {
			if (!(error instanceof Refused)) throw error;
			warnings.push(
				tell("account-quota-unknown", {
					machines: all.join(" and "),
					reason: error.forbidden
						? tell("not-allowed-to-you", { call: error.call })
						: `${error.call} failed (${error.code})`,
				}),
			);
		}
	}
	return { wrong, warnings };
}

/** Volumes whose paid performance exceeds what the machine's connection to them can always carry. */
function volumeWarnings({ brokers: { volume } }: Aws, type: MachineType | null): string[] {
	if (volume === null || type === null) return [];
	const { baselineIops, baselineMBps } = type.volumes;
	return [
		...(baselineIops !== null && volume.iops !== null && volume.iops > baselineIops
			? [tell("volume-iops", { iops: volume.iops, type: type.name, always: baselineIops })]
			: []),
		...(baselineMBps !== null &&
		volume.throughputMiBps !== null &&
		volume.throughputMiBps * 1.048_576 > baselineMBps
			? [
					tell("volume-throughput", {
						throughput: volume.throughputMiBps,
						type: type.name,
						always: baselineMBps,
					}),
				]
			: []),
	];
}
