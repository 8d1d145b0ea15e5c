import { readdirSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Emulator, startEmulator } from "../../../infra/rent/emulator.fake.ts";
import { destroyRigs } from "../../../infra/rent/remove.ts";
import { offered, standUpAlone } from "../../../infra/rent/rent.fake.ts";
import { standUp } from "../../../infra/rent/stand-up.ts";
import { findTagged } from "../../../infra/rent/tagged.ts";
import { fakeWorld } from "../../world.fake.ts";
import type { World } from "../../world.ts";
import { start, temporaryFolder, until } from "../e2e/mqbench.ts";
import { BUILD_MS, buildPulumi, testCloud } from "./pulumi.fake.ts";
import { kindsOf, REGION, WHOLE } from "./rented.fake.ts";

let aws: Emulator;
beforeAll(async () => {
	buildPulumi();
	aws = await startEmulator();
}, BUILD_MS);
afterAll(() => aws?.close());

/**
 * The real command pulumi, built from its sources, with the real program of infra/aws. The language host (which starts the program), the
 * provider and AWS (moto) are stand-ins.
 */

const INSTANCE = "aws:ec2/instance:Instance";

describe("a rig that mqbench stands up", () => {
	test("of which a machine cannot be had is taken down again, and AWS's reason is told", async () => {
		const { cloud, up, tagged } = makeCloud();
		cloud.break("create", INSTANCE, 1);
		await expect(up()).rejects.toMatchObject({
			code: "cloud-up",
			message: expect.stringContaining("InsufficientInstanceCapacity"),
		});
		expect(cloud.asked()).toContainEqual(expect.stringMatching(/^create aws:ec2\/vpc:Vpc /));
		expect(cloud.resources()).toEqual([]);
		expect(await tagged()).toEqual([]);
	});

	test("that hangs goes with Ctrl-C", async () => {
		const { cloud, up, stop, tagged } = makeCloud();
		cloud.break("hang", INSTANCE, 1);
		const standing = up();
		standing.catch(() => {});
		await until(
			() => cloud.asked().some((line) => line.startsWith(`create ${INSTANCE}`)),
			"a machine is asked for",
			120_000,
		);
		stop.abort("SIGINT");
		await expect(standing).rejects.toMatchObject({ code: "interrupted" });
		// Asked once, in order; calls already begun were finished, and then undone.
		expect(cloud.asked().filter((line) => line === "cancel").length).toBeGreaterThan(0);
		expect(cloud.resources()).toEqual([]);
		expect(await tagged()).toEqual([]);
	});

	test("is there whole; what Pulumi cannot remove goes by its tag, and nothing remembers it", async () => {
		const { cloud, up, state, said, tagged } = makeCloud();
		const rig = await up();
		// It has a second client.
		expect(kindsOf((await tagged())[0])).toEqual([...WHOLE, "instance", "volume"].sort());
		// The output for people: a line for each thing, and no lines in Pulumi's format.
		expect(said()).toMatch(/aws:ec2:Instance \S*broker\S* created/);
		expect(readdirSync(path.join(state, "rigs"))).toEqual(["demo-1"]);
		cloud.break("delete", INSTANCE, 2);
		await rig.teardown();
		expect(said()).toContain("Pulumi could not take it down");
		expect(await tagged()).toEqual([]);
		expect(readdirSync(path.join(state, "rigs"))).toEqual([]);
	});

	test("that never goes is listed with exit code 5, and goes later", async () => {
		const { cloud, up, world, tagged } = makeCloud();
		const rig = await up();
		cloud.break("delete", "aws:ec2/vpc:Vpc", 100);
		aws.account.denied.add("ec2:DeleteVpc");
		await expect(rig.teardown()).rejects.toMatchObject({
			code: "cloud-left",
			exit: 5,
			message: expect.stringMatching(
				/VPC vpc-\w+: ec2:DeleteVpc[\s\S]*npx mqbench rigs destroy demo-1/,
			),
		});
		expect(kindsOf((await tagged())[0])).toEqual(["VPC"]);
		cloud.mend();
		aws.account.denied.clear();
		await destroyRigs("demo-1", true, world, options);
		expect(await tagged()).toEqual([]);
	});

	test("whose mqbench was killed while Pulumi worked is listed, and goes with mqbench rigs destroy, lock and all", async () => {
		const { cloud, env, tagged } = makeCloud();
		cloud.break("hang", INSTANCE, 1);
		const child = standUpAlone(env);
		await until(
			() => cloud.asked().some((line) => line.startsWith(`create ${INSTANCE}`)),
			"a machine is asked for",
			120_000,
		);
		child.kill("SIGKILL");
		const listed = start(["rigs", "list"], { env });
		expect((await listed.ended).out).toContain("demo-1");
		const destroyed = await start(["rigs", "destroy", "demo-1", "--yes"], { env }).ended;
		expect(destroyed).toMatchObject({ code: 0 });
		expect(cloud.resources()).toEqual([]);
		expect(await tagged()).toEqual([]);
	});
});

// --- internal ---

const options = { patienceMs: 30_000, againMs: 200 };

/** An empty cloud, and a user whose state folder is empty. */
function makeCloud() {
	const folder = temporaryFolder();
	const cloud = testCloud(folder);
	// Pulumi reads its folder as a URL.
	const state = path.join(folder, "My state, 100% #1?");
	const { endpoint } = aws;
	const env = {
		...cloud.env,
		PATH: process.env.PATH ?? "",
		HOME: folder,
		MQBENCH_STATE_DIR: state,
		MQBENCH_AWS_ENDPOINT: endpoint,
	};
	const stop = new AbortController();
	const world = fakeWorld({ env, stop: stop.signal, cwd: folder });
	return {
		cloud,
		state,
		env,
		stop,
		world: world as World,
		said: world.err,
		up: () => standUp(offered("demo-1", { endpoint }), world, options),
		tagged: () => findTagged({ region: REGION, profile: null }, null, fakeWorld({ env })),
	};
}
