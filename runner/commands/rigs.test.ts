import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { AwsConfig } from "../../infra/aws/config.ts";
import { cloudsWith, fakeCloud, rentedFile, sweeping } from "../../infra/cloud/cloud.fake.ts";
import type { CloudOptions } from "../../infra/cloud/lifecycle.ts";
import { standUpCloud } from "../../infra/cloud/lifecycle.ts";
import type { Provider, TaggedRig, Thing } from "../../infra/cloud/provider.ts";
import { offered, output } from "../../infra/cloud/rigs.fake.ts";
import { fakeStack } from "../../infra/cloud/stack.fake.ts";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { failure } from "../errors.ts";
import { explain } from "../main.ts";
import { fakeWorld } from "../world.fake.ts";
import type { World } from "../world.ts";
import { down } from "./down.ts";
import { rigsConfig, rigsDestroy, rigsList, rigsSweep } from "./rigs.ts";

const ACCOUNT = "111111111111";
const CREATED = Date.UTC(2026, 0, 2, 3, 4, 5);
const WORDS = "in eu-central-1 (1 i4i.xlarge, 2 c6in.xlarge)";

/** A state folder with these rigs, and a command's world some minutes after they were stood up. */
async function scene(...ids: string[]) {
	const state = testFolder();
	const stack = fakeStack();
	const optionsWith = (parts: Partial<Provider>): CloudOptions => ({
		say: () => {},
		timing: { abortMs: 10, pausesMs: [1, 1], againMs: 1 },
		clouds: cloudsWith({ account: async () => ACCOUNT, open: async () => stack, ...parts }),
	});
	const at = (minutes: number, answer?: string) => {
		const asked: string[] = [];
		const ask = async (question: string) => {
			asked.push(question);
			return answer ?? "";
		};
		const world = fakeWorld({
			env: { MQBENCH_STATE_DIR: state, PATH: process.env.PATH },
			clock: { nowMs: () => CREATED + minutes * 60_000, monotonicMs: () => 0 },
			ask: answer === undefined ? null : ask,
		});
		return { ...world, asked };
	};
	for (const id of ids) {
		const { config, ...rest } = offered(id);
		const open = async () => fakeStack({ up: async () => output(id) });
		const of = { ...rest, config: { ...config, account: ACCOUNT } };
		await (await standUpCloud(of, at(0), optionsWith({ open }))).keep();
		stack.there = ["aws:ec2/instance:Instance broker-1 (i-0abc)"];
	}
	const folder = (id: string) => path.join(state, "rigs", id);
	return { stack, options: optionsWith({}), optionsWith, at, folder };
}

describe("mqbench rigs list", () => {
	test("tells machines, price, age and end of each", async () => {
		const { at } = await scene("demo-1", "demo-2");
		const world = at(35);
		await rigsList({}, world);
		expect(world.out()).toBe(
			`RIG     REGION        MACHINES                     $/H   AGE    ENDS
demo-1  eu-central-1  1 i4i.xlarge, 2 c6in.xlarge  0.82  35min  2026-01-02 05:04 UTC, in 1.42h
demo-2  eu-central-1  1 i4i.xlarge, 2 c6in.xlarge  0.82  35min  2026-01-02 05:04 UTC, in 1.42h
Take one down: mqbench rigs destroy <rig>
`,
		);
	});

	test("as JSON is a list for programs", async () => {
		const { at: nothing } = await scene();
		const empty = nothing(0);
		await rigsList({ json: true }, empty);
		expect(JSON.parse(empty.out())).toEqual([]);
		const { at, folder } = await scene("demo-1");
		mkdirSync(folder("empty"));
		const world = at(35);
		expect(await rigsList({ json: true }, world)).toBe(0);
		expect(JSON.parse(world.out())).toEqual([
			{
				id: "demo-1",
				region: "eu-central-1",
				profile: null,
				account: ACCOUNT,
				machines: { "i4i.xlarge": 1, "c6in.xlarge": 2 },
				hourlyUsd: 0.8211,
				createdAt: "2026-01-02T03:04:05.000Z",
				endsAt: "2026-01-02T05:04:05.000Z",
				expiresAt: "2026-01-02T06:04:05.000Z",
				folder: folder("demo-1"),
				trouble: null,
			},
			expect.objectContaining({
				id: "empty",
				hourlyUsd: null,
				trouble: "there is no rig.json in it",
			}),
		]);
	});

	test("shows the others beside a folder that is half-written or foreign", async () => {
		const { at, folder } = await scene("demo-1");
		for (const name of ["empty", "half", "other", ".Trash-1000"]) mkdirSync(folder(name));
		writeFileSync(path.join(folder("half"), "rig.json"), '{"version": 1, ');
		const rig = readFileSync(path.join(folder("demo-1"), "rig.json"));
		writeFileSync(path.join(folder("other"), "rig.json"), rig);
		// File managers and people leave other files there.
		for (const name of [".DS_Store", "notes.txt"]) writeFileSync(folder(name), "a file");
		const world = at(1);
		expect(await rigsList({}, world)).toBe(0);
		for (const line of [
			/^demo-1 +eu-central-1/m,
			/empty: there is no rig\.json in it/,
			/half.*: it is not JSON/,
			/other: its rig\.json is another rig's/,
		])
			expect(world.out()).toMatch(line);
		expect(world.out()).not.toMatch(/DS_Store|notes|Trash/);
	});
});

