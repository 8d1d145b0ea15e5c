import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AwsConfig, parseConfig } from "./config.ts";
import { SMALL, WIDE } from "./pulumi.fake.ts";

const names: string[] = JSON.parse(
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

const CIDR = "callerCidr must be one address, such as 203.0.113.7/32";
const KEY = `publicKey must look like "ssh-ed25519 AAAA... name" (a file that ends in .pub)`;
const volume = (parts: object) => ({
	brokers: { ...SMALL.brokers, volume: { ...DISK, ...parts } },
});
const DISK = { sizeGiB: 1, iops: null, throughputMiBps: null };
const system = (broker: string, nodes = 1) => ({ systems: [{ system: "a", broker, nodes }] });

/** Without ", got ...", which is the value of the one key. */
test.each<[object, string]>([
	[{ callerCidr: "203.0.113.0/24" }, CIDR],
	[{ callerCidr: "0.0.0.0/0" }, CIDR],
	[{ callerCidr: "me" }, "callerCidr must look like 203.0.113.7/32"],
	[{ ttlMinutes: 5 }, "ttlMinutes must be at least 10"],
	[{ ttlMinutes: 100_000 }, "ttlMinutes must be at most 10080"],
	[{ ttlMinutes: "2h" }, "ttlMinutes must be a number"],
	[{ expiresAt: "tomorrow" }, "expiresAt must look like 2026-11-20T12:00:00Z"],
	[{ region: "eu-central-1b" }, "region must look like eu-central-1"],
	[{ id: "a b" }, 'id must look like "nightly-1" (letters, digits, - _ and dots, at most 63)'],
	[{ ami: "debian-12" }, "ami must look like ami-0123456789abcdef0"],
	[{ publicKey: "ssh-rsa AAAA" }, KEY],
])("%j is told in one sentence", (change, sentence) => {
	const [got] = Object.values(change);
	expect(wrong({ ...SMALL, ...change })).toEqual([
		`mqbench:rig: ${sentence}, got ${JSON.stringify(got)}`,
	]);
});

test.each<[object, string]>([
	[{ owner: "" }, "owner is empty; write a text"],
	[{ clients: { ...SMALL.clients, count: 0 } }, "clients.count must be at least 1, got 0"],
	[volume({ type: "st1" }), 'brokers.volume.type must be "gp3" or "io2", got "st1"'],
	[volume({ type: "io2" }), "brokers.volume.iops is missing; an io2 volume has no default"],
	[
		volume({ type: "io2", iops: 100, throughputMiBps: 500 }),
		"brokers.volume.throughputMiBps is for gp3 alone; write null for an io2 volume",
	],
	[system("kafka", 3), "systems[0].nodes is 3 and brokers.count 1; write a count of at least 3"],
	[
		{ systems: [...SMALL.systems, ...SMALL.systems] },
		'systems[1].system is "nats" twice; give each system its own name',
	],
	[
		system("noop"),
		`systems[0].broker must be ${names.map((one) => `"${one}"`).join(" or ")}, got "noop"`,
	],
	[system("my broker"), 'systems[0].broker must look like a broker\'s name, got "my broker"'],
	[
		{ packages: ["redis; rm -rf /"] },
		'packages[0] must look like a Debian package\'s name, got "redis; rm -rf /"',
	],
	[{ colour: 1 }, "there is no colour; remove it"],
	[{ zone: undefined }, "zone is missing; write a text"],
])("%j is told: %s", (change, sentence) => {
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
