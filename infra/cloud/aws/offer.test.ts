import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { MqbenchError } from "../../../runner/errors.ts";
import { packageFolder } from "../../../runner/package.ts";
import { loadScenario } from "../../../runner/scenario/load.ts";
import type { Aws } from "../../../runner/scenario/scenario.ts";
import { type FakeWorld, fakeWorld } from "../../../runner/world.fake.ts";
import { AwsConfig } from "../../aws/config.ts";
import { script, testFolder } from "../../test-folder.fake.ts";
import type { Offer } from "../provider.ts";
import { openApi } from "./api.ts";
import { type Emulator, emulatorMissing, IMAGES, startEmulator } from "./emulator.fake.ts";
import { localTrouble, offer } from "./offer.ts";
import { neededCalls } from "./permissions.ts";

// Machines, zones, images, regions and the caller are moto's; of the price list, quotas, Debian's parameter and questions of permission
// (DryRun) moto has none: a stand-in before it answers those in AWS's form.
const missing = emulatorMissing();
// Its first answers take their time: it reads what AWS has of machines.
vi.setConfig({ testTimeout: 120_000 });
let aws: Emulator;
beforeAll(async () => {
	if (missing === null) aws = await startEmulator();
}, 240_000);
afterAll(() => aws?.close());
beforeEach(() => {
	aws.account.denied.clear();
	aws.account.broken.clear();
	aws.account.quotas = new Map([
		["L-1216C47A", 64],
		["L-34B43A08", 64],
	]);
	aws.account.parameters = new Map([
		["/aws/service/debian/release/12/latest/amd64", IMAGES.newest],
	]);
	aws.account.products = PRICES.flatMap(([type, usd]) => ({
		service: "AmazonEC2",
		attributes: {
			regionCode: "eu-central-1",
			instanceType: type,
			operatingSystem: "Linux",
			tenancy: "Shared",
			preInstalledSw: "NA",
			capacitystatus: "Used",
			marketoption: "OnDemand",
		},
		steps: [{ unit: "Hrs", usd }],
	})).concat(DISK_AND_ADDRESS as never);
	aws.account.spot.clear();
	aws.calls.length = 0;
});

const RIG = `aws:
  region: eu-central-1
  sshFrom: 203.0.113.7
  brokers: { instance: i4i.xlarge }
  clients: { instance: c6in.xlarge }
clients: 2
`;

const SYSTEM = "system: { broker: kafka, nodes: 3 }";

function scenario(rig = RIG, workload = "rate: 1000/s", system = SYSTEM) {
	return loadScenario(
		"s.yaml",
		`target: aws\n${system}\nworkload: { ${workload}, message: 1KB, duration: 10s, connections: 32 }\n${rig}`,
	);
}

/** A machine with OpenSSH's client, and the command pulumi. */
let HERE: Record<string, string> = {};
beforeEach(() => {
	const bin = testFolder();
	for (const program of ["ssh", "ssh-keygen"]) script(path.join(bin, program), "exit 1");
	script(path.join(bin, "pulumi"), "echo v3.999.0");
	HERE = { PATH: bin, MQBENCH_CACHE_DIR: path.join(bin, "cache") };
});

function world(env: Record<string, string> = {}): FakeWorld {
	return fakeWorld({ env: { ...HERE, MQBENCH_AWS_ENDPOINT: aws.endpoint, ...env } });
}

const ASKED = {
	packages: ["default-jre-headless"],
	systems: [{ system: "kafka", broker: "kafka" as const, nodes: 3 }],
	id: "steady-1",
	plannedNs: 3_600e9,
};

async function made(rig?: string, env?: Record<string, string>) {
	return offer(scenario(rig), ASKED, world(env));
}

async function refusal(rig?: string, env?: Record<string, string>): Promise<string[]> {
	const error = await made(rig, env).catch((error) => error);
	if (!(error instanceof MqbenchError)) throw error;
	return error.message.split("\n");
}

const without = (key: string) =>
	RIG.split("\n")
		.filter((line) => !line.includes(key))
		.join("\n");

