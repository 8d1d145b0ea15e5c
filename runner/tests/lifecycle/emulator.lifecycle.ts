import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Hosts, hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import { descendants } from "../../../infra/processes.fake.ts";
import {
	allowedCalls,
	type Emulator,
	emulatorMissing,
	startEmulator,
} from "../../../infra/rent/emulator.fake.ts";
import { enabledRegions, findTagged } from "../../../infra/rent/tagged.ts";
import { packageFolder } from "../../package.ts";
import { fakeWorld } from "../../world.fake.ts";
import type { World } from "../../world.ts";
import { resultOf, start, until } from "../e2e/mqbench.ts";
import { BUILD_MS, buildPulumi, type TestCloud, testCloud } from "./pulumi.fake.ts";
import { kindsOf, letIn, PREPARED, REGION, scenario, WHOLE } from "./rented.fake.ts";

const missing = hostsMissing() ?? emulatorMissing();

/**
 * `--target aws` as a whole: the real command pulumi runs the real program, and makes everything in moto. The stand-ins are moto for AWS,
 * `pulumi/ec2-calls.mjs` for Pulumi's provider, and two hosts of this machine for the rented machines.
 */
describe.skipIf(missing !== null)(
	`a rig in an emulator of AWS${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let folder: string;
		let emulator: Emulator;
		let hosts: Hosts;
		let cloud: TestCloud;
		let env: Record<string, string>;
		let world: World;

		beforeAll(async () => {
			buildPulumi();
			folder = mkdtempSync(path.join(tmpdir(), "mqbench-lifecycle-"));
			emulator = await startEmulator();
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
			world = fakeWorld({ env });
			writeFileSync(path.join(folder, "rented.yaml"), scenario());
			writeFileSync(path.join(folder, "spot.yaml"), scenario(true));
		}, BUILD_MS);
		afterAll(async () => {
			hosts?.close();
			await emulator?.close();
			rmSync(folder, { recursive: true, force: true });
		});

		const mqbench = (args: readonly string[]) => start(args, { cwd: folder, env });
		const where = { region: REGION, profile: null };
		/** Everything in the emulator with a tag of mqbench's. */
		const tagged = () => findTagged(where, null, world);
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

		test("Ctrl-C in mid-run gives its machines back, by their tags what Pulumi cannot, and keeps what was measured", async () => {
			cloud.break("delete", "aws:ec2/vpc:Vpc", 100);
			const out = path.join(folder, "interrupted");
			const more = ["--out", out, "--set", "workload.duration=60s"];
			const command = mqbench(["rented.yaml", "--target", "aws", "--yes", ...more]);
			await letIn(hosts, path.join(folder, "state"), command.ended);
			await command.says(/measuring/, 300_000);
			command.signal("SIGINT");
			const { code, err } = await command.ended;
			cloud.mend();
			expect(code, err).toBe(130);
			expect(resultOf(out).verdict).toBe("interrupted");
			expect(err).toContain("Removing everything with the tag mqbench:run=");
			await nothingLeft();
		});

		test("mqbench up leaves it, with clients of the spot market, and mqbench down takes it down", async () => {
			const up = await mqbench(["up", "spot.yaml", "--target", "aws", "--yes"]).ended;
			expect(up.code, up.err).toBe(0);
			const [rig] = await tagged();
			expect(kindsOf(rig)).toEqual(WHOLE);
			// A sweep asks where rigs may be.
			expect(await enabledRegions(null, world)).toContain(REGION);
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
			const up = await mqbench(["up", "rented.yaml", "--target", "aws", "--yes"]).ended;
			expect(up.code, up.err).toBe(0);
			// The machine that rented it is gone, with its disk.
			rmSync(path.join(folder, "state", "rigs"), { recursive: true });
			rmSync(path.join(folder, "rig.json"));
			const [rig] = await tagged();
			const sweep = ["rigs", "sweep", "--region", REGION, "--yes"];
			const young = await mqbench(sweep).ended;
			expect(young.code, young.err).toBe(0);
			expect(await tagged()).toHaveLength(1);
			const swept = await mqbench([...sweep, "--id", rig?.id ?? ""]).ended;
			expect(swept.code, swept.err).toBe(0);
			expect(await tagged()).toEqual([]);
		});

		// After all others.
		test("every call was allowed, and none is allowed that is neither made nor has its reason in PERMISSIONS.md", () => {
			const page = readFileSync(path.join(packageFolder, "infra/aws/PERMISSIONS.md"), "utf8");
			const [, list = ""] = /## Allowed, and called by no test\n(.*?)\n## /s.exec(page) ?? [];
			const reasons = [...list.matchAll(/^\| `(\w+:\w+)` \|/gm)].map(([, call = ""]) => call);
			expect([...new Set(emulator.calls)].sort()).toEqual(
				allowedCalls().filter((call) => !reasons.includes(call)),
			);
			expect(allowedCalls()).toEqual(expect.arrayContaining(reasons));
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
