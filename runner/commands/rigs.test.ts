import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { emulated, tagged } from "../../infra/rent/emulator.fake.ts";
import { fakeStack, offered, rentedFile } from "../../infra/rent/rent.fake.ts";
import { standUp } from "../../infra/rent/stand-up.ts";
import type { CloudOptions } from "../../infra/rent/take-down.ts";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { explain } from "../main.ts";
import { fakeWorld } from "../world.fake.ts";
import { down } from "./down.ts";
import { rigsDestroy, rigsList, rigsSweep } from "./rigs.ts";

const CREATED = Date.UTC(2026, 0, 2, 3, 4, 5);
const WORDS = "in eu-central-1 (1 i4i.xlarge, 2 c6in.xlarge)";

const { aws, onAws } = emulated();
beforeEach(() => aws.account?.denied.clear());

/** A state folder with these rigs, and a command's world some minutes after they were stood up. */
async function scene(...ids: string[]) {
	const state = testFolder();
	const stack = fakeStack();
	const options: CloudOptions = { say: () => {}, againMs: 1, open: async () => stack };
	const at = (minutes: number, answer?: string) => {
		const asked: string[] = [];
		const ask = async (question: string) => {
			asked.push(question);
			return answer ?? "";
		};
		const world = fakeWorld({
			env: {
				MQBENCH_STATE_DIR: state,
				PATH: process.env.PATH,
				MQBENCH_AWS_ENDPOINT: aws.endpoint,
			},
			clock: { nowMs: () => CREATED + minutes * 60_000, monotonicMs: () => 0 },
			ask: answer === undefined ? null : ask,
		});
		return { ...world, asked };
	};
	for (const id of ids) {
		const open = async () => fakeStack();
		(await standUp(offered(id), at(0), { ...options, open })).keep();
	}
	const folder = (id: string) => path.join(state, "rigs", id);
	return { stack, options, at, folder };
}