test.skipIf(missing !== null)(
	"an offer says what is rented, where, and what it costs",
	async () => {
		const found = await made();
		expect(found).toMatchObject({
			machines: { "i4i.xlarge": 3, "c6in.xlarge": 2 },
			unpriced: null,
			warnings: [],
		} satisfies Partial<Offer>);
		// 3 x 0.4 + 2 x 0.25 + 5 x 16 x 0.09 / 720 + 5 x 0.005.
		expect(found.hourlyUsd).toBeCloseTo(1.735, 9);
		expect(found.lines).toEqual([
			"brokers  3 x i4i.xlarge (4 vCPUs, 32 GiB), NVMe of 937 GB",
			"clients  2 x c6in.xlarge (4 vCPUs, 8 GiB)",
			"zone     eu-central-1a, in one cluster placement group; where AWS has no room there: eu-central-1b, eu-central-1c",
			`image    ${IMAGES.newest} (Debian 12, debian-12-amd64-20260101-2, x86_64)`,
			"account  123456789012, owner moto",
			"ssh      open to 203.0.113.7/32 alone",
			"network  i4i.xlarge 1.88 Gbit/s always, up to 10 Gbit/s for minutes; c6in.xlarge 6.25 Gbit/s always, up to 30 Gbit/s for minutes",
			`pulumi   3.999.0, ${HERE.PATH}/pulumi`,
			"end      taken down when the run is over; by themselves at the latest 2h after they started",
			"prices   $1.20 an hour: 3 x i4i.xlarge",
			"         $0.50 an hour: 2 x c6in.xlarge",
			"         $0.01 an hour: 5 x 16 GiB gp3 to start from",
			"         $0.025 an hour: 5 x public IPv4 address",
		]);
	},
);

test.skipIf(missing !== null)(
	"machines that stay say until when, and a pulumi that is missing is told",
	async () => {
		const stay = (rigFile: string | null) =>
			offer(
				scenario(),
				{ ...ASKED, plannedNs: null, rigFile },
				world({ MQBENCH_SSH_FROM: "203.0.113.7" }),
			);
		expect((await stay("rig.json")).lines).toContain(
			"end      stay until mqbench down rig.json; by themselves they end at the latest 2h after they started",
		);
		rmSync(path.join(HERE.PATH as string, "pulumi"));
		const { lines } = await stay(null);
		expect(lines).toContain(
			"end      stay until they are taken down; by themselves they end at the latest 2h after they started",
		);
		expect(lines.find((line) => line.startsWith("pulumi"))).toMatch(
			/^pulumi {3}3\.\d+\.\d+ is needed, and there is none on PATH: (mqbench offers to download it|install it, because .*)$/,
		);
	},
);

test("what this machine lacks is said together, before AWS is asked", () => {
	const of = (sshFrom: string, env: Record<string, string> = HERE) =>
		localTrouble(scenario(RIG.replace("203.0.113.7", sshFrom)).aws as Aws, fakeWorld({ env }));
	expect(of("203.0.113.7")).toEqual([]);
	rmSync(path.join(HERE.PATH as string, "ssh-keygen"));
	expect(of("192.168.1.20")).toEqual([
		"ssh-keygen is not on PATH: rented machines are reached over SSH. Install OpenSSH's client (apt-get install openssh-client).",
		"aws.sshFrom: SSH from the internet never comes from 192.168.1.20/32, which is an address of a private network. Write the public one that your SSH comes from, or leave aws.sshFrom out: mqbench then asks AWS's own service.",
	]);
	// An emulator's machines are where it is.
	expect(of("192.168.1.20", { ...HERE, MQBENCH_AWS_ENDPOINT: "http://127.0.0.1:2" })).toHaveLength(
		1,
	);
});

test.skipIf(missing !== null)(
	"the Pulumi program takes what is offered, with a key added",
	async () => {
		const { config } = await made();
		const told = AwsConfig.parse({
			...config,
			publicKey: "ssh-ed25519 AAAAC3Nz mqbench",
			identity: "id",
			knownHosts: "known_hosts",
		});
		expect(told).toMatchObject({
			id: "steady-1",
			owner: "moto",
			zone: "eu-central-1a",
			account: "123456789012",
			profile: null,
			ami: IMAGES.newest,
			callerCidr: "203.0.113.7/32",
			ttlMinutes: 120,
			// 2026-01-02T03:04:05 and 2 h, and half an hour for standing up and down.
			expiresAt: "2026-01-02T06:04:05.000Z",
			brokers: { instance: "i4i.xlarge", count: 3, volume: null },
			clients: { instance: "c6in.xlarge", count: 2, spot: false },
			packages: ["default-jre-headless"],
			endpoint: aws.endpoint,
		});
	},
);

