import { spawn } from "node:child_process";
import {
	appendFileSync,
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import { type PriceProduct, startEmulator } from "../../../infra/cloud/aws/emulator.fake.ts";
import { fakePulumi } from "../../../infra/cloud/pulumi.fake.ts";
import { output } from "../../../infra/cloud/rigs.fake.ts";
import { packageFolder } from "../../package.ts";

// The script of a first run on AWS, with an emulator of AWS, a stand-in for the command pulumi, and two hosts of this machine as machines.
const missing = hostsMissing();

test.skipIf(missing !== null)(
	`first-run.sh passes where a rig is as it must be, says which machine does not end itself, and leaves nothing when it is ended${missing === null ? "" : ` (skipped: ${missing})`}`,
	async () => {
		const folder = mkdtempSync(path.join(tmpdir(), "mqbench-first-run-"));
		onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
		const aws = await startEmulator();
		onTestFinished(() => aws.close());
		aws.account.products = PRICES;
		const hosts = await makeHosts(2);
		onTestFinished(() => hosts.close());
		const [broker, client] = hosts.all;
		if (!broker || !client) throw new Error("two hosts");
		for (const { run } of hosts.all) run(PREPARED);
		const access = {
			user: "admin",
			identity: "id_ed25519",
			knownHosts: "known_hosts",
			setUp: true,
			hostKeyKnown: true,
		};
		const pulumi = fakePulumi(folder);
		const { address } = broker;
		pulumi.behave({
			rig: {
				...output(),
				brokers: [
					{ system: "nats", broker: "nats", hosts: [{ host: address, address, ...access }] },
				],
				clients: [{ host: client.address, ...access }],
			},
		});
		writeFileSync(path.join(folder, "x.yaml"), SCENARIO);
		const state = path.join(folder, "state");
		const firstRun = async (name: string, endAt?: string) => {
			const child = spawn(
				"sh",
				[path.join(packageFolder, "infra/aws/first-run.sh"), "x.yaml", name, "5"],
				{
					cwd: folder,
					env: {
						PATH: process.env.PATH,
						HOME: process.env.HOME,
						MQBENCH: `${process.execPath} ${path.join(packageFolder, "dist/runner/cli.js")}`,
						MQBENCH_PULUMI: pulumi.program,
						MQBENCH_AWS_ENDPOINT: aws.endpoint,
						MQBENCH_STATE_DIR: state,
					},
				},
			);
			let said = "";
			for (const stream of [child.stdout, child.stderr])
				stream.on("data", (text) => {
					said += text;
					if (endAt && said.includes(endAt)) child.kill("SIGTERM");
				});
			let over = false;
			const ended = new Promise<number | null>((resolve) =>
				child.once("close", (code) => {
					over = true;
					resolve(code);
				}),
			);
			// As EC2 does it: the machine has the rig's host key, and who has the rig's other key comes in.
			for (let known = false; !known && !over; await sleep(200)) {
				const rigs = path.join(state, "rigs");
				for (const id of existsSync(rigs) ? readdirSync(rigs) : []) {
					const key = path.join(rigs, id, "id_ed25519.pub");
					const own = path.join(rigs, id, "host_ed25519");
					const marker = path.join(rigs, id, "known_hosts");
					if (![key, own, marker].every((file) => existsSync(file))) continue;
					for (const host of hosts.all) host.takeHostKey(readFileSync(own, "utf8"));
					appendFileSync(`${hosts.identity}.pub`, readFileSync(key));
					known = true;
				}
			}
			return { code: await ended, said };
		};
		const passed = await firstRun("first");
		expect(passed.said).not.toContain("FAILED");
		expect(passed.code, passed.said).toBe(0);
		expect(passed.said).toContain("passed  nothing with its tag is left");

		client.run("rm /usr/local/bin/systemctl");
		const failed = await firstRun("second");
		expect(failed.said.match(/^FAILED .*/gm)).toEqual([
			`FAILED  admin@${client.address} ends itself`,
		]);
		expect(failed.code).toBe(1);

		const ended = await firstRun("third", " run /");
		expect(ended.code, ended.said).toBe(130);
		expect(readdirSync(path.join(state, "rigs"))).toEqual([]);
	},
);

// --- internal ---

const REGION = "eu-central-1";

const SCENARIO = `name: first
target: aws
aws:
  region: ${REGION}
  sshFrom: 203.0.113.7/32
  brokers: { instance: i4i.xlarge }
  clients: { instance: c6in.xlarge }
system: { broker: nats, mode: jetstream, durability: os }
workload: { pattern: round-trip, rate: 500/s, message: 256B, warmup: 1s, duration: 2s }
sla: [lost == 0, p99 < 20s]
`;

/** Made up for easy sums, in the form of AWS's list. */
const PRICES: PriceProduct[] = [
	...["i4i.xlarge", "c6in.xlarge"].map((instanceType) => ({
		service: "AmazonEC2",
		attributes: {
			regionCode: REGION,
			instanceType,
			operatingSystem: "Linux",
			tenancy: "Shared",
			preInstalledSw: "NA",
			capacitystatus: "Used",
			marketoption: "OnDemand",
		},
		steps: [{ unit: "Hrs", usd: "0.4" }],
	})),
	{
		service: "AmazonEC2",
		attributes: { regionCode: REGION, volumeApiName: "gp3", usagetype: "EUC1-EBS:VolumeUsage.gp3" },
		steps: [{ unit: "GB-Mo", usd: "0.09" }],
	},
	{
		service: "AmazonVPC",
		attributes: { regionCode: REGION, usagetype: "EUC1-PublicIPv4:InUseAddress" },
		steps: [{ unit: "Hrs", usd: "0.005" }],
	},
];

/** Makes a host look as user data leaves a machine: its user, a set-up that is over, its end and its clock. Only the host sees it. */
const PREPARED = `
cp /etc/passwd ~root/passwd
echo admin:x:0:0::/root:/bin/sh >>~root/passwd
mount --bind ~root/passwd /etc/passwd
echo 'admin:*:20000:0:99999:7:::' >>/etc/shadow
mount -t tmpfs tmpfs /var/lib
mkdir -p /var/lib/mqbench/store
echo ready >/var/lib/mqbench/state
echo '{ "chrony": { "source": "PHC0", "boundNs": 20000 } }' >/var/lib/mqbench/facts.json
mount -t tmpfs tmpfs /usr/local/bin
printf '#!/bin/sh\\n[ "$*" = "is-active mqbench-ttl.service" ]\\n' >/usr/local/bin/systemctl
chmod 755 /usr/local/bin/systemctl
`;
