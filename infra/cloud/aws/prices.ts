import type { AwsVolume } from "../../../runner/scenario/scenario.ts";
import { ROOT_DISK } from "../../aws/config.ts";
import { type Api, allPages, Refused } from "./api.ts";
import type { Image } from "./image.ts";

/** What is rented, with the details that affect the price. */
export interface Rented {
	readonly zone: string;
	readonly brokers: {
		readonly instance: string;
		readonly count: number;
		readonly volume: AwsVolume | null;
	};
	readonly clients: { readonly instance: string; readonly count: number; readonly spot: boolean };
	readonly image: Image;
}

/** The price of an hour. Every figure comes from AWS's price list or, for spot, from the current market. */
export interface Price {
	/** null: a part of it is not known. */
	readonly hourlyUsd: number | null;
	/** Why `hourlyUsd` is null, as the end of a sentence; otherwise null. */
	readonly unpriced: string | null;
	readonly parts: readonly PricePart[];
}

export interface PricePart {
	/** For people: "3 x i4i.xlarge". */
	readonly what: string;
	readonly hourlyUsd: number;
}

/** AWS counts 30 days as a month of volumes. */
export const HOURS_A_MONTH = 720;

/**
 * Asks for the prices of machines (Linux, on demand or spot), volumes, root disks and public addresses. Internet traffic (reports, programs)
 * is not included. Never throws a `Refused`: what cannot be asked has no price.
 */
export async function priceOf(api: Api, rented: Rented): Promise<Price> {
	const { brokers, clients, image } = rented;
	const count = brokers.count + clients.count;
	const wanted: [what: string, count: number, ask: () => Promise<number>][] = [
		[brokers.instance, brokers.count, () => onDemand(api, brokers.instance)],
		[
			clients.spot ? `${clients.instance} (spot)` : clients.instance,
			clients.count,
			() =>
				clients.spot ? spot(api, clients.instance, rented.zone) : onDemand(api, clients.instance),
		],
		[
			volumeName(brokers.volume),
			brokers.volume === null ? 0 : brokers.count,
			() => volumeHour(api, brokers.volume as AwsVolume),
		],
		[
			`${ROOT_DISK.sizeGiB} GiB ${ROOT_DISK.type} to start from`,
			count,
			() => volumeHour(api, { ...ROOT_DISK, iops: null, throughputMiBps: null }),
		],
		["public IPv4 address", count, () => addressHour(api)],
	];
	const asked = await Promise.all(
		wanted
			.filter(([, times]) => times > 0)
			.map(async ([what, times, ask]) => {
				try {
					return { what: `${times} x ${what}`, hourlyUsd: times * (await ask()) };
				} catch (error) {
					if (error instanceof Refused) return { reason: whyNot(error) };
					if (error instanceof Unknown) return { reason: error.message };
					throw error;
				}
			}),
	);
	const parts = asked.filter((one) => one.what !== undefined);
	const reasons = [
		...new Set(asked.flatMap((one) => one.reason ?? [])),
		...(image.free
			? []
			: [`the image ${image.id} costs extra, and its price is not in the list of Linux`]),
	];
	return reasons.length === 0
		? { hourlyUsd: parts.reduce((sum, part) => sum + part.hourlyUsd, 0), unpriced: null, parts }
		: { hourlyUsd: null, unpriced: reasons.join("; "), parts };
}

/** One product of the price list, as AWS returns it. */
interface Product {
	readonly product: { readonly attributes: Readonly<Record<string, string>> };
	readonly terms: {
		readonly OnDemand?: Readonly<
			Record<string, { priceDimensions: Readonly<Record<string, Dimension>> }>
		>;
	};
}

interface Dimension {
	readonly unit: string;
	/** "0", and "Inf". */
	readonly beginRange?: string;
	readonly endRange?: string;
	readonly pricePerUnit: Readonly<Record<string, string>>;
}

// --- internal ---

/** The list has no such figure: why. */
class Unknown extends Error {}

async function onDemand(api: Api, instance: string): Promise<number> {
	const listed = await products(api, "AmazonEC2", {
		instanceType: instance,
		operatingSystem: "Linux",
		tenancy: "Shared",
		preInstalledSw: "NA",
		capacitystatus: "Used",
		marketoption: "OnDemand",
	});
	return charge(onlyOne(listed, instance), ["hrs"], 1, instance);
}

async function spot(api: Api, instance: string, zone: string): Promise<number> {
	const { SpotPriceHistory = [] } = await api.ec2.describeSpotPriceHistory({
		InstanceTypes: [instance as never],
		AvailabilityZone: zone,
		ProductDescriptions: ["Linux/UNIX"],
		// From now on: AWS returns the price that is valid now.
		StartTime: new Date(),
	});
	const newest = SpotPriceHistory.sort(
		(a, b) => (a.Timestamp?.getTime() ?? 0) - (b.Timestamp?.getTime() ?? 0),
	).at(-1);
	const price = Number(newest?.SpotPrice);
	if (!(price > 0)) throw new Unknown(`the spot market has no price of ${instance} in ${zone}`);
	return price;
}

/** gp3 includes these (https://aws.amazon.com/ebs/pricing): only what exceeds them costs extra. */
const GP3_FREE = { iops: 3_000, throughputMiBps: 125 };