test.skipIf(missing !== null)(
	"the profile that AWS is asked with is shown, be it the scenario's or the environment's",
	async () => {
		const profile = async (rig: string) =>
			(await made(rig, { AWS_PROFILE: "work" })).lines.find((line) => line.startsWith("account"));
		const account = "account  123456789012, owner moto, profile";
		expect(await profile(RIG)).toBe(`${account} work`);
		const written = RIG.replace("aws:\n", "aws:\n  profile: bench\n");
		expect(await profile(written)).toBe(`${account} bench`);
	},
);

test.skipIf(missing !== null)(
	"credentials that end before the machines are down are refused, and a session without a known end is warned of",
	async () => {
		// The clock says 03:04:05; an hour of use and 10 minutes to take down: until 04:14:05.
		const session = (end: string) => ({ AWS_SESSION_TOKEN: "t", AWS_CREDENTIAL_EXPIRATION: end });
		expect((await made(RIG, session("2026-01-02T04:14:05Z"))).warnings).toEqual([]);
		expect(await refusal(RIG, session("2026-01-02T04:14:04Z"))).toEqual([
			expect.stringMatching(
				/^AWS_CREDENTIAL_EXPIRATION: the credentials for AWS end at 2026-01-02T04:14:04\.000Z/,
			),
		]);
		expect((await made(RIG, { AWS_SESSION_TOKEN: "t" })).warnings).toEqual([
			expect.stringMatching(/^the credentials for AWS are those of a session .* not known; /),
		]);
	},
);

test.skipIf(missing !== null)(
	"calls about requests of the spot market are needed for it alone",
	async () => {
		aws.account.denied.add("ec2:CancelSpotInstanceRequests");
		expect((await made()).warnings).toEqual([]);
		const spot = RIG.replace("c6in.xlarge }", "c6in.xlarge, spot: true }");
		expect(await refusal(spot)).toEqual([
			expect.stringMatching(/^ec2:CancelSpotInstanceRequests: AWS does not allow this to /),
		]);
		aws.account.denied.clear();
		aws.calls.length = 0;
		await made(spot);
		expect(aws.calls).toContain("ec2:DescribeSpotInstanceRequests?");
	},
);

test.skipIf(missing !== null)("an offer changes nothing in the account", async () => {
	await made();
	expect(
		aws.calls.filter((call) => !/:(Describe|Get)\w+$/.test(call) && !call.endsWith("?")),
	).toEqual([]);
	expect(aws.calls).toContain("ec2:RunInstances?");
	expect(aws.calls).toContain("ec2:CreateVpc?");
	expect(neededCalls()).toEqual(
		expect.arrayContaining([...new Set(aws.calls.map((call) => call.replace("?", "")))]),
	);
});

