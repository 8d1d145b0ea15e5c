import { failure } from "../../../runner/errors.ts";
import { packageVersion } from "../../../runner/package.ts";
import type { Aws, Scenario } from "../../../runner/scenario/scenario.ts";
import { orInterrupted } from "../../../runner/stop.ts";
import { formatDurationExact } from "../../../runner/units.ts";
import type { World } from "../../../runner/world.ts";
import type { AwsConfig } from "../../aws/config.ts";
import { findOnPath } from "../../local/program.ts";
import { dollars } from "../cost-text.ts";
import { expiresAt } from "../expiry.ts";
import type { Offer, OfferAsked, RigKeys } from "../provider.ts";
import { type FoundPulumi, findPulumi } from "../pulumi-cli.ts";
import { type Api, openApi, Refused } from "./api.ts";
import { addressOf, type Caller, CHECK_IP, callerOf, isPrivate, oneAddress } from "./caller.ts";
import { awsFolder } from "./folder.ts";
import { type Image, imageFor } from "./image.ts";
import { platformOf, zoneWith } from "./machine-type.ts";
import { type Price, priceOf } from "./prices.ts";
import { sentenceOf } from "./refusals.ts";

/** An offer of AWS, with the input of its Pulumi program. */
interface AwsOffer extends Offer {
	readonly config: Omit<AwsConfig, RigKeys>;
}

/** Most machines of a rig, unless MQBENCH_MAX_INSTANCES says otherwise: it limits what a typing mistake can cost. */
const MOST_MACHINES = 20;

/**
 * Asks AWS who calls, where the types are, for the image and the prices; everything else AWS refuses by itself when the rig is stood up. Fails
 * with `cloud-unfit`, one sentence for each thing that is missing; with `cloud-unasked` if AWS cannot be asked at all; and before that with
 * `cloud-too-many`, `sdk-missing`, or `pulumi-unusable`.
 */
export async function offer(
	scenario: Scenario,
	asked: OfferAsked,
	world: World,
): Promise<AwsOffer> {
	const { aws } = scenario;
	if (aws === null) throw new Error("an offer is for a scenario of target aws alone");
	checkCount(aws, world);
	const local = localTrouble(aws, world);
	if (local.length > 0) throw failure("cloud-unfit", { wrong: local });
	const api = await openApi(aws, world);
	const pulumi = await findPulumi(world, awsFolder);
	const address = await callerCidr(aws, world);
	const also = "wrong" in address ? [address.wrong] : [];
	const caller = await callerOf(api).catch((error: unknown) => {
		if (!(error instanceof Refused)) throw error;
		throw failure("cloud-unasked", { wrong: [sentenceOf(error), ...also] });
	});
	const found = await placeIn(api, aws).catch((error: unknown) => {
		if (!(error instanceof Refused)) throw error;
		return { wrong: sentenceOf(error) };
	});
	if ("wrong" in address || "wrong" in found)
		throw failure("cloud-unfit", { wrong: [...("wrong" in found ? [found.wrong] : []), ...also] });
	const { zone, image } = found;
	const { brokers, clients } = aws;
	const price = await priceOf(api, { zone, image, brokers, clients });
	const ttlMinutes = Math.ceil(aws.ttlNs / 60e9);
	return {
		cloud: "aws",
		config: {
			id: asked.id,
			owner: aws.owner ?? caller.name,
			version: packageVersion,
			expiresAt: expiresAt(ttlMinutes, world.clock.nowMs()),
			ttlMinutes,
			region: aws.region,
			zone,
			profile: aws.profile,
			account: caller.account || null,
			callerCidr: address.cidr,
			ami: image.id,
			user: "admin",
			brokers,
			clients,
			systems: asked.systems,
			packages: [...asked.packages],
			endpoint: world.env.MQBENCH_AWS_ENDPOINT || null,
		},
		machines: counts(aws),
		hourlyUsd: price.hourlyUsd,
		unpriced: price.unpriced,
		lines: lines(
			{ ...aws, profile: profileOf(aws, world) },
			{ zone, image, caller, price },
			address,
			[pulumiText(pulumi), endText(aws, asked)],
		),
		warnings: image.runsUserData
			? []
			: [
					`the image ${image.id} is not Debian's, and AWS does not say whether it has cloud-init. Without cloud-init its machines never end themselves, and cost money until they are taken down (mqbench rigs list)`,
				],
	};
}