describe("mqbench rigs destroy", () => {
	test("asks, naming what is rented, and takes it down", async () => {
		const { at, options, stack, folder } = await scene("demo-1");
		const world = at(5, "y");
		expect(await rigsDestroy({ id: "demo-1" }, world, options)).toBe(0);
		expect(world.asked).toEqual([`Take down the rig demo-1 ${WORDS}? [y/N] `]);
		expect(world.out()).toBe("The rig demo-1 is down; nothing of it is left.\n");
		expect(stack.asked).toEqual(["destroy", "remove"]);
		expect(existsSync(folder("demo-1"))).toBe(false);
	});

	test("leaves it when the answer is no, and when nobody is there to answer", async () => {
		const { at, options, stack } = await scene("demo-1");
		const world = at(5, "");
		expect(await rigsDestroy({ id: "demo-1" }, world, options)).toBe(0);
		expect(world.out()).toBe("Nothing was taken down.\n");
		await expect(rigsDestroy({ id: "demo-1" }, at(5), options)).rejects.toThrow(
			/There is nobody to ask: use --yes/,
		);
		expect(stack.asked).toEqual([]);
	});

	test.each([
		[{ id: "demo-2", yes: true }, "no-such-rig"],
		[{ id: "../demo-1", yes: true }, "no-such-rig"],
		[{ id: ".", yes: true }, "no-such-rig"],
		[{}, "usage"],
		[{ id: "demo-1", all: true }, "usage"],
	])("refuses %j", async (args, code) => {
		const { at, options } = await scene("demo-1");
		await expect(rigsDestroy(args, at(5), options)).rejects.toMatchObject({ code, exit: 2 });
	});

	test("--all is no mistake when there are none, and asks once for all of them", async () => {
		const nothing = await scene();
		const none = nothing.at(0);
		expect(await rigsDestroy({ all: true, yes: true }, none, nothing.options)).toBe(0);
		expect(none.out()).toBe("There is no rig to take down.\n");
		const { at, options, stack } = await scene("demo-1", "demo-2");
		const world = at(5, "n");
		await rigsDestroy({ all: true }, world, options);
		expect(world.asked).toEqual([
			`Take down the rig demo-1 ${WORDS}, the rig demo-2 ${WORDS}? [y/N] `,
		]);
		expect(stack.asked).toEqual([]);
	});

	test("--all goes on behind one that does not go, and ends with exit code 5", async () => {
		const { at, optionsWith, folder } = await scene("demo-1", "demo-2");
		const world = at(5);
		const stays = fakeStack({ destroy: () => Promise.reject(new Error("no room")) });
		const options = optionsWith({
			find: () => Promise.reject(new Error("no network")),
			open: async ({ id }) => (id === "demo-1" ? stays : fakeStack()),
		});
		await expect(rigsDestroy({ all: true, yes: true }, world, options)).rejects.toMatchObject({
			code: "cloud-left",
			exit: 5,
			message: expect.stringMatching(/^The rig demo-1 is not down/),
		});
		expect(world.out()).toBe("The rig demo-2 is down; nothing of it is left.\n");
		expect(["demo-1", "demo-2"].map((id) => existsSync(folder(id)))).toEqual([true, false]);
	});

	test("--all that is stopped names those that it did not come to", async () => {
		const { at, optionsWith, folder } = await scene("demo-1", "demo-2");
		const stop = new AbortController();
		const stops = fakeStack({ destroy: async () => stop.abort("SIGINT") });
		const world = { ...at(5), stop: stop.signal };
		const options = optionsWith({ open: async () => stops });
		await expect(rigsDestroy({ all: true, yes: true }, world, options)).rejects.toMatchObject({
			exit: 5,
			message:
				"Stopped by SIGINT before demo-2 was taken down.\nTake down what is left: mqbench rigs destroy --all",
		});
		expect(existsSync(folder("demo-1"))).toBe(false);
	});
});

