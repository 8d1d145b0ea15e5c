import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type Debian,
	type Debians,
	debiansMissing,
	makeDebians,
} from "../../../infra/aws/debian-root.fake.ts";
import {
	type Emulator,
	emulatorMissing,
	startEmulator,
} from "../../../infra/cloud/aws/emulator.fake.ts";
import { type Mqbench, resultOf, start } from "../e2e/mqbench.ts";
import { BUILD_MS, buildPulumi, type TestCloud, testCloud } from "../lifecycle/pulumi.fake.ts";

beforeAll(buildPulumi, BUILD_MS);

/**
 * `--target aws` as a whole, without AWS: moto answers the offer; the real Pulumi runs the real program against a cloud of one file; its
 * machines are Debian roots in network namespaces, which run the very user data that the program gives them, and let in the very key.
 */
const missing = debiansMissing() ?? emulatorMissing();
const GIB = 2 ** 30;

describe.skipIf(missing !== null)(
	`mqbench --target aws${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let folder: string;
		let emulator: Emulator;
		let debians: Debians;
		let cloud: TestCloud;
		let env: Record<string, string>;
		const prepared = new Set<string>();

		beforeAll(async () => {
			folder = mkdtempSync(path.join(tmpdir(), "mqbench-ec2-"));
			emulator = await startEmulator();
			debians = await makeDebians([
				{ diskBytes: 4 * GIB, time: true },
				{ diskBytes: null, time: true },
				{ diskBytes: null, time: true },
			]);
			cloud = testCloud(folder);
			const [broker, ...clients] = debians.all.map(({ host }) => ({
				public: host.address,
				private: host.address,
			}));
			if (broker) cloud.machines("broker", [broker]);
			cloud.machines("client", clients);
			env = {
				...cloud.env,
				MQBENCH_AWS_ENDPOINT: emulator.endpoint,
				MQBENCH_STATE_DIR: path.join(folder, "state"),
				AWS_ACCESS_KEY_ID: "test",
				AWS_SECRET_ACCESS_KEY: "test",
			};
			writeFileSync(path.join(folder, "ec2.yaml"), SCENARIO);
		}, 900_000);
		afterAll(async () => {
			debians?.close();
			await emulator?.close();
			rmSync(folder, { recursive: true, force: true });
		});

		/** Does to the machines what EC2 does: lets the key in, and runs the user data at the first start. */
		const boot = async (mqbench: Mqbench) => {
			let over = false;
			void mqbench.ended.then(() => {
				over = true;
			});
			const booted = new Set<string>();
			const running: Promise<unknown>[] = [];
			while (!over && booted.size < debians.all.length) {
				const things = cloud.resources();
				const key = things.find(({ type }) => type.includes("KeyPair"))?.inputs.publicKey;
				for (const { type, name, inputs } of things) {
					if (!type.endsWith(":Instance") || booted.has(name)) continue;
					booted.add(name);
					const machine = machineOf(name, debians);
					machine.host.run(
						`echo '${key}' >/etc/ssh/keys-of-this-test; chmod 644 /etc/ssh/keys-of-this-test`,
					);
					machine.takeHostKey(String(inputs.userData));
					// A machine is started once: here the next rig finds it as it was.
					if (prepared.has(machine.host.name)) continue;
					prepared.add(machine.host.name);
					// One after the other: they share a cache of packages.
					const before = running.at(-1);
					running.push(
						(before ?? Promise.resolve()).then(() => machine.setUp(String(inputs.userData))),
					);
				}
				await sleep(200);
			}
			await Promise.all(running);
		};
		/** Nothing but what the stand-in for Pulumi has on its list alone: the emulator, where mqbench looks by tags, never had it. */
		const nothingLeft = (...listed: string[]) => {
			expect(cloud.resources().map(({ type }) => type)).toEqual(listed);
			expect(readdirSync(path.join(folder, "state", "rigs"))).toEqual([]);
			for (const { host } of debians.all)
				expect(
					host
						.processes()
						.map(({ name }) => name)
						.filter((name) => /nats-server|java|redis|agent|k6/.test(name)),
				).toEqual([]);
		};

		test("plan says what it would be, and rents nothing", async () => {
			const { code, out, err } = await start(["plan", "ec2.yaml", "--target", "aws"], {
				cwd: folder,
				env,
			}).ended;
			expect(code, err).toBe(0);
			expect(out).toContain("i4i.xlarge");
			expect(out).toContain("c6in.xlarge");
			expect(cloud.asked()).toEqual([]);
		});

		test("stands machines up, prepares them, measures on them, and gives them back", async () => {
			const out = path.join(folder, "out");
			const mqbench = start(["ec2.yaml", "--target", "aws", "--yes", "--out", out], {
				cwd: folder,
				env,
			});
			await boot(mqbench);
			const { code, out: said, err } = await mqbench.ended;
			process.stdout.write(`${err}\n${said}\n`);
			expect(code, said + err).toBe(0);
			const { verdict, runs } = resultOf(out);
			expect(verdict).toBe("pass");
			expect(runs).toHaveLength(2);
			for (const one of runs) {
				expect(one).toMatchObject({
					sent: 2000,
					received: 2000,
					lost: 0,
					topology: "1 node on 1 host (i4i.xlarge)",
				});
				expect(one.clients).toHaveLength(2);
			}
			nothingLeft();
		}, 900_000);

		test("gives them back after Ctrl-C in mid-run, with what was measured", async () => {
			const out = path.join(folder, "interrupted");
			const mqbench = start(
				["ec2.yaml", "--target", "aws", "--yes", "--out", out, "--set", "workload.duration=60s"],
				{ cwd: folder, env },
			);
			const booting = boot(mqbench);
			await mqbench.says(/measuring/, 300_000);
			await sleep(4_000);
			mqbench.signal("SIGINT");
			const { code, err } = await mqbench.ended;
			await booting;
			expect(code, err).toBe(130);
			expect(resultOf(out).verdict).toBe("interrupted");
			nothingLeft();
		}, 900_000);

		test("takes down by its tag what Pulumi could not, and runs the systems that --only names alone", async () => {
			cloud.break("delete", "aws:ec2/vpc:Vpc", 100);
			const out = path.join(folder, "by-tag");
			const mqbench = start(
				["ec2.yaml", "--target", "aws", "--yes", "--out", out, "--only", "jetstream/*"],
				{ cwd: folder, env },
			);
			await boot(mqbench);
			const { code, err } = await mqbench.ended;
			cloud.mend();
			expect(code, err).toBe(0);
			expect(resultOf(out).runs).toHaveLength(1);
			expect(err).toMatch(/aws:ec2\/vpc:Vpc/);
			expect(err).toContain("Removing what has the tag mqbench:run=");
			nothingLeft("aws:ec2/vpc:Vpc");
		}, 900_000);
	},
);

// --- internal ---

const SCENARIO = `name: ec2
aws:
  region: us-east-1
  ttl: 2h
  sshFrom: 203.0.113.7/32
  brokers: { instance: i4i.xlarge }
  clients: { instance: c6in.xlarge }
clients: 2
systems:
  jetstream: { broker: nats, mode: jetstream, durability: os }
  kafka: { broker: kafka, durability: os }
workload: { pattern: round-trip, rate: 500/s, message: 256B, connections: 2, warmup: 1s, duration: 4s }
sla: [lost == 0, p99 < 20s]
`;

function machineOf(name: string, { all }: Debians): Debian {
	const number = Number(/(\d+)$/.exec(name)?.[1] ?? 1);
	const found = all[name.includes("broker") ? 0 : number];
	if (!found) throw new Error(`there is no machine for ${name}`);
	return found;
}