/** What target aws needs on this machine and is missing, one sentence each. Checked before anybody is asked. */
export function localTrouble(aws: Aws, world: Pick<World, "env">): string[] {
	const lacking = ["ssh", "ssh-keygen"].filter(
		(program) => findOnPath(program, world.env) === null,
	);
	const address = writtenAddress(aws, world);
	return [
		...(lacking.length === 0
			? []
			: [
					`${lacking.join(" and ")} ${lacking.length === 1 ? "is" : "are"} not on PATH: rented machines are reached over SSH. Install OpenSSH's client (apt-get install openssh-client).`,
				]),
		...(aws.brokers.count > 0 &&
		platformOf(aws.brokers.instance) !== platformOf(aws.clients.instance)
			? [
					`${aws.brokers.instance} and ${aws.clients.instance} have processors of two kinds, and a rig starts from one image. Take types of one kind.`,
				]
			: []),
		...(address !== null && "wrong" in address ? [address.wrong] : []),
	];
}

// --- internal ---

/** The profile for calls of AWS; null: none. */
function profileOf({ profile }: Aws, { env }: World): string | null {
	return profile ?? (env.AWS_PROFILE || null);
}

function checkCount({ brokers, clients }: Aws, { env }: World): void {
	const variable = "MQBENCH_MAX_INSTANCES";
	const text = env[variable] ?? "";
	if (text !== "" && !/^[1-9]\d{0,3}$/.test(text))
		throw failure("usage", {
			message: `${variable}=${text}: write a number of machines, such as ${MOST_MACHINES}`,
		});
	const most = text === "" ? MOST_MACHINES : Number(text);
	const machines = brokers.count + clients.count;
	if (machines > most) throw failure("cloud-too-many", { machines, most, variable });
}

type Address =
	/** `asked`: AWS's own service reported it, not the user. */
	{ readonly cidr: string; readonly asked: boolean } | { readonly wrong: string };

/** The one address that may use SSH. */
async function callerCidr(aws: Aws, world: World): Promise<Address> {
	const written = writtenAddress(aws, world);
	if (written !== null) return written;
	const service = world.env.MQBENCH_CHECK_IP || CHECK_IP;
	try {
		return { cidr: `${await addressOf(world, service)}/32`, asked: true };
	} catch (error) {
		orInterrupted(world.stop);
		return {
			wrong: `GET ${service}: the address that your SSH comes from is not known (${(error as Error).message}). Write it: aws.sshFrom: 203.0.113.7/32, or ${SSH_FROM}=203.0.113.7.`,
		};
	}
}

const SSH_FROM = "MQBENCH_SSH_FROM";

/** From the scenario or the environment; null: neither has it. */
function writtenAddress({ sshFrom }: Aws, { env }: Pick<World, "env">): Address | null {
	const written = sshFrom ?? env[SSH_FROM] ?? "";
	if (written === "") return null;
	const where = sshFrom === null ? SSH_FROM : "aws.sshFrom";
	const cidr = oneAddress(written);
	if (cidr === null)
		return {
			wrong: `${where}: ${written} is not one IPv4 address. Write the one that your SSH comes from, such as 203.0.113.7/32.`,
		};
	// Machines of an emulator are where the emulator is.
	if (isPrivate(cidr) && !env.MQBENCH_AWS_ENDPOINT)
		return {
			wrong: `${where}: SSH from the internet never comes from ${written}, which is an address of a private network. Write the public one that your SSH comes from, or leave ${where} out: mqbench then asks AWS's own service.`,
		};
	return { cidr, asked: false };
}

interface Place {
	readonly zone: string;
	readonly image: Image;
}

