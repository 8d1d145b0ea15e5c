import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { RigFile, type RigFileInput } from "../../runner/scenario/rig-file.ts";
import { testFolder } from "../test-folder.fake.ts";
import type { AwsConfig } from "./config.ts";

/** One broker's machine and one client's. */
const SMALL: AwsConfig = {
	id: "small",
	owner: "kim",
	version: "0.1.0",
	expiresAt: "2026-11-20T12:00:00Z",
	ttlMinutes: 120,
	region: "eu-central-1",
	zone: "eu-central-1b",
	profile: null,
	account: "123456789012",
	callerCidr: "203.0.113.7/32",
	publicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFake small",
	identity: "id_ed25519",
	hostKey: null,
	knownHosts: "known_hosts",
	ami: "ami-0123456789abcdef0",
	user: "admin",
	brokers: { instance: "i4i.xlarge", count: 1, volume: null },
	clients: { instance: "c6in.xlarge", count: 1, spot: false },
	systems: [{ system: "nats", broker: "nats", nodes: 1 }],
	packages: [],
	endpoint: null,
};

/** Three machines with volumes for systems of three and of one node, and two cheap clients. */
const WIDE: AwsConfig = {
	...SMALL,
	id: "wide",
	ttlMinutes: 45,
	profile: "bench",
	brokers: {
		instance: "m6i.2xlarge",
		count: 3,
		volume: { type: "gp3", sizeGiB: 100, iops: 6_000, throughputMiBps: null },
	},
	clients: { instance: "c6in.2xlarge", count: 2, spot: true },
	systems: [
		{ system: "kafka", broker: "kafka", nodes: 3 },
		{ system: "redis", broker: "redis", nodes: 1 },
	],
	packages: ["default-jre-headless", "redis-server"],
};

