import { isIPv4 } from "node:net";
import type { EC2 } from "@aws-sdk/client-ec2";
import { failure, type MqbenchError } from "../../runner/errors.ts";
import { packageVersion } from "../../runner/package.ts";
import type { Aws } from "../../runner/scenario/scenario.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { formatDurationExact } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { type AwsConfig, machinesOf, volumeText } from "../aws/config.ts";
import { findOnPath } from "../local/program.ts";
import { allPages, callerOf, openApi } from "./api.ts";
import { type Price, priceOf } from "./prices.ts";
import { type CloudRequest, rigId } from "./request.ts";
import { expiresAt } from "./rigs.ts";

/** The machines that would be rented, and their price: AWS has been asked, and nothing costs anything yet. */
export interface Offer extends Price {
	/** The program's input, except for the keys, which are made when the rig is stood up. */
	readonly config: Omit<AwsConfig, "publicKey" | "identity" | "hostKey" | "knownHosts">;
	/** How many of each type. */
	readonly machines: Readonly<Record<string, number>>;
	/** For people: machines, zone, image, allowed address. */
	readonly lines: readonly string[];
	readonly warnings: readonly string[];
}

/**
 * Asks AWS for the caller, the zones of the types, and the image; everything else AWS refuses by itself when the rig is stood up.
 * `plannedNs` is how long the machines are going to be used; null until they are taken down. Fails with `cloud-unfit` or `cloud-too-many`,
 * with `cloud-unasked` if AWS cannot be asked at all, and with `sdk-missing`.
 */
export async function offer(
	{ scenario, systems, packages }: CloudRequest,
	plannedNs: number | null,
	world: World,
): Promise<Offer> {
	const { aws, name } = scenario;
	const { brokers, clients, ami, region } = aws;
	checkHere(aws, world.env);
	world.stderr.write(`Asking AWS (${region}) ...\n`);
	const caller = await callerOf(aws, world);
	const { ec2 } = await openApi(aws, world);
	const zone = aws.zone ?? (await zoneWith(ec2, aws));
	const image = await imageFor(ec2, aws);
	const address = await sshAddress(aws, world);
	const ttlMinutes = Math.ceil(aws.ttlNs / 60e9);
	const endpoint = world.env.MQBENCH_AWS_ENDPOINT || null;
	const profile = aws.profile ?? (world.env.AWS_PROFILE || null);
	const end = plannedNs === null ? "stay until they are taken down" : "taken down after the run";
	return {
		config: {
			id: rigId(name),
			owner: aws.owner ?? caller.name,
			version: packageVersion,
			expiresAt: expiresAt(ttlMinutes, world.clock.nowMs()),
			ttlMinutes,
			region,
			zone,
			// It takes the rig down later, when the environment may name another one. An emulator has none.
			profile: endpoint === null ? profile : null,
			account: caller.account || null,
			callerCidr: address.cidr,
			ami: image.id,
			user: "admin",
			brokers,
			clients,
			systems,
			packages,
			endpoint,
		},
		machines: machinesOf(aws),
		...priceOf(aws),
		lines: [
			...(brokers.count === 0
				? []
				: [
						`brokers  ${brokers.count} x ${brokers.instance}, ${volumeText(brokers.volume) ?? "their own NVMe"}`,
					]),
			`clients  ${clients.count} x ${clients.instance}${clients.spot ? ", spot" : ""}`,
			`zone     ${zone}, in one cluster placement group`,
			`image    ${image.id} (${ami === null ? "Debian 12" : "the scenario's"}, ${image.name})`,
			`account  ${caller.account}, owner ${aws.owner ?? caller.name}${profile === null ? "" : `, profile ${profile}`}`,
			`ssh      open to ${address.cidr} alone${address.asked ? ", the address that AWS sees you under" : ""}`,
			`end      ${end}; by themselves at the latest ${formatDurationExact(aws.ttlNs)} after they started`,
		],
		warnings: image.debian
			? []
			: [
					`the image ${image.id} is not Debian's, and AWS does not say whether it has cloud-init. Without cloud-init its machines never end themselves, and cost money until they are taken down (npx mqbench rigs list). What such an image costs by itself is not in the price`,
				],
	};
}

/** Checks everything possible here, before AWS or the user is asked. Fails with `cloud-unfit`, `cloud-too-many` or `usage`. */
export function checkHere(aws: Aws, env: World["env"]): void {
	const { brokers, clients } = aws;
	const variable = "MQBENCH_MAX_INSTANCES";
	const most = Number(env[variable] || MOST_MACHINES);
	if (!Number.isInteger(most) || most < 1)
		throw failure("usage", {
			message: `${variable}=${env[variable]}: write a number of machines, such as ${MOST_MACHINES}`,
		});
	const machines = brokers.count + clients.count;
	if (machines > most) throw failure("cloud-too-many", { machines, most, variable });
	const lacking = ["ssh", "ssh-keygen"].filter((program) => findOnPath(program, env) === null);
	if (lacking.length > 0)
		throw unfit(
			`Not on PATH: ${lacking.join(", ")}. Rented machines are reached over SSH: install OpenSSH's client (apt-get install openssh-client).`,
		);
}

