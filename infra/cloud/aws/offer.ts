import { failure } from "../../../runner/errors.ts";
import { packageVersion } from "../../../runner/package.ts";
import type { Aws, Scenario } from "../../../runner/scenario/scenario.ts";
import { orInterrupted } from "../../../runner/stop.ts";
import { tell } from "../../../runner/text/tell.ts";
import { formatDurationExact } from "../../../runner/units.ts";
import type { World } from "../../../runner/world.ts";
import type { AwsConfig } from "../../aws/config.ts";
import { findOnPath } from "../../local/program.ts";
import { dollars } from "../cost-text.ts";
import { expiresAt } from "../expiry.ts";
import type { Offer, OfferAsked, Placement, RigKeys } from "../provider.ts";
import { type FoundPulumi, findPulumi } from "../pulumi-cli.ts";
import { type Api, openApi } from "./api.ts";
import { addressOf, CHECK_IP, isPrivate, oneAddress } from "./caller.ts";
import { awsFolder } from "./folder.ts";
import type { Image } from "./image.ts";
import type { MachineType } from "./machine-type.ts";
import { gbps, networkNeeds, networkWarnings } from "./network-need.ts";
import { type Choice, type Preflight, preflight, typesIn } from "./preflight.ts";
import { type Price, priceOf } from "./prices.ts";
import { sessionOf, sessionTrouble } from "./session.ts";

/** An offer of AWS, with the input of its Pulumi program. */
interface AwsOffer extends Offer {
	readonly config: Omit<AwsConfig, RigKeys>;
}

/** A choice with its price. */
interface Priced extends Choice {
	readonly price: Price;
}

/** Most machines of a rig, unless MQBENCH_MAX_INSTANCES says otherwise: it limits what a typing mistake can cost. */
const MOST_MACHINES = 20;

/**
 * Asks AWS for everything that standing up needs. Fails with `cloud-unfit`, one sentence for each check that failed: the call, why, and what
 * to do; with `cloud-unasked` if AWS cannot be reached or there are no credentials; and before that with `cloud-too-many`, `sdk-missing`, or
 * `pulumi-unusable`.
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
	const [checked, address] = await Promise.all([
		preflight(api, aws, world.env),
		callerCidr(aws, world),
	]);
	if ("unasked" in checked)
		throw failure("cloud-unasked", {
			why: checked.unasked,
			also: "wrong" in address ? [address.wrong] : [],
		});
	const wrong = [
		...("wrong" in checked ? checked.wrong : []),
		...("wrong" in address ? [address.wrong] : []),
	];
	const session =
		"wrong" in checked
			? { wrong: [], warnings: [] }
			: sessionTrouble(await sessionOf(api), asked.plannedNs, world.clock.nowMs());
	for (const one of session.wrong) wrong.push(one);
	if ("wrong" in checked || "wrong" in address || wrong.length > 0)
		throw failure("cloud-unfit", { wrong });

	const priced = await pricesOf(api, aws, checked);
	const ttlMinutes = Math.ceil(aws.ttlNs / 60e9);
	const { volume } = aws.brokers;
	const placement = ({ zone, broker, client, price }: Priced) => ({
		config: {
			id: asked.id,
			owner: aws.owner ?? checked.caller.name,
			version: packageVersion,
			expiresAt: expiresAt(ttlMinutes, world.clock.nowMs()),
			ttlMinutes,
			region: aws.region,
			zone,
			profile: aws.profile,
			account: checked.caller.account || null,
			callerCidr: address.cidr,
			ami: checked.image.id,
			user: "admin",
			brokers: {
				instance: broker?.name ?? aws.brokers.instances[0] ?? "",
				count: aws.brokers.count,
				volume,
			},
			clients: { instance: client.name, count: aws.clients.count, spot: aws.clients.spot },
			systems: asked.systems,
			packages: [...asked.packages],
			endpoint: world.env.MQBENCH_AWS_ENDPOINT || null,
		},
		machines: counts(aws, broker, client),
		hourlyUsd: price.hourlyUsd,
	});
	const [first, ...others] = priced;
	return {
		cloud: "aws",
		...placement(first),
		others: others.map(placement) satisfies Placement[],
		unpriced: priced.find(({ price }) => price.unpriced !== null)?.price.unpriced ?? null,
		lines: lines({ ...aws, profile: profileOf(aws, world) }, checked, priced, address, [
			pulumiText(pulumi),
			endText(aws, asked),
		]),
		warnings: [
			...checked.warnings,
			...session.warnings,
			...new Set(
				typesIn(checked.choices).flatMap((types) =>
					networkWarnings(networkNeeds(scenario, aws.clients.count), types),
				),
			),
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
					tell("openssh-missing", {
						programs: lacking.join(" and "),
						are: lacking.length === 1 ? "is" : "are",
					}),
				]),
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
			message: tell("machines-variable-wrong", { variable, text, most: MOST_MACHINES }),
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
			wrong: tell("ssh-from-unknown", {
				service,
				reason: (error as Error).message,
				variable: SSH_FROM,
			}),
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
	if (cidr === null) return { wrong: tell("ssh-from-wrong", { where, written }) };
	// Machines of an emulator are where the emulator is.
	if (isPrivate(cidr) && !env.MQBENCH_AWS_ENDPOINT)
		return { wrong: tell("ssh-from-private", { where, written }) };
	return { cidr, asked: false };
}

/** On demand the price is that of the region; on the spot market each zone has its own. */
async function pricesOf(
	api: Api,
	{ brokers, clients }: Aws,
	{ choices, image }: Preflight,
): Promise<[Priced, ...Priced[]]> {
	const asked = new Map<string, Promise<Price>>();
	const priced = ({ zone, broker, client }: Choice): Promise<Price> => {
		const key = `${broker?.name} ${client.name} ${clients.spot ? zone : ""}`;
		const price =
			asked.get(key) ??
			priceOf(api, {
				zone,
				image,
				brokers: { ...brokers, instance: broker?.name ?? "" },
				clients: { ...clients, instance: client.name },
			});
		asked.set(key, price);
		return price;
	};
	const [first, ...others] = choices;
	return [
		{ ...first, price: await priced(first) },
		...(await Promise.all(others.map(async (one) => ({ ...one, price: await priced(one) })))),
	];
}

