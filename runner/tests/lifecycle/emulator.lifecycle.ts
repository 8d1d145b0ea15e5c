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
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Hosts, hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import {
	allowedCalls,
	type Emulator,
	emulatorMissing,
	type PriceProduct,
	startEmulator,
} from "../../../infra/cloud/aws/emulator.fake.ts";
import { findTagged } from "../../../infra/cloud/aws/sweep.ts";
import type { TaggedRig } from "../../../infra/cloud/provider.ts";
import { descendants } from "../../../infra/processes.fake.ts";
import { fakeWorld } from "../../world.fake.ts";
import { type Mqbench, resultOf, start, until } from "../e2e/mqbench.ts";
import { BUILD_MS, buildPulumi, type TestCloud, testCloud } from "./pulumi.fake.ts";

const missing = hostsMissing() ?? emulatorMissing();

/**
 * `--target aws` as a whole: the real command pulumi runs the real program, and everything that is made stands in moto. What stands in:
 * moto for AWS, `pulumi/ec2-calls.mjs` for Pulumi's provider, two hosts of this machine for what the rented machines do.
 */
describe.skipIf(missing !== null)(
	`a rig in an emulator of AWS${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let folder: string;
		let emulator: Emulator;
		let hosts: Hosts;
		let cloud: TestCloud;
		let env: Record<string, string>;

		beforeAll(async () => {
			buildPulumi();
			folder = mkdtempSync(path.join(tmpdir(), "mqbench-lifecycle-"));
			emulator = await startEmulator();
			emulator.account.products = PRICES;
			emulator.account.spot.set("c6in.xlarge", "0.1");
			hosts = await makeHosts(2);
			cloud = testCloud(folder);
			const [broker, client] = hosts.all.map(({ address }) => ({
				public: address,
				private: address,
			}));
			if (!broker || !client) throw new Error("two hosts");
			cloud.machines("broker", [broker]);
			cloud.machines("client", [client]);
			for (const { run } of hosts.all) run(PREPARED);
			env = {
				...cloud.env,
				MQBENCH_AWS_ENDPOINT: emulator.endpoint,
				AWS_ACCESS_KEY_ID: "test",
				AWS_SECRET_ACCESS_KEY: "test",
				MQBENCH_STATE_DIR: path.join(folder, "state"),
			};
			writeFileSync(path.join(folder, "rented.yaml"), scenario(false));
			writeFileSync(path.join(folder, "spot.yaml"), scenario(true));
		}, BUILD_MS);
		afterAll(async () => {
			hosts?.close();
			await emulator?.close();
			rmSync(folder, { recursive: true, force: true });
		});

		const mqbench = (args: readonly string[]) => start(args, { cwd: folder, env });
		/** Everything in the emulator with a tag of mqbench's. */
		const tagged = () =>
			findTagged({ region: REGION, profile: null, id: null, owner: null }, fakeWorld({ env }));
		const nothingLeft = async () => {
			expect(await tagged()).toEqual([]);
			expect(readdirSync(path.join(folder, "state", "rigs"))).toEqual([]);
		};
		/** As EC2 does it at the first start: the machine has the rig's host key, and who has the rig's other key comes in. */
		const letIn = async (command: Mqbench) => {
			let over = false;
			void command.ended.then(() => {
				over = true;
			});
			const rigs = path.join(folder, "state", "rigs");
			for (; !over; await sleep(200))
				for (const id of existsSync(rigs) ? readdirSync(rigs) : []) {
					const [key = "", own = "", known = ""] = [
						"id_ed25519.pub",
						"host_ed25519",
						"known_hosts",
					].map((name) => path.join(rigs, id, name));
					if (![key, own, known].every((file) => existsSync(file))) continue;
					for (const host of hosts.all) host.takeHostKey(readFileSync(own, "utf8"));
					appendFileSync(`${hosts.identity}.pub`, readFileSync(key));
					return;
				}
		};

		test("mqbench run stands it up, measures on its machines, and takes it down", async () => {
			const out = path.join(folder, "out");
			const command = mqbench(["rented.yaml", "--target", "aws", "--yes", "--out", out]);
			await letIn(command);
			const { code, out: said, err } = await command.ended;
			expect(code, said + err).toBe(0);
			expect(resultOf(out)).toMatchObject({ verdict: "pass", runs: [{ received: 1000, lost: 0 }] });
			await nothingLeft();
		});

		test("mqbench up leaves it, with clients of the spot market, and mqbench down takes it down", async () => {
			const up = await mqbench(["up", "spot.yaml", "--target", "aws", "--yes"]).ended;
			expect(up.code, up.err).toBe(0);
			const [rig] = await tagged();
			expect(kindsOf(rig)).toEqual(WHOLE);
			const down = await mqbench(["down", "rig.json"]).ended;
			expect(down.code, down.err).toBe(0);
			await nothingLeft();
		});

		test("one whose mqbench and Pulumi were killed while it was made goes with mqbench rigs destroy --all", async () => {
			await killedMidway();
			expect((await tagged()).length).toBe(1);
			const destroyed = await mqbench(["rigs", "destroy", "--all", "--yes"]).ended;
			expect(destroyed.code, destroyed.err).toBe(0);
			await nothingLeft();
		});

		test("one of which nobody knows any more goes with mqbench rigs sweep, by its tags", async () => {
			await killedMidway();
			// The machine that rented it is gone, with its disk.
			rmSync(path.join(folder, "state", "rigs"), { recursive: true });
			const [rig] = await tagged();
			const sweep = ["rigs", "sweep", "--region", REGION, "--yes"];
			const young = await mqbench(sweep).ended;
			expect(young.code, young.err).toBe(0);
			expect(await tagged()).toHaveLength(1);
			const swept = await mqbench([...sweep, "--id", rig?.id ?? ""]).ended;
			expect(swept.code, swept.err).toBe(0);
			expect(await tagged()).toEqual([]);
		});

		// After all others. That nothing else is allowed either is calls.lifecycle.ts' matter.
		test("and the policy allows all that was called", () => {
			const called = emulator.calls;
			expect(called).toContain("ec2:RunInstances");
			expect([...new Set(called)].filter((call) => !allowedCalls().includes(call))).toEqual([]);
		});

		/** As the power fails: in the middle of making the machines. */
		async function killedMidway() {
			const before = cloud.asked().length;
			cloud.break("hang", "aws:ec2/instance:Instance", 1);
			const up = mqbench(["up", "rented.yaml", "--target", "aws", "--yes"]);
			await until(
				() =>
					cloud
						.asked()
						.slice(before)
						.some((line) => line.startsWith("create aws:ec2/instance")),
				"a machine is being made",
				120_000,
			);
			for (const { pid } of [{ pid: up.pid }, ...descendants(up.pid)]) process.kill(pid, "SIGKILL");
			await up.ended;
			cloud.mend();
		}
	},
);

// --- internal ---

const REGION = "eu-central-1";

const scenario = (spot: boolean) => `name: life
target: aws
aws:
  region: ${REGION}
  ttl: 2h
  sshFrom: 203.0.113.7/32
  brokers: { instance: i4i.xlarge }
  clients: { instance: c6in.xlarge, spot: ${spot} }
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

/** What such a rig is made of. */
const WHOLE = [
	"VPC",
	"instance",
	"instance",
	"internet-gateway",
	"key-pair",
	"placement-group",
	"route-table",
	"security-group",
	"subnet",
	"volume",
	"volume",
];

function kindsOf(rig: TaggedRig | undefined): string[] {
	return (rig?.things ?? []).map(({ kind }) => kind).sort();
}

/** Makes a host look as user data leaves a machine: its user, and a set-up that is over. Only the host sees it. */
const PREPARED = `
cp /etc/passwd ~root/passwd
echo admin:x:0:0::/root:/bin/sh >>~root/passwd
mount --bind ~root/passwd /etc/passwd
echo 'admin:*:20000:0:99999:7:::' >>/etc/shadow
mount -t tmpfs tmpfs /var/lib
mkdir -p /var/lib/mqbench/store
echo ready >/var/lib/mqbench/state
`;