describe("mqbench rigs list", () => {
	test("tells machines, price, age and end of each", async () => {
		const { at } = await scene("demo-1", "demo-2");
		const world = at(35);
		await rigsList({}, world);
		expect(world.out()).toBe(
			`demo-1  eu-central-1  1 i4i.xlarge, 2 c6in.xlarge  $0.82 an hour  35min old  2026-01-02 05:04 UTC, in 1h 25min
demo-2  eu-central-1  1 i4i.xlarge, 2 c6in.xlarge  $0.82 an hour  35min old  2026-01-02 05:04 UTC, in 1h 25min
Take one down: npx mqbench rigs destroy <rig>
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
				account: "123456789012",
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
	onAws("asks, naming what is rented, and takes it down", async () => {
		const { at, options, stack, folder } = await scene("demo-1");
		const world = at(5, "y");
		expect(await rigsDestroy({ id: "demo-1" }, world, options)).toBe(0);
		expect(world.asked).toEqual([`Take down the rig demo-1 ${WORDS}? [y/N] `]);
		expect(world.out()).toBe("The rig demo-1 is down; nothing of it is left.\n");
		expect(stack.asked).toEqual(["destroy"]);
		expect(existsSync(folder("demo-1"))).toBe(false);
	});

	test("leaves it when the answer is no, and when nobody is there to answer", async () => {
		const { at, options, stack } = await scene("demo-1");
		const world = at(5, "");
		expect(await rigsDestroy({ id: "demo-1" }, world, options)).toBe(0);
		expect(world.out()).toBe("Nothing was taken down.\n");
		await expect(rigsDestroy({ id: "demo-1" }, at(5), options)).rejects.toThrow(
			/There is no terminal to ask on: use --yes/,
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

	onAws("--all goes on behind one that does not go, and ends with exit code 5", async () => {
		const { at, options, folder } = await scene("demo-1", "demo-2");
		await tagged(aws, "demo-1");
		aws.account.denied.add("ec2:TerminateInstances");
		const world = at(5);
		await expect(rigsDestroy({ all: true, yes: true }, world, options)).rejects.toMatchObject({
			code: "cloud-left",
			exit: 5,
			message: expect.stringMatching(/^The rig demo-1 is not down/),
		});
		expect(world.out()).toBe("The rig demo-2 is down; nothing of it is left.\n");
		expect(["demo-1", "demo-2"].map((id) => existsSync(folder(id)))).toEqual([true, false]);
		aws.account.denied.clear();
		await rigsDestroy({ all: true, yes: true }, world, options);
	});

	onAws("--all that is stopped names those that it did not come to", async () => {
		const { at, options, folder } = await scene("demo-1", "demo-2");
		const stop = new AbortController();
		const open = async () =>
			fakeStack({
				async destroy() {
					stop.abort("SIGINT");
					return true;
				},
			});
		const world = { ...at(5), stop: stop.signal };
		await expect(
			rigsDestroy({ all: true, yes: true }, world, { ...options, open }),
		).rejects.toMatchObject({
			exit: 5,
			message: expect.stringMatching(/^The rig demo-2 is not down .*: stopped by SIGINT before it/),
		});
		expect(existsSync(folder("demo-1"))).toBe(false);
	});
});

describe("mqbench rigs sweep", () => {
	const where = { region: "eu-central-1" };

	onAws(
		"shows what it would remove, asks, removes, and forgets what was remembered of it",
		async () => {
			const { at, folder } = await scene("demo-1");
			await tagged(aws, "demo-1");
			await tagged(aws, "demo-2", { owner: "jane" });
			const unasked = at(300, "n");
			await rigsSweep(where, unasked);
			expect(unasked.out()).toMatch(/Nothing was removed\.\n$/);
			await expect(rigsSweep(where, at(300))).rejects.toThrow(/--yes/);
			const young = at(60, "y");
			await rigsSweep(where, young);
			expect(young.out()).toMatch(/^demo-1 .*, stays\n(.|\n)*Nothing to remove\.\n$/);
			const world = at(300, "yes");
			expect(await rigsSweep(where, world)).toBe(0);
			expect(world.out()).toMatch(
				/^demo-1 {2}eu-central-1, owner moto, expired 2026-01-02 06:04 UTC\n {2}instance i-\w+ \(m5\.large\)\n/,
			);
			expect(world.asked).toEqual(["Remove demo-1? [y/N] "]);
			expect(world.out()).toMatch(
				/\ndemo-2 .*owner jane, .*, stays\n(.|\n)*The rig demo-1 is down; .*\n$/,
			);
			expect(existsSync(folder("demo-1"))).toBe(false);
			expect(await rigsSweep({ ...where, owner: "jane", yes: true }, at(300))).toBe(0);
		},
	);

	onAws("ends with exit code 5 and the command when something stays", async () => {
		const { at, options, folder } = await scene("demo-1");
		await tagged(aws, "demo-1");
		const args = { ...where, id: "demo-1", yes: true };
		for (const [call, words] of [
			[
				"ec2:TerminateInstances",
				/^The rig demo-1 is not down in eu-central-1: AWS does not let go of it\.\n {2}instance i-.*: ec2:TerminateInstances: UnauthorizedOperation: .*\n.*\nFind it by its tag: {3}npx mqbench rigs sweep --region eu-central-1 --id demo-1$/,
			],
			["ec2:DescribeVolumes", /^eu-central-1 was not looked at: ec2:DescribeVolumes: AWS refused/],
		] as const) {
			aws.account.denied.add(call);
			await expect(rigsSweep(args, at(300), options)).rejects.toMatchObject({
				message: expect.stringMatching(words),
			});
			expect(existsSync(folder("demo-1"))).toBe(true);
			aws.account.denied.clear();
		}
		await rigsSweep(args, at(300), options);
	});

	onAws(
		"forgets a rig of which AWS has nothing, but only where it was, and in its account",
		async () => {
			const { at, folder } = await scene("demo-1");
			await rigsSweep({ region: "us-east-1", id: "demo-1" }, at(1));
			expect(existsSync(folder("demo-1"))).toBe(true);
			const file = path.join(folder("demo-1"), "rig.json");
			const rig = readFileSync(file, "utf8");
			writeFileSync(file, rig.replace("123456789012", "111111111111"));
			await expect(rigsSweep({ ...where, id: "demo-1" }, at(1))).rejects.toMatchObject({
				exit: 5,
				message: expect.stringMatching(/111111111111.*123456789012/),
			});
			writeFileSync(file, rig);
			const world = at(1);
			await rigsSweep({ ...where, id: "demo-1" }, world);
			expect(world.out()).toMatch(/Nothing to remove of demo-1\.\nThe rig demo-1 is down; .*\n$/);
			expect(existsSync(folder("demo-1"))).toBe(false);
		},
	);

	onAws(
		"without a region looks into all of them",
		async () => {
			const { at } = await scene();
			await tagged(aws, "demo-1");
			const world = at(300, "y");
			expect(await rigsSweep({}, world)).toBe(0);
			expect(world.out()).toMatch(
				/^demo-1 {2}eu-central-1(.|\n)*Looked into (\d+) regions of \2\.\nThe rig demo-1 is down; .*\n$/,
			);
		},
		60_000,
	);
});

describe("mqbench down of machines", () => {
	/** Of a rig.json. */
	const taking = async (rig: object, { at, options }: Awaited<ReturnType<typeof scene>>) => {
		const world = { ...at(1), cwd: testFolder() };
		const file = path.join(world.cwd, "rig.json");
		writeFileSync(file, JSON.stringify(rig));
		const code = await down({ file: "rig.json" }, world, options).catch((error) =>
			explain(error, world),
		);
		return { code, there: existsSync(file), out: world.out(), err: world.err() };
	};
	const of = (parts: object) => ({ ...rentedFile, cloud: { ...rentedFile.cloud, ...parts } });

	onAws.each([
		["where they are remembered", false],
		["whatever MQBENCH_STATE_DIR says now", true],
	])("destroys them, %s, and removes the file", async (_, elsewhere) => {
		const made = await scene("x-1");
		const rig = JSON.parse(readFileSync(path.join(made.folder("x-1"), "rig.json"), "utf8"));
		const here = elsewhere ? { ...made, at: (await scene()).at } : made;
		const { code, there, out } = await taking(rig, here);
		expect({ code, there }).toEqual({ code: 0, there: false });
		expect(made.stack.asked).toEqual(["destroy"]);
		expect(existsSync(made.folder("x-1"))).toBe(false);
		expect(out).toBe("The rig x-1 is down; nothing of it is left.\n");
	});

	onAws("that nobody remembers any more go by their tag", async () => {
		await tagged(aws, "x-1");
		const { code, there, out } = await taking(of({ account: "123456789012" }), await scene());
		expect({ code, there }).toEqual({ code: 0, there: false });
		expect(out).toContain("nothing of it is left");
	});

	onAws.each([
		["another account is asked", { account: "111111111111" }, /111111111111.*123456789012/],
		["the account is not known", { account: null }, /its account of AWS is not known/],
	])("keeps the file, with exit code 5 and the command, when %s", async (_, parts, words) => {
		const { code, there, err } = await taking(of(parts), await scene());
		expect({ code, there }).toEqual({ code: 5, there: true });
		expect(err).toMatch(words);
		expect(err).toMatch(/mqbench rigs sweep --region eu-central-1 --id x-1\n/);
	});

	test("leaves those that were stood up by hand to the same hand", async () => {
		const { code, there, err } = await taking(of({ state: null }), await scene());
		expect({ code, there }).toEqual({ code: 2, there: true });
		expect(err).toContain("pulumi destroy where pulumi up was run");
	});
});