/** Where one price step of io2's IOPS ends, and the name of the next (https://aws.amazon.com/ebs/pricing). */
const IO2_TIERS = [
	{ upTo: 32_000, name: "EBS:VolumeP-IOPS.io2" },
	{ upTo: 64_000, name: "EBS:VolumeP-IOPS.io2.tier2" },
	{ upTo: Number.POSITIVE_INFINITY, name: "EBS:VolumeP-IOPS.io2.tier3" },
];

async function volumeHour(api: Api, volume: AwsVolume): Promise<number> {
	const { type, sizeGiB, iops, throughputMiBps } = volume;
	const listed = await products(api, "AmazonEC2", { volumeApiName: type });
	const month = (name: string, quantity: number, units: readonly string[]) =>
		quantity <= 0 ? 0 : charge(named(listed, name), units, quantity, name);
	let total = month(`EBS:VolumeUsage.${type}`, sizeGiB, GB_MONTH);
	if (type === "gp3") {
		total += month("EBS:VolumeP-IOPS.gp3", (iops ?? 0) - GP3_FREE.iops, IOPS_MONTH);
		total += throughputMonth(listed, (throughputMiBps ?? 0) - GP3_FREE.throughputMiBps);
	} else {
		if (iops === null)
			throw new Unknown("the price of an io2 volume depends on iops, and the scenario names none");
		let below = 0;
		for (const { upTo, name } of IO2_TIERS) {
			total += month(name, Math.min(iops, upTo) - below, IOPS_MONTH);
			below = upTo;
		}
	}
	return total / HOURS_A_MONTH;
}

const GB_MONTH = ["gb-mo", "gb-month"];
const IOPS_MONTH = ["iops-mo", "iops-month"];

/** The list counts in GiB/s. */
function throughputMonth(listed: readonly Product[], above: number): number {
	if (above <= 0) return 0;
	const name = "EBS:VolumeP-Throughput.gp3";
	const product = named(listed, name);
	const unit = dimensions(product)[0]?.unit.toLowerCase() ?? "";
	return charge(
		product,
		["gibps-mo", "mibps-mo"],
		unit === "gibps-mo" ? above / 1024 : above,
		name,
	);
}

async function addressHour(api: Api): Promise<number> {
	const name = "PublicIPv4:InUseAddress";
	const listed = await products(api, "AmazonVPC", {});
	return charge(named(listed, name), ["hrs", "hours"], 1, name);
}

async function products(
	api: Api,
	service: string,
	fields: Readonly<Record<string, string>>,
): Promise<Product[]> {
	const pages = await allPages((token) =>
		api.pricing.getProducts({
			...token,
			ServiceCode: service,
			FormatVersion: "aws_v1",
			Filters: Object.entries({ regionCode: api.region, ...fields }).map(([Field, Value]) => ({
				Type: "TERM_MATCH" as const,
				Field,
				Value,
			})),
		}),
	);
	return pages
		.flatMap(({ PriceList = [] }) => PriceList)
		.map((text) => JSON.parse(String(text)) as Product);
}

/** The product of a kind of usage. Most regions put a prefix in front: "EUC1-EBS:VolumeUsage.gp3". */
function named(listed: readonly Product[], usage: string): Product {
	return onlyOne(
		listed.filter(
			({ product }) => product.attributes.usagetype?.replace(/^[A-Z0-9]+-/, "") === usage,
		),
		usage,
	);
}

function onlyOne(listed: readonly Product[], what: string): Product {
	const [product] = listed;
	if (product === undefined) throw new Unknown(`the price list has no entry for ${what}`);
	if (listed.length > 1)
		throw new Unknown(`the price list has ${listed.length} entries for ${what}`);
	return product;
}

function dimensions({ terms }: Product): Dimension[] {
	return Object.values(terms.OnDemand ?? {}).flatMap(({ priceDimensions }) =>
		Object.values(priceDimensions),
	);
}

/** The price of a number of units, step by step if the price depends on it. */
function charge(
	product: Product,
	units: readonly string[],
	quantity: number,
	what: string,
): number {
	const steps = dimensions(product);
	if (steps.length === 0) throw new Unknown(`the price list has no price on demand for ${what}`);
	return steps.reduce((sum, step) => {
		if (!units.includes(step.unit.toLowerCase()))
			throw new Unknown(
				`the price list counts ${what} in ${step.unit}, which this version does not know`,
			);
		const price = Number(step.pricePerUnit.USD);
		if (step.pricePerUnit.USD === undefined || !Number.isFinite(price))
			throw new Unknown(`the price list has no price in USD for ${what}`);
		const from = Number(step.beginRange ?? 0);
		const to =
			(step.endRange ?? "Inf") === "Inf" ? Number.POSITIVE_INFINITY : Number(step.endRange);
		return sum + Math.max(0, Math.min(quantity, to) - from) * price;
	}, 0);
}

function whyNot({ call, code, message, forbidden }: Refused): string {
	return forbidden ? `you may not call ${call}` : `${call} failed (${code}: ${message})`;
}

function volumeName(volume: AwsVolume | null): string {
	if (volume === null) return "";
	const { type, sizeGiB, iops, throughputMiBps } = volume;
	return [
		`${sizeGiB} GiB ${type}`,
		...(iops === null ? [] : [`${iops} IOPS`]),
		...(throughputMiBps === null ? [] : [`${throughputMiBps} MiB/s`]),
	].join(", ");
}
