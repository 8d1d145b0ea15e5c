import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Hosts, hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import {
	allowedCalls,
	type Emulator,
	emulatorMissing,
	startEmulator,
} from "../../../infra/cloud/aws/emulator.fake.ts";
import { findTagged } from "../../../infra/cloud/aws/sweep.ts";
import { descendants } from "../../../infra/processes.fake.ts";
import { fakeWorld } from "../../world.fake.ts";
import { resultOf, start, until } from "../e2e/mqbench.ts";
import { BUILD_MS, buildPulumi, type TestCloud, testCloud } from "./pulumi.fake.ts";
import { kindsOf, letIn, PREPARED, PRICES, REGION, scenario, WHOLE } from "./rented.fake.ts";

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
			writeFileSync(path.join(folder, "rented.yaml"), scenario());
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
		test("mqbench run stands it up, measures on its machines, and takes it down", async () => {
			const out = path.join(folder, "out");
			const command = mqbench(["rented.yaml", "--target", "aws", "--yes", "--out", out]);
			await letIn(hosts, path.join(folder, "state"), command.ended);
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