// What the owner of the account may count on, whatever a scenario asks for.
describe.each([
	["one broker and one client", SMALL],
	["three brokers with volumes, two cheap clients", WIDE],
])("%s", (_, config: AwsConfig) => {
	let rig: Awaited<ReturnType<typeof standUp>>;
	beforeAll(async () => {
		// The first one loads Pulumi.
		rig = await standUp(config);
	}, 180_000);

	test("no port is open to the internet: SSH is for the caller's address, and everything for the machines among themselves", () => {
		const group = rig.only("SecurityGroup");
		const description = expect.any(String);
		const ssh = { protocol: "tcp", fromPort: 22, toPort: 22, cidrBlocks: [config.callerCidr] };
		expect(group.inputs.ingress).toEqual([
			{ protocol: "-1", fromPort: 0, toPort: 0, self: true, description },
			{ ...ssh, description },
		]);
		// No rule is beside the group's own, and no machine in another group.
		expect(rig.asked.filter(({ type }) => /Rule$|DefaultSecurity|Acl/.test(type))).toEqual([]);
		for (const { inputs } of rig.machines())
			expect(inputs.vpcSecurityGroupIds).toEqual([`${group.name}-id`]);
	});

	test("everything is made in the account, region and profile that were named, and AWS is not asked for half an hour", () => {
		const { name, inputs } = rig.only("aws");
		expect(json(inputs.allowedAccountIds)).toEqual([config.account]);
		expect(inputs.region).toBe(config.region);
		expect(inputs.profile).toBe(config.profile ?? undefined);
		expect(json(inputs.maxRetries)).toBe(6);
		// What is for an emulator is not for AWS.
		expect(json(inputs.skipCredentialsValidation)).toBe(false);
		for (const key of Object.keys(inputs))
			expect(key).not.toMatch(/^(endpoints|accessKey|secretKey|token|skip(Metadata|Requesting))/);
		for (const one of rig.asked.filter(({ type }) => type.startsWith("aws:")))
			expect(one.provider, one.name).toBe(name);
	});

	test("everything carries run, owner, expiry and version", () => {
		const tags = {
			"mqbench:run": config.id,
			"mqbench:owner": config.owner,
			"mqbench:expires": config.expiresAt,
			"mqbench:version": config.version,
		};
		const { tags: all } = json(rig.only("aws").inputs.defaultTags) as { tags: object };
		expect(all).toEqual({ ...tags, Name: `mqbench-${config.id}` });
		for (const { type, name, inputs } of rig.asked) {
			const isMachine = type.endsWith(":Instance");
			// One of its own would come before the provider's.
			expect(inputs.tags, name).toEqual(
				isMachine ? { Name: `mqbench-${config.id}-${name}` } : undefined,
			);
			// Volumes do not take the provider's.
			if (isMachine) expect(inputs.volumeTags).toEqual({ ...tags, ...inputs.tags });
		}
	});

	test("each machine ends itself after its time, with its disks; it tells who it is to itself alone (IMDSv2), and may do nothing in the account", () => {
		for (const { inputs } of rig.machines()) {
			expect(inputs.userData).toMatch(
				new RegExp(`^#!/bin/bash\nshutdown -h \\+${config.ttlMinutes} `),
			);
			expect(inputs).toMatchObject({
				instanceInitiatedShutdownBehavior: "terminate",
				disableApiTermination: false,
				// Its time counts from its first start: another script is for another machine.
				userDataReplaceOnChange: true,
				metadataOptions: { httpTokens: "required", httpPutResponseHopLimit: 1 },
			});
			expect(inputs).not.toHaveProperty("iamInstanceProfile");
			for (const disk of [inputs.rootBlockDevice, ...(inputs.ebsBlockDevices ?? [])])
				expect(disk).toMatchObject({ deleteOnTermination: true, encrypted: true });
		}
		expect(
			[...new Set(rig.asked.map(({ type }) => type.replace(/.*:/, "")))].sort().join(" "),
			"of these only machines cost anything",
		).toBe(
			"Instance InternetGateway KeyPair PlacementGroup RouteTable RouteTableAssociation SecurityGroup Subnet Vpc aws",
		);
	});

	test("there are as many machines as were asked for, close to each other, with the rig's image and key, after the way out", () => {
		expect(rig.only("PlacementGroup").inputs.strategy).toBe("cluster");
		expect(rig.only("Subnet").inputs.availabilityZone).toBe(config.zone);
		expect(rig.only("KeyPair").inputs.publicKey).toBe(config.publicKey);
		for (const role of ["broker", "client"] as const) {
			const { instance, count } = config[`${role}s`];
			expect(rig.machines(role).map(({ inputs }) => inputs)).toEqual(
				Array(count).fill(
					expect.objectContaining({
						instanceType: instance,
						ami: config.ami,
						keyName: "key-1a2b3c4",
						placementGroup: "placement-1a2b3c4",
						subnetId: "subnet-id",
						availabilityZone: config.zone,
						associatePublicIpAddress: true,
					}),
				),
			);
		}
		for (const { name, after } of rig.machines())
			expect(after, name).toEqual(expect.arrayContaining(["association", "gateway", "routes"]));
	});

	test("brokers alone have volumes and packages, and clients alone may be taken away, when that was asked for", () => {
		const disk = { deviceName: "/dev/sdf", encrypted: true, deleteOnTermination: true };
		const gp3 = { volumeType: "gp3", volumeSize: 100, iops: 6_000 };
		for (const { inputs } of rig.machines("broker")) {
			expect(inputs.ebsBlockDevices).toEqual(
				config.brokers.volume ? [{ ...disk, ...gp3 }] : undefined,
			);
			expect(inputs.userData).toContain(`\nvolume=${config.brokers.volume ? "yes" : "no"}\n`);
			for (const name of config.packages) expect(inputs.userData).toContain(`'${name}'`);
			expect(inputs).not.toHaveProperty("instanceMarketOptions");
		}
		const once = { spotInstanceType: "one-time", instanceInterruptionBehavior: "terminate" };
		for (const { inputs } of rig.machines("client")) {
			expect(inputs).not.toHaveProperty("ebsBlockDevices");
			expect(inputs.userData).toContain("\npackages=()\n");
			expect(inputs.instanceMarketOptions).toEqual(
				config.clients.spot ? { marketType: "spot", spotOptions: once } : undefined,
			);
		}
	});
});