test.skipIf(missing !== null).each<[string, () => void, string, Record<string, string>, string[]]>([
	[
		"expired credentials",
		() => aws.account.broken.set("sts:GetCallerIdentity", "ExpiredToken"),
		RIG,
		{},
		[
			"sts:GetCallerIdentity: the credentials for AWS have expired (as the test wants). Log in (aws sso login, aws configure), or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
		],
	],
	[
		"credentials that AWS does not know",
		() => aws.account.broken.set("sts:GetCallerIdentity", "InvalidClientTokenId"),
		RIG,
		{},
		[
			"sts:GetCallerIdentity: AWS does not know the credentials (InvalidClientTokenId: as the test wants). Log in (aws sso login, aws configure), or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
		],
	],
	[
		"a region that there is none of",
		() => {},
		RIG.replace("eu-central-1", "eu-central-9"),
		{},
		[
			"ec2:DescribeRegions: the region eu-central-9 does not exist. Write another one, e.g. aws.region: eu-central-1.",
		],
	],
	[
		"a region that is not enabled",
		() => {},
		RIG.replace("eu-central-1", "eu-south-2"),
		{},
		[
			"ec2:DescribeRegions: the region eu-south-2 is not enabled for your account. Enable it (aws account enable-region --region-name eu-south-2), or choose another: aws.region.",
		],
	],
	[
		"missing permissions, all in one list",
		() => {
			for (const call of ["ec2:RunInstances", "ec2:CreateVpc", "ec2:TerminateInstances"])
				aws.account.denied.add(call);
		},
		RIG,
		{},
		[
			`ec2:CreateVpc, ec2:RunInstances, ec2:TerminateInstances: AWS does not allow these to arn:aws:sts::123456789012:user/moto. Give it the policy ${packageFolder}/infra/aws/policy.json (what each permission is for: ${packageFolder}/infra/aws/PERMISSIONS.md), or take another account (AWS_PROFILE, aws.profile).`,
		],
	],
	[
		"a question that is not allowed",
		() => aws.account.denied.add("ec2:DescribeAvailabilityZones"),
		RIG,
		{},
		[
			`ec2:DescribeAvailabilityZones: AWS does not allow this to arn:aws:sts::123456789012:user/moto. Give it the policy ${packageFolder}/infra/aws/policy.json (what each permission is for: ${packageFolder}/infra/aws/PERMISSIONS.md), or take another account (AWS_PROFILE, aws.profile).`,
		],
	],
	[
		"a type that there is none of",
		() => {},
		RIG.replace("i4i.xlarge", "i4i.tiny"),
		{},
		[
			"ec2:DescribeInstanceTypes: eu-central-1 has no instance type i4i.tiny. Write another one (aws.brokers.instance), or choose another region.",
		],
	],
	[
		"types of two architectures",
		() => {},
		RIG.replace("c6in.xlarge", "c7g.xlarge"),
		{},
		[
			"ec2:DescribeInstanceTypes: i4i.xlarge is x86_64, c7g.xlarge is arm64, and a rig starts from one image. Take types of one kind.",
		],
	],
	[
		"brokers without a disk to write on",
		() => {},
		RIG.replace("i4i.xlarge", "m5.xlarge"),
		{},
		[
			"ec2:DescribeInstanceTypes: m5.xlarge has no NVMe of its own to write on. Take a type that has (i4i, i3en, m6id, c6id), or give it a volume: aws.brokers.volume.",
		],
	],
	[
		"a type that goes into no placement group",
		() => {},
		RIG.replace("c6in.xlarge", "t3.large"),
		{},
		[
			"ec2:DescribeInstanceTypes: t3.large cannot be in a cluster placement group, where all machines of a rig are. Take another type, such as c7i.xlarge or m7i.xlarge.",
		],
	],
	[
		"a zone that there is none of",
		() => {},
		`${RIG}`.replace("region: eu-central-1", "region: eu-central-1\n  zone: eu-central-1z"),
		{},
		[
			"ec2:DescribeAvailabilityZones: eu-central-1 has no zone eu-central-1z; it has eu-central-1a, eu-central-1b, eu-central-1c. Write one of them, or drop aws.zone.",
		],
	],
	[
		"a quota that is too small, with what runs already",
		() => aws.account.quotas.set("L-1216C47A", 16),
		RIG,
		{},
		[
			"servicequotas:GetServiceQuota: 3 x i4i.xlarge and 2 x c6in.xlarge take 20 vCPUs, 0 run already, and the account may have 16 (L-1216C47A). Ask for more (aws service-quotas request-service-quota-increase --service-code ec2 --quota-code L-1216C47A --desired-value 20), or take fewer or smaller machines.",
		],
	],
	[
		"AWS's default quota, where the account has no other",
		() => aws.account.quotas.clear(),
		RIG,
		{},
		[
			"servicequotas:GetServiceQuota: 3 x i4i.xlarge and 2 x c6in.xlarge take 20 vCPUs, 0 run already, and the account may have 5 (L-1216C47A). Ask for more (aws service-quotas request-service-quota-increase --service-code ec2 --quota-code L-1216C47A --desired-value 20), or take fewer or smaller machines.",
		],
	],
	[
		"an image that there is none of",
		() => {},
		`${RIG}`.replace("region: eu-central-1", "region: eu-central-1\n  ami: ami-00000000000000001"),
		{},
		[
			"ec2:DescribeImages: the image ami-00000000000000001 is not in eu-central-1, or not yours to use. Write another one, or drop aws.ami to use Debian 12.",
		],
	],
	[
		"an image for other machines",
		() => {},
		RIG.replace("region: eu-central-1", `region: eu-central-1\n  ami: ${IMAGES.arm}`),
		{},
		[
			`ec2:DescribeImages: the image ${IMAGES.arm} is for arm64, and the machines are x86_64. Take an image or types that fit.`,
		],
	],
	[
		"an image for Windows",
		() => {},
		RIG.replace("region: eu-central-1", `region: eu-central-1\n  ami: ${IMAGES.windows}`),
		{},
		[
			`ec2:DescribeImages: the image ${IMAGES.windows} is for Windows, which has no cloud-init: its machines would never end themselves. Write an image of Debian 12.`,
		],
	],
	[
		"an address that nobody knows",
		() => {},
		without("sshFrom"),
		{ MQBENCH_CHECK_IP: "http://127.0.0.1:2" },
		[
			"GET http://127.0.0.1:2: the address that your SSH comes from is not known (ECONNREFUSED). Write it: aws.sshFrom: 203.0.113.7/32, or MQBENCH_SSH_FROM=203.0.113.7.",
		],
	],
	[
		"an address that is a network",
		() => {},
		without("sshFrom"),
		{ MQBENCH_SSH_FROM: "10.0.0.0/8" },
		[
			"MQBENCH_SSH_FROM: 10.0.0.0/8 is not one IPv4 address. Write the one that your SSH comes from, such as 203.0.113.7/32.",
		],
	],
	[
		"more than one trouble, a sentence each",
		() => {
			aws.account.quotas.set("L-1216C47A", 16);
			aws.account.denied.add("ec2:ImportKeyPair");
		},
		without("sshFrom"),
		{ MQBENCH_CHECK_IP: "http://127.0.0.1:2" },
		[
			expect.stringContaining("may have 16"),
			expect.stringMatching(/^ec2:ImportKeyPair: AWS does not allow this to/),
			expect.stringContaining("GET http://127.0.0.1:2: the address that your"),
		],
	],
	[
		"more machines than a slip of the pen",
		() => {},
		RIG.replace("clients: 2", "clients: 18"),
		{},
		[
			"The scenario rents 21 machines, and 20 are the most without being told otherwise. Ask for fewer (clients, nodes), or set MQBENCH_MAX_INSTANCES=21.",
		],
	],
])("%s: nothing is offered", async (_, change, rig, env, sentences) => {
	change();
	expect(await refusal(rig, env)).toEqual(sentences);
});