describe("mqbench rigs sweep", () => {
	const detail = "i4i.xlarge, running";
	const machine: Thing = { kind: "instance", id: "i-0abc", detail, since: null };
	const tagged: TaggedRig = {
		id: "demo-1",
		owner: "jane",
		expiresAt: "2026-01-02T05:04:05.000Z",
		expired: true,
		chosen: true,
		things: [machine],
	};
	const where = { region: "eu-central-1" };
	const never = () => Promise.reject(new Error("not to be removed"));
	const sweep = (args: Parameters<typeof rigsSweep>[0], world: World, parts: Partial<Provider>) =>
		rigsSweep(args, world, cloudsWith(parts));

	test("shows what it would remove, asks, removes, and forgets what was remembered of it", async () => {
		const { at, folder } = await scene("demo-1");
		const world = at(300, "yes");
		const code = await sweep(where, world, {
			account: async () => ACCOUNT,
			find: async (asked) => {
				expect(asked).toEqual({ ...where, profile: null, id: null, owner: null });
				return [tagged];
			},
			remove: async (rigs) => ({ removed: rigs.flatMap(({ things }) => things), left: [] }),
		});
		expect(code).toBe(0);
		expect(world.out()).toMatch(/^demo-1 .*expired.*\n {2}instance i-0abc/);
		expect(world.asked).toEqual(["Remove 1 thing of demo-1? [y/N] "]);
		expect(world.out()).toMatch(/Removed 1 thing\.\n$/);
		expect(existsSync(folder("demo-1"))).toBe(false);
	});

	const left = [{ thing: machine, reason: "UnauthorizedOperation" }];
	test.each<[string, Partial<Provider>, object, string]>([
		[
			"with the list when something stays",
			{ remove: async () => ({ removed: [], left }) },
			{},
			`1 of 1 is left in eu-central-1:
  instance i-0abc (i4i.xlarge, running): UnauthorizedOperation
Try again: mqbench rigs sweep --region eu-central-1 --id demo-1`,
		],
		[
			"when it is stopped in between",
			{ remove: () => Promise.reject(new Error("Stopped by SIGINT.")) },
			{ profile: "lab" },
			"Stopped by SIGINT.\nOf 1 thing of demo-1 in eu-central-1 some may be left. Try again: mqbench rigs sweep --region eu-central-1 --id demo-1 --profile lab",
		],
	])("ends with exit code 5 %s", async (_, parts, more, message) => {
		const { at, folder } = await scene("demo-1");
		const args = { ...where, yes: true, ...more };
		await expect(
			sweep(args, at(300), { find: async () => [tagged], ...parts }),
		).rejects.toMatchObject({ code: "cloud-left", exit: 5, message });
		expect(existsSync(folder("demo-1"))).toBe(true);
	});

	test("removes nothing that is not chosen, and nothing without an answer", async () => {
		const { at } = await scene();
		const world = at(0);
		const stays = { ...tagged, expired: false, chosen: false };
		expect(await sweep(where, world, { find: async () => [stays], remove: never })).toBe(0);
		expect(world.out()).toMatch(/stays(.|\n)*Nothing to remove/);
		const other = at(300, "n");
		const parts = { find: async () => [tagged], remove: never };
		await sweep(where, other, parts);
		expect(other.out()).toMatch(/Nothing was removed\.\n$/);
		await expect(sweep(where, at(300), parts)).rejects.toThrow(/--yes/);
	});

	test("forgets a rig of which AWS has nothing, but only where it was", async () => {
		const { at, folder } = await scene("demo-1");
		const aws = { account: async () => ACCOUNT, find: async () => [], remove: never };
		await sweep({ region: "us-east-1", id: "demo-1" }, at(1), aws);
		expect(existsSync(folder("demo-1"))).toBe(true);
		const world = at(1);
		await sweep({ ...where, id: "demo-1" }, world, aws);
		expect(world.out()).toMatch(/its folder here is gone, too/);
		expect(existsSync(folder("demo-1"))).toBe(false);
	});

	test("does not forget a rig of which another account shows nothing, nor when nobody can be asked", async () => {
		const { at, folder } = await scene("demo-1");
		for (const [account, words] of [
			[async () => "222222222222", /111111111111.*222222222222/],
			[() => Promise.reject(new Error("ExpiredToken")), /ExpiredToken/],
		] as const) {
			const asked = { ...where, yes: true, id: "demo-1" };
			await expect(sweep(asked, at(1), { find: async () => [], account })).rejects.toMatchObject({
				code: "cloud-left",
				exit: 5,
				message: expect.stringMatching(words),
			});
			expect(existsSync(folder("demo-1"))).toBe(true);
		}
	});

	test("without a region looks into all of them, and goes on behind one that is forbidden", async () => {
		const { at } = await scene();
		const removed: string[] = [];
		const world = at(300, "y");
		const error = await sweep({}, world, {
			regions: async () => ["ap-south-1", "eu-central-1", "us-east-1"],
			async find({ region }) {
				if (region === "ap-south-1")
					throw failure("cloud-unfit", { wrong: ["ec2:DescribeVpcs: no."] });
				return region === "eu-central-1" ? [tagged] : [];
			},
			async remove(rigs, { region }) {
				removed.push(`${region} ${rigs.map(({ id }) => id)}`);
				return { removed: [machine], left: [] };
			},
		}).catch((one) => one);
		expect(removed).toEqual(["eu-central-1 demo-1"]);
		expect(world.out()).toMatch(/^In eu-central-1:\ndemo-1 /);
		expect(error).toMatchObject({
			code: "cloud-unfit",
			message: "ap-south-1 was not looked at: ec2:DescribeVpcs: no.",
		});
	});
});