test("the output is a rig.json, each system on the first of the brokers' machines, with nothing to hide in it", async () => {
	const { output, hidden } = await standUp(WIDE);
	RigFile.parse(output);
	expect(hidden).toBe(false);
	expect(JSON.stringify(output)).not.toMatch(/PRIVATE KEY|ssh-ed25519|password|secret/i);
	const host = (number: number) => ({
		host: `203.0.113.${number}`,
		user: "admin",
		identity: "id_ed25519",
		knownHosts: "known_hosts",
		hostKeyKnown: false,
		setUp: true,
	});
	const node = (number: number) => ({ ...host(number), address: `10.77.0.${number}` });
	const machine = "m6i.2xlarge";
	expect(output).toEqual({
		version: 1,
		id: "wide",
		target: "aws",
		expiresAt: WIDE.expiresAt,
		brokers: [
			{ system: "kafka", broker: "kafka", hosts: [11, 12, 13].map(node), machine },
			{ system: "redis", broker: "redis", hosts: [node(11)], machine },
		],
		clients: [101, 102].map(host),
		cloud: {
			provider: "aws",
			region: "eu-central-1",
			profile: "bench",
			owner: "kim",
			machines: { "m6i.2xlarge": 3, "c6in.2xlarge": 2 },
		},
		facts: {
			zone: "eu-central-1b",
			ami: WIDE.ami,
			brokers: machine,
			volume: "gp3 100GiB, 6000 IOPS",
			clients: "c6in.2xlarge",
			placementGroup: "placement-1a2b3c4",
		},
	});
});

test("clients alone are a rig, too, and machines of one type are counted together", async () => {
	const brokers = { ...SMALL.brokers, instance: "m6i.large" };
	const clients = { ...SMALL.clients, instance: "m6i.large", count: 2 };
	const alone = { ...SMALL, brokers: { ...brokers, count: 0 }, clients, systems: [] };
	expect((await standUp(alone)).output).toMatchObject({
		brokers: [],
		cloud: { machines: { "m6i.large": 2 } },
		facts: { brokers: null, volume: null },
	});
	const { output } = await standUp({ ...SMALL, brokers: { ...brokers, count: 3 }, clients });
	expect(output.cloud?.machines).toEqual({ "m6i.large": 5 });
});

