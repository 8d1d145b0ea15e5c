import { expect, test } from "vitest";
import { priceOf } from "./prices.ts";

const clients = (instance: string, count = 1) => ({ instance, count, spot: false });
const brokers = (instance: string, count: number, volume: object | null = null) =>
	({ instance, count, volume }) as Parameters<typeof priceOf>[0]["brokers"];
const gp3 = { type: "gp3", sizeGiB: 100, iops: null, throughputMiBps: null };

/** Of each machine: 16 GiB of gp3 to start from (0.08 a month of 720 hours), and an address. */
const EACH = (16 * 0.08) / 720 + 0.005;

test.each([
	["machines on their own NVMe", brokers("i4i.xlarge", 3), 3 * 0.343 + 2 * 0.2268 + 5 * EACH],
	["no brokers", brokers("i4i.xlarge", 0), 2 * 0.2268 + 2 * EACH],
	["other sizes, in proportion", brokers("i3en.4xlarge", 1), 4 * 0.452 + 2 * 0.2268 + 3 * EACH],
	[
		"gp3 with what is free",
		brokers("m6in.xlarge", 1, gp3),
		0.27846 + (100 * 0.08) / 720 + 2 * 0.2268 + 3 * EACH,
	],
	[
		"gp3 with more IOPS and MiB/s",
		brokers("m7i.2xlarge", 2, { ...gp3, iops: 6000, throughputMiBps: 250 }),
		2 * (0.4032 + (100 * 0.08 + 3000 * 0.005 + 125 * 0.04) / 720) + 2 * 0.2268 + 4 * EACH,
	],
	[
		"io2, all of whose IOPS cost",
		brokers("m6i.large", 1, { ...gp3, type: "io2", iops: 10_000 }),
		0.096 + (100 * 0.125 + 10_000 * 0.065) / 720 + 2 * 0.2268 + 3 * EACH,
	],
])("an hour of %s", (_, of, usd) => {
	const { hourlyUsd, unpriced } = priceOf({ brokers: of, clients: clients("c6in.xlarge", 2) });
	expect(unpriced).toBe(null);
	expect(hourlyUsd).toBeCloseTo(usd, 9);
});

test("a type that is not in the table has no price", () => {
	expect(priceOf({ brokers: brokers("i4i.metal", 1), clients: clients("u-6tb1.large") })).toEqual({
		hourlyUsd: null,
		unpriced: "mqbench's table of prices has no i4i.metal and no u-6tb1.large",
	});
});
