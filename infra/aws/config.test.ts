import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AwsConfig, parseConfig } from "./config.ts";
import { SMALL, WIDE } from "./pulumi.fake.ts";

const rooms: string[] = JSON.parse(
	readFileSync(new URL("../rig.schema.json", import.meta.url), "utf8"),
).properties.brokers.items.properties.broker.enum;

const wrong = (value: unknown) => {
	const parsed = parseConfig(value);
	return "wrong" in parsed ? parsed.wrong : [];
};

test("a right configuration comes back as it is", () => {
	expect(parseConfig(SMALL)).toEqual({ config: SMALL });
	expect(parseConfig(WIDE)).toEqual({ config: WIDE });
});

test("what need not be said has a default", () => {
	const { profile, user, packages, endpoint, ...said } = {
		...SMALL,
		brokers: { instance: "i4i.xlarge", count: 1 },
	};
	expect(parseConfig(said)).toEqual({
		config: {
			...said,
			brokers: { ...said.brokers, volume: null },
			profile: null,
			user: "admin",
			packages: [],
			endpoint: null,
		},
	});
});

test("a time without quotes is the same: Pulumi reads YAML's times, and prints them as Go does", () => {
	for (const [printed, expiresAt] of [
		["2026-11-20 12:00:00 +0000 UTC", "2026-11-20T12:00:00Z"],
		["2026-11-20 12:00:00.25 +0000 UTC", "2026-11-20T12:00:00.25Z"],
	])
		expect(parseConfig({ ...SMALL, expiresAt: printed })).toEqual({
			config: { ...SMALL, expiresAt },
		});
});

test.each<[string, object, string]>([
	[
		"a range of addresses for SSH",
		{ callerCidr: "203.0.113.0/24" },
		'callerCidr must be one address, such as 203.0.113.7/32, got "203.0.113.0/24"',
	],
	[
		"the whole internet for SSH",
		{ callerCidr: "0.0.0.0/0" },
		'callerCidr must be one address, such as 203.0.113.7/32, got "0.0.0.0/0"',
	],
	[
		"no network for SSH",
		{ callerCidr: "me" },
		'callerCidr must look like 203.0.113.7/32, got "me"',
	],
	["machines that live too short", { ttlMinutes: 5 }, "ttlMinutes must be at least 10, got 5"],
	[
		"machines that live too long",
		{ ttlMinutes: 100_000 },
		"ttlMinutes must be at most 10080, got 100000",
	],
	["machines that live for a text", { ttlMinutes: "2h" }, 'ttlMinutes must be a number, got "2h"'],
	[
		"no end",
		{ expiresAt: "tomorrow" },
		'expiresAt must look like 2026-11-20T12:00:00Z, got "tomorrow"',
	],
	["no owner", { owner: "" }, "owner is empty; write a text"],
	[
		"a region that is a zone",
		{ region: "eu-central-1b" },
		'region must look like eu-central-1, got "eu-central-1b"',
	],
	[
		"a name that is no name",
		{ id: "a b" },
		'id must look like "nightly-1" (letters, digits, - _ and dots, at most 63), got "a b"',
	],
	[
		"an image that is none",
		{ ami: "debian-12" },
		'ami must look like ami-0123456789abcdef0, got "debian-12"',
	],
	[
		"a key of another kind",
		{ publicKey: "ssh-rsa AAAA" },
		'publicKey must look like "ssh-ed25519 AAAA... name" (a file that ends in .pub), got "ssh-rsa AAAA"',
	],
	[
		"no client",
		{ clients: { ...SMALL.clients, count: 0 } },
		"clients.count must be at least 1, got 0",
	],
	[
		"a volume of a kind that is too slow",
		{
			brokers: {
				...SMALL.brokers,
				volume: { type: "st1", sizeGiB: 1, iops: null, throughputMiBps: null },
			},
		},
		'brokers.volume.type must be "gp3" or "io2", got "st1"',
	],
	[
		"io2 without its IOPS",
		{
			brokers: {
				...SMALL.brokers,
				volume: { type: "io2", sizeGiB: 1, iops: null, throughputMiBps: null },
			},
		},
		"brokers.volume.iops is missing; an io2 volume has no default",
	],
	[
		"io2 with a throughput",
		{
			brokers: {
				...SMALL.brokers,
				volume: { type: "io2", sizeGiB: 1, iops: 100, throughputMiBps: 500 },
			},
		},
		"brokers.volume.throughputMiBps is for gp3 alone; write null for an io2 volume",
	],
	[
		"more nodes than machines",
		{ systems: [{ system: "kafka", broker: "kafka", nodes: 3 }] },
		"systems[0].nodes is 3 and brokers.count 1; write a count of at least 3",
	],
	[
		"a name twice",
		{ systems: [...SMALL.systems, ...SMALL.systems] },
		'systems[1].system is "nats" twice; give each system its own name',
	],
	[
		"a broker that is none",
		{ systems: [{ system: "a", broker: "noop", nodes: 1 }] },
		`systems[0].broker must be ${rooms.map((one) => `"${one}"`).join(" or ")}, got "noop"`,
	],
	[
		"a broker whose name is no name",
		{ systems: [{ system: "a", broker: "my broker", nodes: 1 }] },
		'systems[0].broker must look like a broker\'s name, got "my broker"',
	],
	[
		"a package that is a command",
		{ packages: ["redis; rm -rf /"] },
		'packages[0] must look like a Debian package\'s name, got "redis; rm -rf /"',
	],
	["a key too many", { colour: 1 }, "there is no colour; remove it"],
	["a key too few", { zone: undefined }, "zone is missing; write a text"],
])("%s is told in one sentence", (_, change, sentence) => {
	expect(wrong({ ...SMALL, ...change })).toEqual([`mqbench:rig: ${sentence}`]);
});

test("all that is wrong is told at once, a sentence each", () => {
	expect(wrong({ ...SMALL, ttlMinutes: 1, ami: "x", owner: 5 })).toHaveLength(3);
	expect(wrong("text")).toEqual(['mqbench:rig: it must be a map, got "text"']);
	expect(wrong(undefined)).toEqual([
		"mqbench:rig is missing in the stack's configuration; README.md shows one",
	]);
});

test("every rule of the configuration has a sentence of its own", () => {
	// zod's own words begin with "Invalid" or "Too": they tell nobody what to do.
	for (const key of Object.keys(AwsConfig.shape))
		for (const value of ["", 0, -1, null, [], {}, "?", true])
			for (const sentence of wrong({ ...SMALL, [key]: value }))
				expect(sentence).not.toMatch(/Invalid|Too |expected|undefined/);
});
