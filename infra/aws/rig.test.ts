import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { RigFile } from "../../runner/scenario/rig-file.ts";
import { testFolder } from "../test-folder.fake.ts";
import type { AwsConfig } from "./config.ts";
import { type Asked, NO_BROKERS, SMALL, type StoodUp, standUp, WIDE } from "./pulumi.fake.ts";

// What whoever lends an account to this may count on, whatever a scenario asks for.
describe.each([
	["one broker and one client", SMALL],
	["three brokers with volumes, two cheap clients", WIDE],
	["clients alone", NO_BROKERS],
])("%s", (_, config: AwsConfig) => {
	let rig: StoodUp;
	beforeAll(async () => {
		// The first one loads Pulumi.
		rig = await standUp(config);
	}, 180_000);

	test("no port is open to the internet: SSH is for the caller's address, and everything for the machines among themselves", () => {
		const group = only(rig, "SecurityGroup");
		const [inside, ssh, ...more] = group.inputs.ingress;
		expect(more).toEqual([]);
		expect(ssh).toMatchObject({ protocol: "tcp", fromPort: 22, toPort: 22 });
		expect(ssh.cidrBlocks).toEqual([config.callerCidr]);
		expect(ssh.self ?? false).toBe(false);
		expect(inside).toMatchObject({ protocol: "-1", self: true });
		expect(inside.cidrBlocks ?? []).toEqual([]);
		for (const { ipv6CidrBlocks = [], prefixListIds = [], securityGroups = [] } of [inside, ssh])
			expect([ipv6CidrBlocks, prefixListIds, securityGroups]).toEqual([[], [], []]);
		// No rule is beside the group's own, and no machine in another group.
		expect(rig.asked.filter(({ type }) => /Rule$|DefaultSecurity|Acl/.test(type))).toEqual([]);
		for (const { inputs } of rig.machines())
			expect(inputs.vpcSecurityGroupIds).toEqual([`${group.name}-id`]);
	});

	test("it is made, and taken down, in its own account alone", () => {
		expect(json(only(rig, "aws").inputs.allowedAccountIds)).toEqual(["123456789012"]);
	});

	test("everything carries run, owner, expiry and version", () => {
		const tags = {
			"mqbench:run": config.id,
			"mqbench:owner": config.owner,
			"mqbench:expires": config.expiresAt,
			"mqbench:version": config.version,
		};
		const provider = only(rig, "aws");
		expect(json(provider.inputs.defaultTags)).toEqual({ tags });
		const made = rig.asked.filter(({ type }) => type.startsWith("aws:"));
		expect(made.length).toBeGreaterThan(7);
		for (const one of made) {
			expect(one.provider, one.name).toBe(provider.name);
			// One of its own would come before the provider's.
			expect(Object.keys(one.inputs.tags ?? {}), one.name).toEqual(
				one.type.endsWith(":RouteTableAssociation") ? [] : ["Name"],
			);
		}
		// Volumes do not take the provider's.
		for (const { inputs } of rig.machines()) expect(inputs.volumeTags).toMatchObject(tags);
	});

	test("each machine ends itself after its time, and a shutdown terminates it", () => {
		for (const { inputs } of rig.machines()) {
			const [first, second] = inputs.userData.split("\n");
			expect(first).toMatch(/^#!/);
			expect(second).toMatch(new RegExp(`^shutdown -h \\+${config.ttlMinutes}( |$)`));
			expect(inputs.instanceInitiatedShutdownBehavior).toBe("terminate");
			expect(inputs.disableApiTermination).toBe(false);
			// Its time counts from its first start: another script is for another machine.
			expect(inputs.userDataReplaceOnChange).toBe(true);
		}
	});

	test("nothing that costs money outlives its machine", () => {
		for (const { inputs } of rig.machines())
			for (const disk of [inputs.rootBlockDevice, ...(inputs.ebsBlockDevices ?? [])])
				expect(disk).toMatchObject({ deleteOnTermination: true, encrypted: true });
		expect(
			[...new Set(rig.asked.map(({ type }) => type))].sort().join(" "),
			"of these only machines cost anything",
		).toBe(
			"aws:ec2/instance:Instance aws:ec2/internetGateway:InternetGateway aws:ec2/keyPair:KeyPair aws:ec2/placementGroup:PlacementGroup aws:ec2/routeTable:RouteTable aws:ec2/routeTableAssociation:RouteTableAssociation aws:ec2/securityGroup:SecurityGroup aws:ec2/subnet:Subnet aws:ec2/vpc:Vpc mqbench:rig:BrokerFleet mqbench:rig:ClientFleet mqbench:rig:Network mqbench:rig:Rig pulumi:providers:aws",
		);
	});

	test("machines tell who they are to themselves alone (IMDSv2), and may do nothing in the account", () => {
		for (const { inputs } of rig.machines()) {
			expect(inputs.metadataOptions).toEqual({
				httpEndpoint: "enabled",
				httpTokens: "required",
				httpPutResponseHopLimit: 1,
			});
			expect(inputs.iamInstanceProfile).toBeUndefined();
		}
	});

	test("brokers and clients are in one placement group, one zone and one subnet", () => {
		const placement = only(rig, "PlacementGroup");
		expect(placement.inputs.strategy).toBe("cluster");
		const subnet = only(rig, "Subnet");
		expect(subnet.inputs.availabilityZone).toBe(config.zone);
		for (const { inputs } of rig.machines()) {
			expect(inputs.placementGroup).toBe(`${placement.name}-1a2b3c4`);
			expect(inputs.subnetId).toBe(`${subnet.name}-id`);
			expect(inputs.availabilityZone).toBe(config.zone);
		}
	});

	test("there are as many machines of the types that were asked for, from the image that was, with the rig's key", () => {
		const key = only(rig, "KeyPair");
		for (const role of ["broker", "client"] as const) {
			const { instance, count } = config[`${role}s`];
			const machines = rig.machines(role);
			expect(machines).toHaveLength(count);
			for (const { inputs } of machines) {
				expect(inputs.instanceType).toBe(instance);
				expect(inputs.ami).toBe(config.ami);
				expect(inputs.keyName).toBe(`${key.name}-1a2b3c4`);
				expect(inputs.associatePublicIpAddress).toBe(true);
			}
		}
		expect(rig.machines()).toHaveLength(config.brokers.count + config.clients.count);
		expect(key.inputs.publicKey).toBe(config.publicKey);
	});

	test("brokers have a volume of their own only when one is asked for, and clients never", () => {
		const { volume } = config.brokers;
		for (const { inputs } of rig.machines("broker")) {
			expect(inputs.ebsBlockDevices?.length ?? 0).toBe(volume ? 1 : 0);
			if (volume)
				expect(inputs.ebsBlockDevices[0]).toMatchObject({
					volumeType: volume.type,
					volumeSize: volume.sizeGiB,
					iops: volume.iops,
				});
			expect(inputs.userData).toContain(`volume=${volume ? "yes" : "no"}`);
		}
		for (const { inputs } of rig.machines("client")) expect(inputs.ebsBlockDevices).toBeUndefined();
	});

	test("clients may be taken away when that was asked for, brokers never", () => {
		for (const { inputs } of rig.machines("broker"))
			expect(inputs.instanceMarketOptions).toBeUndefined();
		for (const { inputs } of rig.machines("client"))
			expect(inputs.instanceMarketOptions).toEqual(
				config.clients.spot
					? {
							marketType: "spot",
							spotOptions: {
								spotInstanceType: "one-time",
								instanceInterruptionBehavior: "terminate",
							},
						}
					: undefined,
			);
	});

	test("brokers' machines get the brokers' packages, clients' none", () => {
		for (const { inputs } of rig.machines("broker"))
			for (const name of config.packages) expect(inputs.userData).toContain(`'${name}'`);
		for (const { inputs } of rig.machines("client"))
			for (const name of config.packages) expect(inputs.userData).not.toContain(`'${name}'`);
	});

	test("region and profile are those that were asked for, and AWS itself is asked", () => {
		const inputs = only(rig, "aws").inputs;
		expect(inputs.region).toBe(config.region);
		expect(inputs.profile).toBe(config.profile ?? undefined);
		// The provider's own 25 would try a zone without room for 50 minutes.
		expect(json(inputs.maxRetries)).toBe(6);
		// What is for an emulator is not for AWS.
		expect(json(inputs.skipCredentialsValidation)).toBe(false);
		for (const key of Object.keys(inputs))
			expect(key).not.toMatch(/^(endpoints|accessKey|secretKey|token|skip(Metadata|Requesting))/);
	});

	test("no two things have the same name, and each shows whose it is", () => {
		const names = rig.asked
			.filter(({ type }) => !type.startsWith("mqbench:"))
			.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		for (const name of names) expect(name.startsWith(`mqbench-${config.id}-`), name).toBe(true);
	});

	test("its output is a rig.json, each system on the first of the brokers' machines", () => {
		const { output } = rig;
		const { brokers, clients, cloud } = output;
		// A rig.json of today names one broker at least.
		const whole =
			brokers.length > 0 ? output : { ...output, brokers: [{ system: "a", broker: "nats" }] };
		const file = RigFile.parse(JSON.parse(JSON.stringify(whole)));
		expect(file).toMatchObject({
			version: 1,
			id: config.id,
			target: "aws",
			expiresAt: config.expiresAt,
		});
		const { user, identity, knownHosts } = config;
		const host = (number: number) => ({
			host: `203.0.113.${number}`,
			user,
			identity,
			knownHosts,
			hostKeyKnown: false,
			setUp: true,
		});
		expect(brokers).toEqual(
			config.systems.map(({ system, broker, nodes }) => ({
				system,
				broker,
				hosts: Array.from({ length: nodes }, (_, i) => ({
					...host(11 + i),
					address: `10.77.0.${11 + i}`,
				})),
				machine: config.brokers.instance,
			})),
		);
		expect(clients).toEqual(Array.from({ length: config.clients.count }, (_, i) => host(101 + i)));
		expect(cloud).toEqual({
			provider: "aws",
			region: config.region,
			profile: config.profile,
			owner: config.owner,
			machines: {
				...(config.brokers.count > 0 && { [config.brokers.instance]: config.brokers.count }),
				[config.clients.instance]: config.clients.count,
			},
			hourlyUsd: null,
			state: null,
		});
		expect(output.facts).toEqual({
			zone: config.zone,
			ami: config.ami,
			brokers: config.brokers.count > 0 ? config.brokers.instance : null,
			volume: config.brokers.volume && "io2 100GiB, 16000 IOPS",
			clients: config.clients.instance,
			placementGroup: `mqbench-${config.id}-placement-1a2b3c4`,
		});
	});

	test("the output has nothing to hide, and hides nothing", () => {
		expect(rig.hidden).toBe(false);
		const text = JSON.stringify(rig.output);
		expect(text).not.toMatch(/PRIVATE KEY|ssh-ed25519|password|secret/i);
	});
});

test("credentials, region and profile of the environment come into no resource and no output", async () => {
	vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIACANARY");
	vi.stubEnv("AWS_SECRET_ACCESS_KEY", "canary-of-a-secret");
	vi.stubEnv("AWS_SESSION_TOKEN", "canary-of-a-session");
	vi.stubEnv("AWS_REGION", "canary-region-1");
	vi.stubEnv("AWS_PROFILE", "canary");
	const { asked, output } = await standUp(SMALL);
	vi.unstubAllEnvs();
	expect(JSON.stringify({ asked, output })).not.toMatch(/canary/i);
});

test("machines of one type for brokers and clients are counted together", async () => {
	const { output } = await standUp({
		...SMALL,
		brokers: { ...SMALL.brokers, instance: "m6i.large", count: 3 },
		clients: { ...SMALL.clients, instance: "m6i.large", count: 2 },
	});
	expect(output.cloud.machines).toEqual({ "m6i.large": 5 });
});

test("a gp3 volume has the throughput that was asked for, and else AWS's own", async () => {
	const disks = async (throughputMiBps: number | null, iops: number | null) => {
		const { machines } = await standUp({
			...SMALL,
			brokers: { ...SMALL.brokers, volume: { type: "gp3", sizeGiB: 50, iops, throughputMiBps } },
		});
		return machines("broker")[0]?.inputs.ebsBlockDevices[0];
	};
	expect(await disks(500, 6_000)).toMatchObject({
		volumeType: "gp3",
		throughput: 500,
		iops: 6_000,
	});
	const plain = await disks(null, null);
	expect(plain).not.toHaveProperty("throughput");
	expect(plain).not.toHaveProperty("iops");
});

test("an emulator is asked instead of AWS when one is named, for everything", async () => {
	const rig = await standUp({ ...SMALL, endpoint: "http://127.0.0.1:5000" });
	const { inputs } = only(rig, "aws");
	const at = "http://127.0.0.1:5000";
	expect(json(inputs.endpoints)).toEqual([{ ec2: at, sts: at, iam: at, ssm: at }]);
	for (const check of "CredentialsValidation MetadataApiCheck RequestingAccountId RegionValidation".split(
		" ",
	))
		expect(json(inputs[`skip${check}`]), check).toBe(true);
});

describe("a host key that was made before", () => {
	const keyed = () => {
		const hostKey = path.join(testFolder(), "host_ed25519");
		writeFileSync(hostKey, "canary of a private half\n");
		writeFileSync(`${hostKey}.pub`, "ssh-ed25519 AAAA rig\n");
		return { ...SMALL, hostKey };
	};

	test("goes to all machines, which still end themselves, as a secret of Pulumi's, and rig.json says that it is known", async () => {
		const { asked, machines, output, hidden } = await standUp(keyed());
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
		for (const host of [...output.clients, ...output.brokers.flatMap(({ hosts }) => hosts)])
			expect(host.hostKeyKnown).toBe(true);
	});

	test("that is not there is told, with the command that makes it, and nothing is made", async () => {
		const hostKey = "/nowhere/host_ed25519";
		await expect(standUp({ ...SMALL, hostKey })).rejects.toThrow(
			`mqbench:rig: hostKey cannot be read (ENOENT: no such file or directory, open '${hostKey}'); make it: ssh-keygen -t ed25519 -N "" -f ${hostKey}`,
		);
	});
});

// --- internal ---

/** Of values that Pulumi hides. */
const SECRET = "4dabf18193072939515e22adb298388d";

/** What there is to be one of. */
function only({ all }: StoodUp, type: string): Asked {
	const [one, ...others] = all(type);
	expect(others).toEqual([]);
	if (one === undefined) throw new Error(`there is no ${type}`);
	return one;
}

/** Providers take what is no text as JSON. */
function json(value: unknown): unknown {
	return typeof value === "string" ? JSON.parse(value) : value;
}
