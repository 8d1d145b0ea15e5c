import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { loadScenario } from "../../runner/scenario/load.ts";
import type { Aws } from "../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { AwsConfig } from "../aws/config.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { emulated, IMAGES } from "./emulator.fake.ts";
import { checkHere, offer, platformOf, sshAddress } from "./offer.ts";
import { priceOf } from "./prices.ts";
import type { CloudRequest } from "./request.ts";

const { aws, onAws } = emulated();
// Its first answers take their time: it reads what AWS has of machines.
vi.setConfig({ testTimeout: 120_000 });

const RIG = `aws:
  region: eu-central-1
  sshFrom: 203.0.113.7
  brokers: { instance: i4i.xlarge }
  clients: { instance: c6in.xlarge }
clients: 2
`;
const NO_ADDRESS = RIG.replace(/ +sshFrom.*\n/, "");
const rigWith = (more: string) =>
	RIG.replace("region: eu-central-1", `region: eu-central-1\n  ${more}`);

function scenario(rig = RIG) {
	const workload = "{ rate: 1000/s, message: 1KB, duration: 10s, connections: 32 }";
	const system = "{ broker: kafka, nodes: 3 }";
	return loadScenario("s.yaml", `target: aws\nsystem: ${system}\nworkload: ${workload}\n${rig}`);
}

/** A machine with OpenSSH's client. */
let HERE: Record<string, string> = {};
beforeEach(() => {
	HERE = { PATH: testFolder() };
	for (const program of ["ssh", "ssh-keygen"])
		script(path.join(HERE.PATH ?? "", program), "exit 1");
	aws.calls?.splice(0);
});

const made = (rig?: string, env: Record<string, string> = {}, plannedNs: number | null = 3_600e9) =>
	offer(
		{
			scenario: scenario(rig) as CloudRequest["scenario"],
			systems: [{ system: "kafka", broker: "kafka", nodes: 3 }],
			packages: ["default-jre-headless"],
			plannedNs: 3_600e9,
		},
		plannedNs,
		fakeWorld({ env: { ...HERE, MQBENCH_AWS_ENDPOINT: aws.endpoint, ...env } }),
	);

onAws("an offer says what is rented, where, and what it costs, and changes nothing", async () => {
	const found = await made();
	expect(found).toMatchObject({
		machines: { "i4i.xlarge": 3, "c6in.xlarge": 2 },
		...priceOf(scenario().aws as Aws),
		warnings: [],
	});
	expect(found.lines).toEqual([
		"brokers  3 x i4i.xlarge, their own NVMe",
		"clients  2 x c6in.xlarge",
		"zone     eu-central-1a, in one cluster placement group",
		`image    ${IMAGES.newest} (Debian 12, debian-12-amd64-20260101-2)`,
		"account  123456789012, owner moto",
		"ssh      open to 203.0.113.7/32 alone",
		"end      taken down after the run; by themselves at the latest 2h after they started",
	]);
	expect(aws.calls.filter((call) => !/:(Describe|Get)\w+$/.test(call))).toEqual([]);
	// The Pulumi program takes it, with keys added.
	const keys = { publicKey: "ssh-ed25519 AAAAC3Nz mqbench", identity: "id", knownHosts: "k" };
	expect(AwsConfig.parse({ ...found.config, ...keys })).toMatchObject({
		id: expect.stringMatching(/^s-[0-9a-f]{6}$/),
		owner: "moto",
		zone: "eu-central-1a",
		account: "123456789012",
		ami: IMAGES.newest,
		callerCidr: "203.0.113.7/32",
		ttlMinutes: 120,
		// 2026-01-02T03:04:05 and 2 h, and an hour for standing up and down.
		expiresAt: "2026-01-02T06:04:05.000Z",
		brokers: { instance: "i4i.xlarge", count: 3, volume: null },
		clients: { instance: "c6in.xlarge", count: 2, spot: false },
		packages: ["default-jre-headless"],
		endpoint: aws.endpoint,
	});
});

onAws("machines that stay, a volume, a zone, a profile and another address are shown", async () => {
	const volume = "volume: { type: gp3, size: 100GiB, iops: 16000, throughput: 500MiB }";
	const found = await made(
		rigWith("zone: eu-central-1b").replace("i4i.xlarge }", `m5.xlarge, ${volume} }`),
		{ AWS_PROFILE: "work", MQBENCH_SSH_FROM: "198.51.100.1" },
		null,
	);
	expect(found.lines).toEqual(
		expect.arrayContaining([
			"brokers  3 x m5.xlarge, gp3 100GiB, 16000 IOPS, 500MiB/s",
			"zone     eu-central-1b, in one cluster placement group",
			"account  123456789012, owner moto, profile work",
			"end      stay until they are taken down; by themselves at the latest 2h after they started",
		]),
	);
	expect(found).toMatchObject({ hourlyUsd: null, unpriced: expect.stringContaining("m5.xlarge") });
});