/** In "c7gn.xlarge" the letter g after the number means that the processor is AWS's own. */
export function platformOf(instance: string): string {
	return /^(a1|[a-z]+\d+[a-z]*g[a-z]*)[.-]/.test(instance) ? "linux/arm64" : "linux/amd64";
}

/** The one address that may use SSH: as written, else this machine's address as seen by AWS's service (`asked`). Never guessed. */
export async function sshAddress({ sshFrom }: Pick<Aws, "sshFrom">, { env, stop }: World) {
	const written = sshFrom ?? env.MQBENCH_SSH_FROM ?? "";
	const address = written.trim().replace(/\/32$/, "");
	// The machines of an emulator are where the emulator is.
	if (isIPv4(address) && (env.MQBENCH_AWS_ENDPOINT || !PRIVATE.test(address)))
		return { cidr: `${address}/32`, asked: false };
	if (written !== "")
		throw unfit(
			`${sshFrom === null ? "MQBENCH_SSH_FROM" : "aws.sshFrom"}: ${written} is not one public IPv4 address. Write the one that your SSH comes from, such as 203.0.113.7/32, or leave it out: mqbench then asks AWS's own service.`,
		);
	const service = env.MQBENCH_CHECK_IP || "https://checkip.amazonaws.com";
	const signal = AbortSignal.any([AbortSignal.timeout(5_000), stop]);
	const text = await fetch(service, { signal }).then(
		async (answer) => (answer.ok ? (await answer.text()).trim() : `HTTP ${answer.status}`),
		(error) => error.cause?.code ?? error.message,
	);
	orInterrupted(stop);
	if (isIPv4(text)) return { cidr: `${text}/32`, asked: true };
	throw unfit(
		`GET ${service}: the address that your SSH comes from is not known (${text.slice(0, 60)}). Write it: aws.sshFrom: 203.0.113.7/32, or MQBENCH_SSH_FROM=203.0.113.7.`,
	);
}

// --- internal ---

/** Most machines of a rig, unless MQBENCH_MAX_INSTANCES says otherwise: it limits what a typing mistake can cost. */
const MOST_MACHINES = 20;

function unfit(sentence: string): MqbenchError {
	return failure("cloud-unfit", { wrong: [sentence] });
}

/** Addresses that the internet never sees. */
const PRIVATE =
	/^(10|127|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;

/** The first zone of the region that has all of the types. */
async function zoneWith(ec2: EC2, aws: Aws): Promise<string> {
	const types = Object.keys(machinesOf(aws));
	const pages = await allPages((token) =>
		ec2.describeInstanceTypeOfferings({
			...token,
			LocationType: "availability-zone",
			Filters: [{ Name: "instance-type", Values: types }],
		}),
	);
	const offered = pages.flatMap(({ InstanceTypeOfferings = [] }) => InstanceTypeOfferings);
	const has = (zone: string, type: string) =>
		offered.some(({ Location, InstanceType }) => Location === zone && InstanceType === type);
	const [zone] = [...new Set(offered.flatMap(({ Location }) => Location ?? []))]
		// Skips local zones and wavelength zones.
		.filter((one) => one.length === aws.region.length + 1)
		.filter((one) => types.every((type) => has(one, type)))
		.sort();
	if (zone !== undefined) return zone;
	throw unfit(
		`no zone of ${aws.region} has all of ${types.join(", ")}. Take other types (aws.brokers.instance, aws.clients.instance), or another region.`,
	);
}

/** Debian's account at AWS, which publishes its images (https://wiki.debian.org/Cloud/AmazonEC2Image). */
const DEBIAN = "136693071363";

/** The image that machines start from: the scenario's, or the newest Debian 12 for their processor. */
async function imageFor(ec2: EC2, { ami, clients, region }: Aws) {
	const platform = platformOf(clients.instance);
	const Filters = [
		{ Name: "name", Values: [`debian-12-${platform.slice("linux/".length)}-*`] },
		{ Name: "state", Values: ["available"] },
	];
	const pages = await allPages((token) =>
		ec2.describeImages({
			...token,
			...(ami === null ? { Owners: [DEBIAN], Filters } : { ImageIds: [ami] }),
		}),
	);
	const newest = pages
		.flatMap(({ Images = [] }) => Images)
		.sort((a, b) => (a.CreationDate ?? "").localeCompare(b.CreationDate ?? ""))
		.at(-1);
	if (newest === undefined)
		throw unfit(
			ami === null
				? `${region} has no image of Debian 12 for ${platform}. Write one of your own: aws.ami.`
				: `the image ${ami} is not in ${region}, or not yours to use. Write another one, or drop aws.ami to use Debian 12.`,
		);
	const { ImageId = "", Name = "", OwnerId } = newest;
	// Debian's own has cloud-init, which runs the user data, by which its machines end themselves.
	return { id: ImageId, name: Name, debian: OwnerId === DEBIAN };
}