test.skipIf(missing !== null)(
	"what runs already counts in the quota, but not what is stopped or of other kinds",
	async () => {
		const { ec2 } = await openApi({ region: "eu-central-1", profile: null }, world());
		const start = async (type: string) => {
			const { Instances = [] } = await ec2.runInstances({
				ImageId: IMAGES.newest,
				InstanceType: type as never,
				MinCount: 1,
				MaxCount: 1,
			});
			return Instances.map(({ InstanceId }) => InstanceId as string);
		};
		const running = [...(await start("c5.2xlarge")), ...(await start("g4dn.2xlarge"))];
		const stopped = await start("m5.2xlarge");
		await ec2.stopInstances({ InstanceIds: stopped });
		try {
			aws.account.quotas.set("L-1216C47A", 27);
			expect(await refusal()).toEqual([
				expect.stringContaining(
					"take 20 vCPUs, 8 run already, and the account may have 27 (L-1216C47A)",
				),
			]);
			aws.account.quotas.set("L-1216C47A", 28);
			expect((await made()).warnings).toEqual([]);
		} finally {
			await ec2.terminateInstances({ InstanceIds: [...running, ...stopped] });
		}
	},
);

test.skipIf(missing !== null)(
	"who may not ask for regions is offered machines all the same",
	async () => {
		aws.account.denied.add("ec2:DescribeRegions");
		expect((await made()).warnings).toEqual([]);
	},
);

test.skipIf(missing !== null)(
	"machines of the spot market have a quota and a price of their own",
	async () => {
		const rig = RIG.replace("{ instance: c6in.xlarge }", "{ instance: c6in.xlarge, spot: true }");
		aws.account.spot.set("c6in.xlarge", "0.1");
		// 3 x 0.4 + 2 x 0.1 + 5 x 0.002 + 5 x 0.005.
		expect((await made(rig)).hourlyUsd).toBeCloseTo(1.435, 9);
		aws.account.quotas.set("L-34B43A08", 7);
		expect(await refusal(rig)).toEqual([
			expect.stringMatching(
				/^servicequotas:GetServiceQuota: 2 x c6in\.xlarge take 8 vCPUs of the spot market, 0 run already, and the account may have 7 \(L-34B43A08\)/,
			),
		]);
	},
);