/** Where machines are going to be, and what they start from. Throws a `Refused`. */
async function placeIn(api: Api, aws: Aws): Promise<Place | { readonly wrong: string }> {
	const types = Object.keys(counts(aws));
	const platform = platformOf(aws.clients.instance);
	const zone = aws.zone ?? (await zoneWith(api, types));
	if (zone === null)
		return {
			wrong: `no zone of ${aws.region} has all of ${types.join(", ")}. Take other types (aws.brokers.instance, aws.clients.instance), or another region.`,
		};
	const image = await imageFor(api, aws.ami, platform);
	if (image !== null) return { zone, image };
	return {
		wrong:
			aws.ami === null
				? `${aws.region} has no image of Debian 12 for ${platform}. Write one of your own: aws.ami.`
				: `the image ${aws.ami} is not in ${aws.region}, or not yours to use. Write another one, or drop aws.ami to use Debian 12.`,
	};
}

function counts({ brokers, clients }: Aws): Record<string, number> {
	const machines: Record<string, number> = { [clients.instance]: clients.count };
	if (brokers.count > 0)
		machines[brokers.instance] = (machines[brokers.instance] ?? 0) + brokers.count;
	return machines;
}

function lines(
	{ brokers, clients, ami, owner, profile }: Aws,
	{ zone, image, caller, price }: Place & { readonly caller: Caller; readonly price: Price },
	address: { cidr: string; asked: boolean },
	[pulumi, end]: readonly [string, string],
): string[] {
	const rows: [string, string][] = [
		...(brokers.count === 0
			? []
			: [
					["brokers", `${brokers.count} x ${brokers.instance}, ${diskText(brokers)}`] as [
						string,
						string,
					],
				]),
		["clients", `${clients.count} x ${clients.instance}${clients.spot ? ", spot" : ""}`],
		["zone", `${zone}, in one cluster placement group`],
		["image", `${image.id} (${ami === null ? "Debian 12" : "the scenario's"}, ${image.name})`],
		[
			"account",
			`${caller.account}, owner ${owner ?? caller.name}${profile === null ? "" : `, profile ${profile}`}`,
		],
		[
			"ssh",
			`open to ${address.cidr} alone${address.asked ? ", the address that AWS sees you under" : ""}`,
		],
		["pulumi", pulumi],
		["end", end],
		// The caller shows the sum, with the period that it covers or why it is not known.
		...price.parts.map(({ what, hourlyUsd }, i): [string, string] => [
			i === 0 ? "prices" : "",
			`${dollars(hourlyUsd)} an hour: ${what}`,
		]),
	];
	return rows.map(([name, text]) => `${name.padEnd(9)}${text}`);
}

/** About the command pulumi: where it is, or that mqbench is going to ask about it. */
function pulumiText(found: FoundPulumi): string {
	const { program, version, wanted, reason, archive } = found;
	if (program !== null) return `${version}, ${program}`;
	return archive.sha256 === null
		? `${wanted} is needed, and ${reason}: install it, because mqbench has no sha256 of ${archive.name} to check a download by`
		: `${wanted} is needed, and ${reason}: mqbench offers to download it`;
}

/** What ends the machines, in most cases and in all others. */
function endText({ ttlNs }: Aws, { plannedNs, rigFile }: OfferAsked): string {
	const latest = `at the latest ${formatDurationExact(ttlNs)} after they started`;
	if (plannedNs !== null) return `taken down when the run is over; by themselves ${latest}`;
	return rigFile == null
		? `stay until they are taken down; by themselves they end ${latest}`
		: `stay until mqbench down ${rigFile}; by themselves they end ${latest}`;
}

function diskText({ volume }: Aws["brokers"]): string {
	if (volume === null) return "their own NVMe";
	const { type, sizeGiB, iops, throughputMiBps } = volume;
	return [
		`${type} volume of ${sizeGiB} GiB`,
		...(iops === null ? [] : [`${iops} IOPS`]),
		...(throughputMiBps === null ? [] : [`${throughputMiBps} MiB/s`]),
	].join(", ");
}
