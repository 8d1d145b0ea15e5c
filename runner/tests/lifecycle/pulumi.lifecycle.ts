import { readdirSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { destroyCloud, standUpCloud } from "../../../infra/cloud/lifecycle.ts";
import { offered } from "../../../infra/cloud/rigs.fake.ts";
import { fakeWorld } from "../../world.fake.ts";
import type { World } from "../../world.ts";
import { start, temporaryFolder, until } from "../e2e/mqbench.ts";
import { BUILD_MS, buildPulumi, testCloud } from "./pulumi.fake.ts";
import { standUpAlone } from "./rented.fake.ts";

beforeAll(buildPulumi, BUILD_MS);

/**
 * The real command pulumi, out of its sources, with the real program of infra/aws. What stands in: the language host (which starts the
 * program) and the provider, with a cloud that is one file. AWS itself is not asked.
 */

const INSTANCE = "aws:ec2/instance:Instance";
/** So many things make a rig of one broker and two clients. */
const WHOLE = 11;

describe("a rig that mqbench stands up", () => {
	test("of which a machine cannot be had is taken down again, and AWS's reason is told", async () => {
		const { cloud, world } = makeCloud();
		cloud.break("create", INSTANCE, 1);
		await expect(standUpCloud(offered(), world, options)).rejects.toMatchObject({
			code: "cloud-up",
			message: expect.stringContaining("InsufficientInstanceCapacity"),
		});
		expect(cloud.asked()).toContainEqual(expect.stringMatching(/^create aws:ec2\/vpc:Vpc /));
		expect(cloud.resources()).toEqual([]);
	});

	test("that hangs goes with Ctrl-C", async () => {
		const { cloud, world, stop } = makeCloud();
		cloud.break("hang", INSTANCE, 1);
		const up = standUpCloud(offered(), world, options);
		up.catch(() => {});
		await until(
			() => cloud.asked().some((line) => line.startsWith(`create ${INSTANCE}`)),
			"a machine is asked for",
			120_000,
		);
		stop.abort("SIGINT");
		await expect(up).rejects.toMatchObject({ code: "interrupted" });
		// Asked once, in order; what was begun was finished, and then taken down.
		expect(cloud.asked().filter((line) => line === "cancel").length).toBeGreaterThan(0);
		expect(cloud.resources()).toEqual([]);
	});

	test("is there whole; if it does not go at first, it goes at the third try, and nothing remembers it", async () => {
		const { cloud, world, state, said } = makeCloud();
		const rig = await standUpCloud(offered(), world, options);
		expect(cloud.resources()).toHaveLength(WHOLE);
		// What people see of it: a line for each thing, none of Pulumi's own.
		expect(said()).toMatch(/aws:ec2:Instance \S*broker\S* created/);
		expect(readdirSync(path.join(state, "rigs"))).toEqual(["demo-1"]);
		cloud.break("delete", INSTANCE, 2);
		await rig.teardown();
		expect(cloud.resources()).toEqual([]);
		expect(readdirSync(path.join(state, "rigs"))).toEqual([]);
	});

	test("that never goes is listed with exit code 5, and goes later", async () => {
		const { cloud, world } = makeCloud();
		const rig = await standUpCloud(offered(), world, options);
		cloud.break("delete", "aws:ec2/vpc:Vpc", 100);
		await expect(rig.teardown()).rejects.toMatchObject({
			code: "cloud-left",
			exit: 5,
			message: expect.stringMatching(/aws:ec2\/vpc:Vpc[\s\S]*mqbench rigs destroy demo-1/),
		});
		expect(cloud.resources().map(({ type }) => type)).toEqual(["aws:ec2/vpc:Vpc"]);
		cloud.mend();
		await destroyCloud("demo-1", { ...world, stop: new AbortController().signal }, options);
		expect(cloud.resources()).toEqual([]);
	});

	test("whose mqbench was killed while Pulumi worked is listed, and goes with mqbench rigs destroy, lock and all", async () => {
		const { cloud, env } = makeCloud();
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
	});
});

// --- internal ---

const options = { yes: true, timing: { abortMs: 30_000, pausesMs: [200, 200] } };

/** A cloud with nothing in it, and a person whose state folder is empty. */
function makeCloud() {
	const folder = temporaryFolder();
	const cloud = testCloud(folder);
	// Pulumi reads its folder as a URL.
	const state = path.join(folder, "My state, 100% #1?");
	const env = {
		...cloud.env,
		PATH: process.env.PATH ?? "",
		HOME: folder,
		MQBENCH_STATE_DIR: state,
	};
	const stop = new AbortController();
	const world = fakeWorld({ env, stop: stop.signal, cwd: folder });
	return { cloud, state, env, stop, world: world as World, said: world.err };
}
