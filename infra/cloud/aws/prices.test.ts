import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { fakeWorld } from "../../../runner/world.fake.ts";
import { type Api, openApi } from "./api.ts";
import {
	type Emulator,
	machinePrice,
	type PriceProduct,
	pricesOf,
	startStandIn,
	volumePrice,
} from "./emulator.fake.ts";
import type { Image } from "./image.ts";
import { type Price, priceOf, type Rented } from "./prices.ts";

// moto has no price list: a stand-in answers in the form of AWS's, with prices made up for easy sums.
let aws: Emulator;
let api: Api;
beforeAll(async () => {
	aws = await startStandIn();
	api = await openApi(
		{ region: "eu-central-1", profile: null },
		fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: aws.endpoint } }),
	);
});
afterAll(() => aws.close());
beforeEach(() => {
	aws.account.products = PRODUCTS;
	aws.account.spot = new Map([["c6in.xlarge", "0.1"]]);
	aws.account.denied.clear();
	aws.account.broken.clear();
	aws.calls.length = 0;
});

const IMAGE: Image = { id: "ami-1", name: "debian-12", free: true, runsUserData: true };

function price(parts: {
	brokers?: Partial<Rented["brokers"]>;
	clients?: Partial<Rented["clients"]>;
	image?: Partial<Image>;
}): Promise<Price> {
	return priceOf(api, {
		zone: "eu-central-1a",
		brokers: { instance: "i4i.xlarge", count: 3, volume: null, ...parts.brokers },
		clients: { instance: "c6in.xlarge", count: 2, spot: false, ...parts.clients },
		image: { ...IMAGE, ...parts.image },
	});
}

const parts = ({ parts }: Price) =>
	Object.fromEntries(parts.map(({ what, hourlyUsd }) => [what, Number(hourlyUsd.toFixed(9))]));

/** 16 GiB of 0.09 a month, of 720 hours: 0.002 an hour for each machine. */
const DISK = 0.002;

test("machines of the spot market cost what the market says", async () => {
	const found = await price({ clients: { spot: true } });
	expect(parts(found)).toMatchObject({ "2 x c6in.xlarge (spot)": 0.2 });
	// 1.2 + 0.2 + 0.01 + 0.025.
	expect(found.hourlyUsd).toBeCloseTo(1.435, 9);
});

test("of a gp3 volume 3000 IOPS and 125 MiB/s are free, and GiB/s are counted in 1024", async () => {
	const found = await price({
		brokers: { volume: { type: "gp3", sizeGiB: 100, iops: 6_000, throughputMiBps: 253 } },
	});
	// (100 x 0.09 + 3000 x 0.006 + 128/1024 x 57.6) / 720 = (9 + 18 + 7.2) / 720 = 0.0475 each.
	expect(parts(found)).toMatchObject({ "3 x 100 GiB gp3, 6000 IOPS, 253 MiB/s": 0.1425 });
	expect(found.hourlyUsd).toBeCloseTo(1.735 + 0.1425, 9);
});

test("a gp3 volume within what is free costs its size alone", async () => {
	const found = await price({
		brokers: { volume: { type: "gp3", sizeGiB: 200, iops: 3_000, throughputMiBps: 125 } },
	});
	// 3 x 200 x 0.09 / 720.
	expect(parts(found)["3 x 200 GiB gp3, 3000 IOPS, 125 MiB/s"]).toBeCloseTo(0.075, 9);
});

test("the IOPS of an io2 volume cost less in steps", async () => {
	const found = await price({
		brokers: { volume: { type: "io2", sizeGiB: 1_000, iops: 70_000, throughputMiBps: null } },
	});
	// (1000 x 0.144 + 32000 x 0.072 + 32000 x 0.036 + 6000 x 0.018) / 720 = (144 + 2304 + 1152 + 108) / 720 = 5.15 each.
	expect(parts(found)).toMatchObject({ "3 x 1000 GiB io2, 70000 IOPS": 15.45 });
});

test("a price in steps of its own is followed", async () => {
	aws.account.products = PRODUCTS.map((product) =>
		product.attributes.usagetype === "EUC1-EBS:VolumeUsage.gp3"
			? {
					...product,
					steps: [
						{ unit: "GB-Mo", usd: "0.90", from: "0", to: "10" },
						{ unit: "GB-Mo", usd: "0.45", from: "10", to: "Inf" },
					],
				}
			: product,
	);
	// (10 x 0.90 + 6 x 0.45) / 720 = 0.01625 each.
	expect(parts(await price({}))).toMatchObject({ "5 x 16 GiB gp3 to start from": 0.08125 });
});