describe("mqbench down of machines", () => {
	const account = async () => ACCOUNT;
	const rig = { ...rentedFile, cloud: { ...rentedFile.cloud, account: ACCOUNT } };
	/** Of a rig.json. */
	const taking = async (
		rig: unknown,
		{ at, optionsWith }: Pick<Awaited<ReturnType<typeof scene>>, "at" | "optionsWith">,
		parts: Partial<Provider> = {},
	) => {
		const world = { ...at(1), cwd: testFolder() };
		const file = path.join(world.cwd, "rig.json");
		writeFileSync(file, JSON.stringify(rig));
		const code = await down({ file: "rig.json" }, world, optionsWith(parts)).catch((error) =>
			explain(error, world),
		);
		return { code, there: existsSync(file), out: world.out(), err: world.err() };
	};
	const fileOf = (folder: string) =>
		JSON.parse(readFileSync(path.join(folder, "rig.json"), "utf8"));

	test.each([
		["where they are remembered", false],
		["whatever MQBENCH_STATE_DIR says now", true],
	])("destroys them, %s, and removes the file", async (_, elsewhere) => {
		const { at, optionsWith, stack, folder } = await scene("x-1");
		const here = { at: elsewhere ? (await scene()).at : at, optionsWith };
		const { code, there, out } = await taking(fileOf(folder("x-1")), here);
		expect({ code, there }).toEqual({ code: 0, there: false });
		expect(stack.asked).toEqual(["destroy", "remove"]);
		expect(existsSync(folder("x-1"))).toBe(false);
		expect(out).toBe("The rig x-1 is down; nothing of it is left.\n");
	});

	test("that nobody remembers any more removes the file when AWS has nothing of them", async () => {
		const { code, there } = await taking(rig, await scene(), sweeping(0));
		expect({ code, there }).toEqual({ code: 0, there: false });
	});

	test.each<[string, unknown, Partial<Provider>, RegExp]>([
		["AWS has something of them", rig, { ...sweeping(1), account }, /1 thing of it is there/],
		[
			"another account is asked",
			rig,
			{ ...sweeping(0), account: async () => "222222222222" },
			/111111111111.*222222222222/,
		],
		[
			"AWS cannot be asked",
			rig,
			{ find: () => Promise.reject(new Error("no network.")), account },
			/could not ask whether it still exists: no network\./,
		],
		[
			"the account is not known",
			rentedFile,
			{ ...sweeping(0), account },
			/because its account is not known/,
		],
	])("keeps it, with exit code 5 and the command, when %s", async (_, of, parts, words) => {
		const { code, there, err } = await taking(of, await scene(), parts);
		expect({ code, there }).toEqual({ code: 5, there: true });
		expect(err).toMatch(words);
		expect(err).toMatch(/mqbench rigs sweep --region eu-central-1 --id x-1\n/);
	});

	test("keeps the file as long as something is left", async () => {
		const made = await scene("x-1");
		const stack = fakeStack({ destroy: () => Promise.reject(new Error("no")) });
		const { code, there } = await taking(fileOf(made.folder("x-1")), made, {
			find: () => Promise.reject(new Error("no network")),
			open: async () => stack,
		});
		expect({ code, there }).toEqual({ code: 5, there: true });
	});

	test("leaves those that were stood up by hand to the same hand", async () => {
		const byHand = { ...rentedFile, cloud: { ...rentedFile.cloud, state: null } };
		const open = () => Promise.reject(new Error("not asked"));
		const { code, there, err } = await taking(byHand, await scene(), { open });
		expect({ code, there }).toEqual({ code: 2, there: true });
		expect(err).toContain("pulumi destroy where pulumi up was run");
	});
});