onAws.each([
	["an image that is not Debian's", IMAGES.own, 1],
	["an older one of Debian's", IMAGES.older, 0],
])("%s is warned about if its machines may never end themselves", async (_, ami, count) => {
	const { warnings } = await made(rigWith(`ami: ${ami}`));
	expect(warnings).toHaveLength(count);
	if (count > 0)
		expect(warnings[0]).toContain(`the image ${ami} is not Debian's, and AWS does not`);
});

const TINY = RIG.replace("i4i.xlarge", "i4i.tiny");
const MANY = RIG.replace("clients: 2", "clients: 18");
const NOWHERE = "http://127.0.0.1:2";
onAws.each<[string, string, Record<string, string>, string | RegExp]>([
	["no such type", TINY, {}, "no zone of eu-central-1 has all of c6in.xlarge, i4i.tiny. Take oth"],
	["no such image", rigWith("ami: ami-00000000000000001"), {}, "refused (InvalidAMIID.NotFound: "],
	["no service", NO_ADDRESS, { MQBENCH_CHECK_IP: NOWHERE }, "is not known (ECONNREFUSED). Write"],
	["more machines than a slip of the pen", MANY, {}, "or set MQBENCH_MAX_INSTANCES=21."],
	["a limit that is no number", RIG, { MQBENCH_MAX_INSTANCES: "x" }, "=x: write a number of"],
	[
		"no connection to AWS",
		RIG,
		{ MQBENCH_AWS_ENDPOINT: NOWHERE },
		/^sts:GetCallerIdentity: AWS refused \(ECONNREFUSED: .*\)\. Try again when this machine reaches/,
	],
])("%s: nothing is offered", async (_, rig, env, words) => {
	await expect(made(rig, env)).rejects.toThrow(words);
});

test("what this machine lacks is said before AWS is asked", () => {
	const check = () => checkHere(scenario().aws as Aws, HERE);
	check();
	rmSync(path.join(HERE.PATH as string, "ssh-keygen"));
	expect(check).toThrow("Not on PATH: ssh-keygen. Rented machines are reached over SSH: install");
});

test.each([
	["203.0.113.7 203.0.113.7/32 172.15.0.1 172.32.0.1 192.169.0.1 100.63.0.1 100.128.0.1", true],
	["10.0.0.5 127.0.0.1 172.16.0.1 172.31.255.255 192.168.1.20 100.64.0.1 100.127.0.1", false],
	["203.0.113.0/24 0.0.0.0/0 203.0.113.256 2001:db8::1 here", false],
])("SSH from each of %s: %s", async (addresses, public_) => {
	for (const one of addresses.split(" ")) {
		const address = sshAddress({ sshFrom: null }, fakeWorld({ env: { MQBENCH_SSH_FROM: one } }));
		if (public_) expect((await address).cidr, one).toBe(`${one.replace("/32", "")}/32`);
		else
			await expect(address, one).rejects.toThrow(
				`MQBENCH_SSH_FROM: ${one} is not one public IPv4 address. Write the one`,
			);
	}
	// An emulator's machines are where it is.
	const env = { MQBENCH_SSH_FROM: "10.0.0.5", MQBENCH_AWS_ENDPOINT: "http://127.0.0.1:2" };
	expect((await sshAddress({ sshFrom: null }, fakeWorld({ env }))).cidr).toBe("10.0.0.5/32");
});

test.each([
	["198.51.100.9\n", 200, null],
	["<html>welcome</html>", 200, "is not known (<html>welcome</html>)"],
	["198.51.100.9", 503, "is not known (HTTP 503)"],
])("AWS's service that answers %j with %s is not taken for more", async (text, status, wrong) => {
	const service = createServer((_, response) => response.writeHead(status).end(text));
	await new Promise<void>((done) => service.listen(0, "127.0.0.1", done));
	onTestFinished(() => void service.close());
	const { port } = service.address() as AddressInfo;
	const env = { MQBENCH_CHECK_IP: `http://127.0.0.1:${port}` };
	const address = sshAddress({ sshFrom: null }, fakeWorld({ env }));
	if (wrong === null) expect(await address).toEqual({ cidr: "198.51.100.9/32", asked: true });
	else await expect(address).rejects.toThrow(wrong);
});

test.each([
	["linux/amd64", "i4i.xlarge c6in.32xlarge g4dn.xlarge u-6tb1.metal"],
	["linux/arm64", "c7gn.xlarge i4g.large is4gen.medium m7gd.metal a1.large"],
])("the programs for %s are for each of %s", (platform, types) => {
	for (const type of types.split(" ")) expect(platformOf(type), type).toBe(platform);
});