test.skipIf(missing !== null)(
	"a permission that AWS says neither yes nor no to is a warning, and what it looked for in vain is allowed",
	async () => {
		aws.account.broken.set("ec2:CreateSecurityGroup", "VPCIdNotSpecified");
		aws.account.broken.set("ec2:DeleteVpc", "InvalidVpcID.NotFound");
		aws.account.broken.set("ec2:TerminateInstances", "InvalidInstanceID.NotFound");
		expect((await made()).warnings).toEqual([
			"whether you may is not certain for ec2:CreateSecurityGroup (VPCIdNotSpecified: as the test wants)",
		]);
	},
);

test.skipIf(missing !== null)("nothing listens where AWS is to be", async () => {
	expect(await refusal(RIG, { MQBENCH_AWS_ENDPOINT: "http://127.0.0.1:2" })).toEqual([
		expect.stringMatching(
			/^sts:GetCallerIdentity: AWS cannot be reached from here \(ECONNREFUSED: .*\)\. Try again when this machine has a connection to the internet\.$/,
		),
	]);
});

test("behind a proxy it is said that mqbench does not use it", async () => {
	const env = {
		...HERE,
		MQBENCH_AWS_ENDPOINT: "http://127.0.0.1:2",
		MQBENCH_CHECK_IP: "http://127.0.0.1:2",
		https_proxy: "http://me:secret@proxy:3128",
	};
	const error = await offer(scenario(without("sshFrom")), ASKED, fakeWorld({ env })).catch(
		(error) => error,
	);
	const sentences = error.message.split("\n");
	expect(sentences).toHaveLength(2);
	for (const sentence of sentences)
		expect(sentence).toContain(
			"; https_proxy is set, and mqbench does not use proxies: it needs a direct connection to AWS, and for SSH to the machines)",
		);
	expect(error.message).not.toContain("secret");
});

test.skipIf(missing !== null)(
	"the address is asked of AWS's service, and the offer says so",
	async () => {
		const service = createServer((_, response) => response.end("198.51.100.9\n"));
		await new Promise<void>((done) => service.listen(0, "127.0.0.1", done));
		try {
			const { port } = service.address() as AddressInfo;
			const found = await made(without("sshFrom"), {
				MQBENCH_CHECK_IP: `http://127.0.0.1:${port}`,
			});
			expect(found.config.callerCidr).toBe("198.51.100.9/32");
			expect(found.lines).toContain(
				"ssh      open to 198.51.100.9/32 alone, the address that AWS sees you under",
			);
		} finally {
			service.close();
		}
	},
);

test.skipIf(missing !== null)(
	"without permission for them, prices and quotas are missing, and the offer stands",
	async () => {
		aws.account.denied.add("pricing:GetProducts");
		aws.account.denied.add("servicequotas:GetServiceQuota");
		const found = await made();
		expect(found).toMatchObject({
			hourlyUsd: null,
			unpriced: "you may not call pricing:GetProducts",
			warnings: [
				"whether the account's quota carries 3 x i4i.xlarge and 2 x c6in.xlarge is not known: you may not call servicequotas:GetServiceQuota",
			],
		});
		// What is not known is said once, where the sum would be.
		expect(found.lines.join("\n")).not.toMatch(/price|pricing|known/);
	},
);

test.skipIf(missing !== null).each([
	["is not there", () => aws.account.parameters.clear()],
	["is not to be read", () => aws.account.denied.add("ssm:GetParameter")],
])("Debian's newest image is found by its name where the parameter %s", async (_, change) => {
	change();
	expect((await made()).config.ami).toBe(IMAGES.newest);
});