test("the oldest region has no word of its own before the kind of usage", async () => {
	aws.account.products = PRODUCTS.map((product) => ({
		...product,
		attributes: {
			...product.attributes,
			usagetype: product.attributes.usagetype?.replace("EUC1-", "") ?? "",
		},
	}));
	expect((await price({})).hourlyUsd).toBeCloseTo(1.735, 9);
});

test("no brokers cost nothing", async () => {
	const found = await price({ brokers: { count: 0 } });
	expect(Object.keys(parts(found))).toEqual([
		"2 x c6in.xlarge",
		"2 x 16 GiB gp3 to start from",
		"2 x public IPv4 address",
	]);
	expect(found.hourlyUsd).toBeCloseTo(0.5 + 2 * DISK + 0.01, 9);
});

test.each<[string, () => void, Parameters<typeof price>[0], string]>([
	[
		"without permission",
		() => aws.account.denied.add("pricing:GetProducts"),
		{},
		"you may not call pricing:GetProducts",
	],
	[
		"when AWS fails",
		() => aws.account.broken.set("pricing:GetProducts", "NotFoundException"),
		{},
		"pricing:GetProducts failed (NotFoundException: as the test wants)",
	],
	[
		"of a type that is not in the list",
		() => {},
		{ brokers: { instance: "i9.xlarge" } },
		"the price list has no entry for i9.xlarge",
	],
	[
		"of several things that are not in the list",
		() => {
			aws.account.products = [];
		},
		{ clients: { count: 0 } },
		["i4i.xlarge", "EBS:VolumeUsage.gp3", "PublicIPv4:InUseAddress"]
			.map((what) => `the price list has no entry for ${what}`)
			.join("; "),
	],
	[
		"with two answers",
		() => {
			aws.account.products = [...PRODUCTS, ...PRODUCTS.slice(0, 1)];
		},
		{},
		"the price list has 2 entries for i4i.xlarge",
	],
	[
		"in a unit that is new",
		() => {
			aws.account.products = PRODUCTS.map((product) => ({
				...product,
				steps: product.steps.map((step) => ({
					...step,
					unit: step.unit === "Hrs" ? "Days" : step.unit,
				})),
			}));
		},
		{ brokers: { count: 0 } },
		"the price list counts c6in.xlarge in Days, which this version does not know; the price list counts PublicIPv4:InUseAddress in Days, which this version does not know",
	],
	[
		"where the market is empty",
		() => aws.account.spot.clear(),
		{ clients: { spot: true } },
		"the spot market has no price of c6in.xlarge in eu-central-1a",
	],
	[
		"of an image that is sold",
		() => {},
		{ image: { free: false } },
		"the image ami-1 costs extra, and its price is not in the list of Linux",
	],
])("%s there is no price, and it says why", async (_, change, asked, why) => {
	change();
	const found = await price(asked);
	expect(found.hourlyUsd).toBeNull();
	expect(found.unpriced).toBe(why);
});

const PRODUCTS: PriceProduct[] = [
	...pricesOf({ "i4i.xlarge": "0.4000000000", "c6in.xlarge": "0.2500000000" }),
	// Neither Windows nor another region is taken.
	machinePrice("i4i.xlarge", "9", { operatingSystem: "Windows" }),
	machinePrice("i4i.xlarge", "8", { regionCode: "us-east-1" }),
	volumePrice("gp3", "VolumeP-IOPS.gp3", "IOPS-Mo", "0.0060000000"),
	volumePrice("gp3", "VolumeP-Throughput.gp3", "GiBps-mo", "57.6000000000"),
	volumePrice("io2", "VolumeUsage.io2", "GB-month", "0.1440000000"),
	volumePrice("io2", "VolumeP-IOPS.io2", "IOPS-Mo", "0.0720000000"),
	volumePrice("io2", "VolumeP-IOPS.io2.tier2", "IOPS-Mo", "0.0360000000"),
	volumePrice("io2", "VolumeP-IOPS.io2.tier3", "IOPS-Mo", "0.0180000000"),
	{
		service: "AmazonVPC",
		attributes: { regionCode: "eu-central-1", usagetype: "EUC1-PublicIPv4:IdleAddress" },
		steps: [{ unit: "Hrs", usd: "7" }],
	},
];
