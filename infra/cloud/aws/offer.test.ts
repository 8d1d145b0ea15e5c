import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { MqbenchError } from "../../../runner/errors.ts";
import { loadScenario } from "../../../runner/scenario/load.ts";
import type { Aws } from "../../../runner/scenario/scenario.ts";
import { type FakeWorld, fakeWorld } from "../../../runner/world.fake.ts";
import { AwsConfig } from "../../aws/config.ts";
import { script, testFolder } from "../../test-folder.fake.ts";
import type { Offer } from "../provider.ts";
import { emulated, IMAGES, pricesOf } from "./emulator.fake.ts";
import { localTrouble, offer } from "./offer.ts";

// Machines, zones, images and the caller are moto's; of the price list moto has none: a stand-in before it answers that in AWS's form.
const { aws, onAws } = emulated();
// Its first answers take their time: it reads what AWS has of machines.
vi.setConfig({ testTimeout: 120_000 });
beforeEach(() => {
	aws.account.denied.clear();
	aws.account.broken.clear();
	aws.account.products = pricesOf({ "i4i.xlarge": "0.4", "c6in.xlarge": "0.25" });
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

onAws("an offer says what is rented, where, and what it costs", async () => {
	const found = await made();
	expect(found).toMatchObject({
		machines: { "i4i.xlarge": 3, "c6in.xlarge": 2 },
		unpriced: null,
		warnings: [],
	} satisfies Partial<Offer>);
	// 3 x 0.4 + 2 x 0.25 + 5 x 16 x 0.09 / 720 + 5 x 0.005.
	expect(found.hourlyUsd).toBeCloseTo(1.735, 9);
	expect(found.lines).toEqual([
		"brokers  3 x i4i.xlarge, their own NVMe",
		"clients  2 x c6in.xlarge",
		"zone     eu-central-1a, in one cluster placement group",
		`image    ${IMAGES.newest} (Debian 12, debian-12-amd64-20260101-2)`,
		"account  123456789012, owner moto",
		"ssh      open to 203.0.113.7/32 alone",
		`pulumi   3.999.0, ${HERE.PATH}/pulumi`,
		"end      taken down when the run is over; by themselves at the latest 2h after they started",
		"prices   $1.20 an hour: 3 x i4i.xlarge",
		"         $0.50 an hour: 2 x c6in.xlarge",
		"         $0.01 an hour: 5 x 16 GiB gp3 to start from",
		"         $0.025 an hour: 5 x public IPv4 address",
	]);
});

onAws("machines that stay say until when, and a pulumi that is missing is told", async () => {
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
});

test("what this machine lacks is said together, before AWS is asked", () => {
	const of = (sshFrom: string, env: Record<string, string> = HERE) =>
		localTrouble(scenario(RIG.replace("203.0.113.7", sshFrom)).aws as Aws, fakeWorld({ env }));
	expect(of("203.0.113.7")).toEqual([]);
	rmSync(path.join(HERE.PATH as string, "ssh-keygen"));
	expect(of("192.168.1.20")).toEqual([
		"ssh-keygen is not on PATH: rented machines are reached over SSH. Install OpenSSH's client (apt-get install openssh-client).",
		"aws.sshFrom: SSH from the internet never comes from 192.168.1.20/32, which is an address of a private network. Write the public one that your SSH comes from, or leave aws.sshFrom out: mqbench then asks AWS's own service.",
	]);
	expect(
		localTrouble(
			scenario(RIG.replace("c6in.xlarge", "c7g.xlarge")).aws as Aws,
			fakeWorld({ env: HERE }),
		),
	).toContain(
		"i4i.xlarge and c7g.xlarge have processors of two kinds, and a rig starts from one image. Take types of one kind.",
	);
	// An emulator's machines are where it is.
	expect(of("192.168.1.20", { ...HERE, MQBENCH_AWS_ENDPOINT: "http://127.0.0.1:2" })).toHaveLength(
		1,
	);
});

onAws("the Pulumi program takes what is offered, with a key added", async () => {
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
});

onAws(
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

onAws("an offer changes nothing in the account", async () => {
	await made();
	expect(aws.calls.filter((call) => !/:(Describe|Get)\w+$/.test(call))).toEqual([]);
});

onAws.each<[string, () => void, string, Record<string, string>, unknown[]]>([
	[
		"a type that there is none of",
		() => {},
		RIG.replace("i4i.xlarge", "i4i.tiny"),
		{},
		[
			"no zone of eu-central-1 has all of c6in.xlarge, i4i.tiny. Take other types (aws.brokers.instance, aws.clients.instance), or another region.",
		],
	],
	[
		"an image that there is none of",
		() => {},
		`${RIG}`.replace("region: eu-central-1", "region: eu-central-1\n  ami: ami-00000000000000001"),
		{},
		[expect.stringMatching(/^ec2:DescribeImages: AWS refused \(InvalidAMIID\.NotFound: /)],
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

test.each([
	[
		{},
		/^sts:GetCallerIdentity: AWS cannot be reached from here \(ECONNREFUSED: .*\)\. Try again when this machine has a connection to the internet\.\nGET /,
	],
	[
		{ https_proxy: "http://me:secret@proxy:3128" },
		/(.*; https_proxy is set, and mqbench does not use proxies: it needs a direct connection to AWS, and for SSH to the machines\).*\n?){2}$/,
	],
])("nothing listens where AWS is to be, in the environment %j", async (more, words) => {
	const nowhere = "http://127.0.0.1:2";
	const env = { MQBENCH_AWS_ENDPOINT: nowhere, MQBENCH_CHECK_IP: nowhere, ...more };
	const sentences = await refusal(without("sshFrom"), env);
	expect(sentences).toHaveLength(2);
	expect(sentences.join("\n")).toMatch(words);
	expect(sentences.join("\n")).not.toContain("secret");
});

onAws("the address is asked of AWS's service, and the offer says so", async () => {
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
});

onAws("without permission for prices they are missing, and the offer stands", async () => {
	aws.account.denied.add("pricing:GetProducts");
	const found = await made();
	expect(found).toMatchObject({
		hourlyUsd: null,
		unpriced: "you may not call pricing:GetProducts",
		warnings: [],
	});
	// What is not known is said once, where the sum would be.
	expect(found.lines.join("\n")).not.toMatch(/price|pricing|known/);
});

onAws.each([
	["an image that is not Debian's", IMAGES.own, true],
	["an older one of Debian's", IMAGES.older, false],
])("that its machines may never end themselves is said of %s: %s, %s", async (_, ami, said) => {
	const { warnings } = await made(
		RIG.replace("region: eu-central-1", `region: eu-central-1\n  ami: ${ami}`),
	);
	const sentence = `the image ${ami} is not Debian's, and AWS does not say whether it has cloud-init. Without cloud-init its machines never end themselves, and cost money until they are taken down (mqbench rigs list)`;
	expect(warnings.includes(sentence)).toBe(said);
});

onAws("brokers with a volume show it, and a zone that is named is taken", async () => {
	const found = await made(
		RIG.replace(
			"{ instance: i4i.xlarge }",
			"{ instance: m5.xlarge, volume: { type: gp3, size: 100GiB, iops: 16000, throughput: 500MiB } }",
		).replace("  sshFrom", "  zone: eu-central-1b\n  sshFrom"),
	);
	expect(found.lines[0]).toBe(
		"brokers  3 x m5.xlarge, gp3 volume of 100 GiB, 16000 IOPS, 500 MiB/s",
	);
	expect(found.config.zone).toBe("eu-central-1b");
});