test.skipIf(missing !== null)(
	"of lists each type is asked about and shown, and tried in all zones before the next one",
	async () => {
		const lists = (zone = "") =>
			RIG.replace("i4i.xlarge", "[i4i.xlarge, i3en.xlarge]").replace(
				"  sshFrom",
				`${zone}  sshFrom`,
			);
		const product = aws.account.products[0];
		if (product === undefined) throw new Error("no prices");
		aws.account.products = [
			...aws.account.products,
			{
				...product,
				attributes: { ...product.attributes, instanceType: "i3en.xlarge" },
				steps: [{ unit: "Hrs", usd: "0.6" }],
			},
		];
		const found = await made(lists());
		const text = found.lines.join("\n");
		expect(text).toContain(
			"brokers  3 x i4i.xlarge (4 vCPUs, 32 GiB), NVMe of 937 GB\n         or 3 x i3en.xlarge (4 vCPUs, 32 GiB), NVMe of 2500 GB\n",
		);
		expect(text).toContain("; i3en.xlarge ");
		expect(text).toContain(
			"$2.33 an hour in all: with i3en.xlarge, c6in.xlarge, if AWS has no room for the first types",
		);
		const places = [found, ...found.others].map(
			({ config, machines, hourlyUsd }) =>
				`${config.zone} ${Object.keys(machines).sort()} ${hourlyUsd?.toFixed(3)}`,
		);
		expect(places).toEqual(
			["i4i.xlarge 1.735", "i3en.xlarge 2.335"].flatMap((broker) =>
				["a", "b", "c"].map((zone) => `eu-central-1${zone} c6in.xlarge,${broker}`),
			),
		);
		const one = await made(lists("  zone: eu-central-1b\n"));
		expect([one, ...one.others].map(({ config }) => config.zone)).toEqual([
			"eu-central-1b",
			"eu-central-1b",
		]);
		expect(await refusal(RIG.replace("i4i.xlarge", "[i4i.xlarge, m5.xlarge]"))).toEqual([
			expect.stringMatching(/^ec2:DescribeInstanceTypes: m5\.xlarge has no NVMe of its own/),
		]);
	},
);

test.skipIf(missing !== null).each([
	["an image that is not Debian's", IMAGES.own, true],
	["an older one of Debian's", IMAGES.older, false],
])("that its machines may never end themselves is said of %s: %s, %s", async (_, ami, said) => {
	const { warnings } = await made(
		RIG.replace("region: eu-central-1", `region: eu-central-1\n  ami: ${ami}`),
	);
	const sentence = `the image ${ami} is not Debian's, and AWS does not say whether it has cloud-init. Without cloud-init its machines never end themselves, and cost money until they are taken down (mqbench rigs list)`;
	expect(warnings.includes(sentence)).toBe(said);
});

test.skipIf(missing !== null)(
	"a load above what machines may always have is warned of",
	async () => {
		// 800 000 x 1000 B x 8 = 6.4 Gbit/s; of 32 connections' topics one node of three leads 11: 2.2 Gbit/s. i4i.xlarge has 1.875.
		const found = await offer(scenario(RIG, "rate: 800000/s, topics: 32"), ASKED, world());
		expect(found.warnings).toEqual([
			expect.stringMatching(
				/^brokers: .* on kafka puts at least 2\.2 Gbit\/s through one i4i\.xlarge \(Up to 10 Gigabit\), which has 1\.88 Gbit\/s always/,
			),
		]);
	},
);

test.skipIf(missing !== null)(
	"brokers with a volume need no NVMe, and are told what of it lives on credit",
	async () => {
		const found = await made(
			RIG.replace(
				"{ instance: i4i.xlarge }",
				"{ instance: m5.xlarge, volume: { type: gp3, size: 100GiB, iops: 16000, throughput: 500MiB } }",
			),
		);
		expect(found.lines[0]).toBe(
			"brokers  3 x m5.xlarge (4 vCPUs, 16 GiB), gp3 volume of 100 GiB, 16000 IOPS, 500 MiB/s",
		);
		expect(found.warnings).toEqual([
			"brokers: the volume has 16000 IOPS, and m5.xlarge carries 6000 of them always; above that it lives on burst credit",
			"brokers: the volume has 500 MiB/s, and m5.xlarge carries 143.75 MB/s always; above that it lives on burst credit",
		]);
	},
);

const PRICES = [
	["i4i.xlarge", "0.4"],
	["c6in.xlarge", "0.25"],
] as const;

const DISK_AND_ADDRESS = [
	{
		service: "AmazonEC2",
		attributes: {
			regionCode: "eu-central-1",
			volumeApiName: "gp3",
			usagetype: "EUC1-EBS:VolumeUsage.gp3",
		},
		steps: [{ unit: "GB-Mo", usd: "0.09" }],
	},
	{
		service: "AmazonVPC",
		attributes: { regionCode: "eu-central-1", usagetype: "EUC1-PublicIPv4:InUseAddress" },
		steps: [{ unit: "Hrs", usd: "0.005" }],
	},
];