test("credentials, region and profile of the environment come into no resource and no output", async () => {
	for (const name of ["ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "REGION", "PROFILE"])
		vi.stubEnv(`AWS_${name}`, "canary-1");
	const { asked, output } = await standUp(SMALL);
	vi.unstubAllEnvs();
	expect(JSON.stringify({ asked, output })).not.toMatch(/canary/i);
});

test("machines without a hypervisor get their time to start and to end, in rig.json until SSH, too; no others do", async () => {
	const { machines, output } = await standUp({
		...SMALL,
		brokers: { ...SMALL.brokers, instance: "i4i.metal" },
	});
	expect(machines().map(({ limits }) => limits)).toEqual([
		["40m", "60m"],
		["", ""],
	]);
	expect(output.brokers[0]?.hosts?.[0]?.bootMinutes).toBe(25);
	expect(output.clients?.[0]).not.toHaveProperty("bootMinutes");
});

test("a host key goes to all machines, which still end themselves, as a secret of Pulumi's, and rig.json says that it is known", async () => {
	const hostKey = path.join(testFolder(), "host_ed25519");
	writeFileSync(hostKey, "canary of a private half\n");
	writeFileSync(`${hostKey}.pub`, "ssh-ed25519 AAAA rig\n");
	const { asked, machines, output, hidden } = await standUp({ ...SMALL, hostKey });
	expect(machines()).toHaveLength(2);
	for (const { inputs } of machines()) {
		// Pulumi keeps it encrypted.
		expect(Object.keys(inputs.userData)).toEqual([SECRET, "value"]);
		expect(inputs.userData.value).toContain(
			'"ed25519_private":"canary of a private half\\n","ed25519_public":"ssh-ed25519 AAAA rig"',
		);
		expect(inputs.userData.value).toMatch(/^#!\/bin\/bash\nshutdown -h \+120 /m);
	}
	const others = asked.map(({ inputs: { userData, ...inputs } }) => inputs);
	expect(JSON.stringify({ others, output })).not.toContain("canary");
	expect(hidden).toBe(false);
	const hosts = output.brokers.flatMap(({ hosts }) => hosts ?? []);
	for (const host of [...(output.clients ?? []), ...hosts]) expect(host.hostKeyKnown).toBe(true);
});

/** With a stack, Pulumi takes half a minute to print it. */
test.each([
	[
		"a mistake in the configuration",
		{ ...SMALL, callerCidr: "0.0.0.0/0", ttlMinutes: 5 },
		"mqbench:rig.ttlMinutes: Too small: expected number to be >=10\nmqbench:rig.callerCidr: must look like 203.0.113.7/32: one address\nREADME.md shows one that is right",
	],
	[
		"none",
		undefined,
		"mqbench:rig: Invalid input: expected object, received undefined\nREADME.md shows one that is right",
	],
	[
		"a host key that is not there",
		{ ...SMALL, hostKey: "/nowhere/host_ed25519" },
		`mqbench:rig.hostKey: ENOENT: no such file or directory, open '/nowhere/host_ed25519'; make it: ssh-keygen -t ed25519 -N "" -f /nowhere/host_ed25519`,
	],
])("%s is told in sentences without a stack", async (_, config, message) => {
	await expect(standUp(config)).rejects.toMatchObject({ message, stack: "" });
});

// --- internal ---

/** Of values that Pulumi hides. */
const SECRET = "4dabf18193072939515e22adb298388d";

/** Providers take what is no text as JSON. */
function json(value: unknown): unknown {
	return typeof value === "string" ? JSON.parse(value) : value;
}

interface Asked {
	/** "aws:ec2/instance:Instance". */
	readonly type: string;
	readonly name: string;
	// biome-ignore lint/suspicious/noExplicitAny: each type has its own, and a test says what it expects of them.
	readonly inputs: any;
	/** Name of the provider that makes it; null: the stack's own, which takes its settings from anywhere. */
	readonly provider: string | null;
	/** Names of what has to be there before it. */
	readonly after: readonly string[];
	/** How long it may take to make it and to remove it: "40m"; "": as it does by itself. */
	readonly limits: readonly [create: string, remove: string];
}

/** Runs the program with that configuration and Pulumi's own mocks; returns what it asked for, and its output "rig". */
async function standUp(config: object | undefined) {
	const pulumi = await import("@pulumi/pulumi");
	const asked: Asked[] = [];
	await pulumi.runtime.setMocks(
		{
			newResource({ type, name, inputs, provider }) {
				asked.push({
					type,
					name,
					inputs,
					// "urn:pulumi:stack::project::types::name::id"
					provider: provider ? (provider.split("::").at(-2) ?? null) : null,
					after: registered.getDependenciesList().map((urn: string) => urn.split("::").at(-1)),
					limits: [
						registered.getCustomtimeouts()?.getCreate() ?? "",
						registered.getCustomtimeouts()?.getDelete() ?? "",
					],
				});
				// What AWS and its provider choose. Of broker 2 the addresses end in .12, of client 2 in .102.
				const [, role, number] = /^(broker|client)-(\d+)$/.exec(name) ?? [];
				const last = (role === "broker" ? 10 : 100) + Number(number);
				const chosen: Record<string, object> = {
					Instance: { publicIp: `203.0.113.${last}`, privateIp: `10.77.0.${last}` },
					PlacementGroup: { name: `${name}-1a2b3c4` },
					KeyPair: { keyName: `${name}-1a2b3c4` },
				};
				const kind = type.split(":").at(-1) ?? "";
				return { id: `${name}-id`, state: { ...inputs, ...chosen[kind] } };
			},
			call: ({ token }) => {
				throw new Error(`the program asks ${token}, but everything is decided`);
			},
		},
		"mqbench",
		"stack",
		false,
	);
	// Pulumi's mocks do not get dependencies and limits.
	// biome-ignore lint/suspicious/noExplicitAny: Pulumi's messages have no types of their own.
	let registered: any;
	const monitor = pulumi.runtime.getMonitor() as unknown as {
		registerResource(request: unknown, answer: unknown): unknown;
	};
	const register = monitor.registerResource.bind(monitor);
	monitor.registerResource = (request, answer) => {
		registered = request;
		return register(request, answer);
	};
	pulumi.runtime.setAllConfig(config ? { "mqbench:rig": JSON.stringify(config) } : {});
	vi.resetModules();
	const { rig } = await import("./index.ts");
	const file = pulumi.output(rig);
	const [output, hidden] = await Promise.all([
		new Promise<RigFileInput>((known) => void file.apply((value) => known(value as RigFileInput))),
		pulumi.isSecret(file),
	]);
	// Until nothing more is asked for.
	await pulumi.runtime.disconnect();
	const all = (type: string) => asked.filter((one) => one.type.endsWith(`:${type}`));
	return {
		asked,
		/** The one of that type: "Vpc". */
		only(type: string) {
			const [one, ...others] = all(type);
			if (one === undefined || others.length > 0) throw new Error(`not one ${type}`);
			return one;
		},
		machines: (role = "") => all("Instance").filter(({ name }) => name.includes(role)),
		output,
		/** Whether Pulumi hides it. */
		hidden,
	};
}