function counts(
	{ brokers, clients }: Aws,
	broker: MachineType | null,
	client: MachineType,
): Record<string, number> {
	const machines: Record<string, number> = { [client.name]: clients.count };
	if (broker !== null) machines[broker.name] = (machines[broker.name] ?? 0) + brokers.count;
	return machines;
}

function lines(
	aws: Aws,
	{ choices, image, caller }: Preflight,
	priced: readonly [Priced, ...Priced[]],
	address: { cidr: string; asked: boolean },
	[pulumi, end]: readonly [string, string],
): string[] {
	const { brokers, clients } = aws;
	const [{ zone, price }] = priced;
	const several = typesIn(choices);
	const others = typesIn(priced).slice(1);
	const distinct = (types: readonly (MachineType | null)[]) =>
		[...new Set(types)].filter((type) => type !== null);
	const otherZones = [...new Set(choices.map((one) => one.zone))].filter((one) => one !== zone);
	const rows: [string, string][] = [
		...distinct(several.map((one) => one.broker)).map((type, i): [string, string] => [
			i === 0 ? "brokers" : "",
			`${i === 0 ? "" : "or "}${brokers.count} x ${machineText(type)}, ${diskText(aws, type)}`,
		]),
		...distinct(several.map((one) => one.client)).map((type, i): [string, string] => [
			i === 0 ? "clients" : "",
			`${i === 0 ? "" : "or "}${clients.count} x ${machineText(type)}${clients.spot ? ", spot" : ""}`,
		]),
		[
			"zone",
			`${tell("in-placement-group", { zone })}${otherZones.length === 0 ? "" : tell("other-zones", { zones: otherZones.join(", ") })}`,
		],
		["image", `${image.id} (${imageText(aws, image)})`],
		[
			"account",
			`${caller.account}, owner ${aws.owner ?? caller.name}${aws.profile === null ? "" : `, profile ${aws.profile}`}`,
		],
		["ssh", `open to ${address.cidr} alone${address.asked ? tell("seen-by-aws") : ""}`],
		["network", networkText(several.flatMap(({ broker, client }) => [broker, client]))],
		["pulumi", pulumi],
		["end", end],
		// The caller shows the sum, with the period that it covers or why it is not known.
		...price.parts.map(({ what, hourlyUsd }, i): [string, string] => [
			i === 0 ? "prices" : "",
			`${dollars(hourlyUsd)} an hour: ${what}`,
		]),
		...others.flatMap(({ broker, client, price: { hourlyUsd } }) =>
			hourlyUsd === null
				? []
				: [
						[
							"",
							tell("price-of-others", {
								usd: dollars(hourlyUsd),
								types: distinct([broker, client]).map(({ name }) => name),
							}),
						] as [string, string],
					],
		),
	];
	return rows.map(([name, text]) => `${name.padEnd(9)}${text}`);
}

/** About the command pulumi: where it is, or that mqbench is going to ask about it. */
function pulumiText(found: FoundPulumi): string {
	const { program, version, wanted, reason, archive } = found;
	if (program !== null) return `${version}, ${program}`;
	return archive.sha256 === null
		? tell("pulumi-yours", { wanted, reason, archive: archive.name })
		: tell("pulumi-offered", { wanted, reason });
}

/** What ends the machines, in most cases and in all others. */
function endText({ ttlNs }: Aws, { plannedNs, rigFile }: OfferAsked): string {
	const latest = `at the latest ${formatDurationExact(ttlNs)} after they started`;
	if (plannedNs !== null) return tell("ends-after-run", { latest });
	return rigFile == null
		? tell("ends-after-down", { latest })
		: `stay until mqbench down ${rigFile}; by themselves they end ${latest}`;
}

function machineText({ name, vcpus, memoryMiB }: MachineType): string {
	return `${name} (${vcpus} vCPUs, ${Number((memoryMiB / 1024).toPrecision(3))} GiB)`;
}

function diskText({ brokers: { volume } }: Aws, { nvmeGB }: MachineType) {
	if (volume === null) return `NVMe of ${nvmeGB} GB`;
	const { type, sizeGiB, iops, throughputMiBps } = volume;
	return [
		`${type} volume of ${sizeGiB} GiB`,
		...(iops === null ? [] : [`${iops} IOPS`]),
		...(throughputMiBps === null ? [] : [`${throughputMiBps} MiB/s`]),
	].join(", ");
}

function imageText({ ami }: Aws, { name, architecture }: Image): string {
	return `${ami === null ? "Debian 12" : "the scenario's"}, ${name}, ${architecture}`;
}

function networkText(all: readonly (MachineType | null)[]) {
	const types = [
		...new Map(all.flatMap((type) => (type === null ? [] : [[type.name, type]]))).values(),
	];
	return types
		.map(({ name, network }) =>
			network.baselineGbps === null
				? `${name} not known (${network.words})`
				: `${name} ${gbps(network.baselineGbps)} always${network.peakGbps !== null && network.peakGbps > network.baselineGbps ? `, up to ${gbps(network.peakGbps)} for minutes` : ""}`,
		)
		.join("; ");
}