test("mqbench rigs config prints what Pulumi is told, with a place for the key alone", async () => {
	const folder = testFolder();
	writeFileSync(
		path.join(folder, "s.yaml"),
		`target: aws
aws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }
system: nats
workload: { rate: 500/s, message: 256B, duration: 1s }
`,
	);
	const world = fakeWorld({ cwd: folder });
	const cloud = fakeCloud();
	const code = await rigsConfig({ path: "s.yaml" }, world, {
		...cloud,
		async offer(_, { id, systems }) {
			const { config } = offered(id);
			return { ...cloud.offerMade, config: { ...config, systems } };
		},
	});
	expect(code).toBe(0);
	expect(cloud.asked).not.toContain("stand up");
	const config = parse(world.out()).config["mqbench:rig"];
	// Refused as printed, so that a forgotten key is noticed.
	const wrong = AwsConfig.safeParse(config);
	expect(wrong.error?.issues.map((one) => one.path)).toEqual([["publicKey"]]);
	const whole = AwsConfig.parse({ ...config, publicKey: "ssh-ed25519 AAAA me@here" });
	expect(whole).toMatchObject({
		region: "eu-central-1",
		identity: "id_ed25519",
		systems: [{ system: "nats", broker: "nats", nodes: 1 }],
	});
	expect(world.out()).toMatch(new RegExp(`#   pulumi stack init ${whole.id}\n`));
});
