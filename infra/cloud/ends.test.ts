import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { MqbenchError } from "../../runner/errors.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { cloudsWith } from "./cloud.fake.ts";
import { destroyAll } from "./destroy.ts";
import { standUpCloud } from "./lifecycle.ts";
import { rigForPrograms, rigsText } from "./list.ts";
import type { Provider } from "./provider.ts";
import { offered, output } from "./rigs.fake.ts";
import { knownRigs } from "./rigs.ts";
import { sweepRigs } from "./sweep-rigs.ts";

/**
 * How a rig may end, and what is left of it then: what stays, what it costs, what says so (the table of infra/README.md). mqbench is a real
 * process, killed with -9; stand-ins: AWS is a folder with a file for each machine, Pulumi a stack that stores what it makes.
 */

const FAKE = fileURLToPath(new URL("./ends.fake.mjs", import.meta.url));
const { cloudIn } = (await import(pathToFileURL(FAKE).href)) as {
	cloudIn(folder: string, with_: { output: object }): Partial<Provider>;
};
const LEFT = mkdtempSync(path.join(tmpdir(), "mqbench-ends-"));
afterAll(() => rmSync(LEFT, { recursive: true }));
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const ACCOUNT = "111111111111";
const OFFER = { ...offered(), config: { ...offered().config, account: ACCOUNT } };

describe("kill -9 while mqbench", () => {
	test.each([
		["plans it", "planned", 0, "up to 0.82"],
		["stands it up", "up", 1, "up to 0.82"],
		["measures on it", "measuring", 3, "0.82"],
		["has left it up", "kept", 3, "0.82"],
		["takes it down", "destroying", 2, "0.82"],
	])(
		"%s leaves machines that rigs list names, with their price, and rigs destroy --all ends",
		async (_, at, machines, usd) => {
			const { killed, things, listed, world, destroy, folder } = scene();
			await killed(at);
			expect(things()).toHaveLength(machines);
			const text = await listed();
			expect(text).toMatch(new RegExp(`^demo-1  .*  ${usd}  `, "m"));
			expect(text).toContain("2026-01-02 05:04 UTC, in 2h");
			expect(await destroy()).toBe(0);
			expect(world.out()).toMatch(/demo-1 is down; nothing of it is left/);
			expect(things()).toEqual([]);
			expect(existsSync(folder)).toBe(false);
		},
	);
});

describe("a loss of power", () => {
	test("that takes the state folder, too: only the tags tell, and a sweep ends what has expired", async () => {
		const { killed, things, listed, world, destroy, sweep, folder } = scene();
		await killed("measuring");
		rmSync(folder, { recursive: true });
		expect(await listed()).toBe(
			`No rigs are known here (${path.dirname(folder)}).\nTo find rigs of another machine, or after a loss of the state: mqbench rigs sweep\n`,
		);
		expect(await destroy()).toBe(0);
		expect(things()).toHaveLength(3);
		await sweep(60);
		expect(things()).toHaveLength(3);
		expect(world.out()).toMatch(/demo-1 .*stays/);
		await sweep(181);
		expect(things()).toEqual([]);
	});

	test.each([
		["Pulumi's state", ["pulumi/state.json"]],
		["rig.json", ["rig.json"]],
		["rig.json and Pulumi's state", ["rig.json", "pulumi/state.json"]],
		["Pulumi's folders", ["pulumi", "project"]],
	])("that takes %s: rigs destroy --all ends it all the same", async (_, lost) => {
		const { killed, things, destroy, folder } = scene();
		await killed("measuring");
		for (const name of lost) rmSync(path.join(folder, name), { recursive: true });
		expect(await destroy()).toBe(0);
		expect(things()).toEqual([]);
		expect(existsSync(folder)).toBe(false);
	});

	test("that takes Pulumi's state, with no network afterwards: exit code 5, nothing is forgotten", async () => {
		const { killed, things, destroy, folder } = scene();
		await killed("measuring");
		rmSync(path.join(folder, "pulumi", "state.json"));
		expect(await destroy(OFFLINE)).toMatchObject({ exit: 5 });
		expect(existsSync(folder)).toBe(true);
		expect(things()).toHaveLength(3);
		expect(await destroy()).toBe(0);
		expect(things()).toEqual([]);
	});
});

describe("AWS does not play along", () => {
	test("credentials of another account: exit code 5 and both accounts, nothing is touched", async () => {
		const { killed, things, listed, destroy } = scene();
		await killed("measuring");
		const end = await destroy({ account: async () => "222222222222" });
		expect(end).toMatchObject({
			exit: 5,
			message: expect.stringMatching(/account 111111111111(.|\n)*222222222222/),
		});
		expect(things()).toHaveLength(3);
		expect(await listed()).toMatch(/^demo-1 {2}/m);
	});

	test("no network: exit code 5, until when it costs money, and the commands", async () => {
		const { killed, things, listed, destroy, clouds } = scene();
		await killed("measuring");
		const end = await destroy(offline(clouds({})));
		expect(end).toMatchObject({ exit: 5 });
		expect(
			(end as MqbenchError).message,
		).toBe(`The rig demo-1 is not down in eu-central-1: 3 of its resources are left.
  aws:ec2/instance:Instance broker-1
  aws:ec2/instance:Instance client-1
  aws:ec2/instance:Instance client-2
Why: no network; removing it by its tag failed, too: it is in account 111111111111 of AWS, and mqbench could not find out whose credentials are in use (ENOTFOUND).
Its machines end themselves by 2026-01-02 06:04 UTC; until then they cost money; everything else stays.
Take it down:         mqbench rigs destroy demo-1
Find it by its tag:   mqbench rigs sweep --region eu-central-1 --id demo-1`);
		expect(await listed()).toMatch(/^demo-1 {2}/m);
		expect(await destroy()).toBe(0);
		expect(things()).toEqual([]);
	});

	test("no network, and somebody removes the folder meanwhile: exit code 5", async () => {
		const { killed, things, destroy, clouds, folder } = scene();
		await killed("measuring");
		const remove = () => rmSync(folder, { recursive: true, force: true });
		const end = await destroy(offline(clouds({}), remove));
		expect(end).toMatchObject({ exit: 5 });
		expect(things()).toHaveLength(3);
	});

	test("a quota in the middle of standing up: exit code 3 with AWS's words, nothing stays", async () => {
		const { world, things, clouds, folder } = scene();
		const { open } = clouds({});
		const end = standUpCloud(OFFER, world, {
			say() {},
			clouds: cloudsWith({
				...clouds({}),
				open: async (...args) => {
					const stack = await (open as Provider["open"])(...args);
					return {
						...stack,
						async up(options) {
							await stack.up(options);
							expect(things()).toHaveLength(3);
							throw new Error("VcpuLimitExceeded");
						},
					};
				},
			}),
		});
		await expect(end).rejects.toMatchObject({
			code: "cloud-up",
			exit: 3,
			message: expect.stringMatching(
				/^The rig demo-1 could not be stood up: VcpuLimitExceeded\. Nothing of it is left\. .*quota/,
			),
		});
		expect(things()).toEqual([]);
		expect(existsSync(folder)).toBe(false);
	});

	test("machines that did not end themselves: rigs list says over, destroy and sweep end them", async () => {
		const { killed, things, listed, sweep, folder } = scene();
		await killed("kept");
		const text = await listed(181);
		expect(text).toMatch(/^demo-1 .* up to 0\.82 .*05:04 UTC, over$/m);
		expect(text).toContain("Machines past that time should have ended");
		await sweep(181);
		expect(things()).toEqual([]);
		expect(existsSync(folder)).toBe(false);
	});
});

// --- internal ---

const OFFLINE: Partial<Provider> = {
	account: () => Promise.reject(new Error("ENOTFOUND")),
	find: () => Promise.reject(new Error("ENOTFOUND")),
};

/** The same where Pulumi cannot remove anything; `meanwhile` happens as it tries. */
const offline = ({ open }: Partial<Provider>, meanwhile = () => {}): Partial<Provider> => ({
	...OFFLINE,
	open: async (...args) => ({
		...((await open?.(...args)) as Awaited<ReturnType<Provider["open"]>>),
		async destroy() {
			meanwhile();
			throw new Error("no network");
		},
	}),
});

function scene() {
	const base = testFolder();
	const state = path.join(base, "state");
	const folder = path.join(state, "rigs", "demo-1");
	const env = { MQBENCH_STATE_DIR: state, PATH: process.env.PATH };
	const world = fakeWorld({ env });
	const after = (minutes: number) => ({
		...world,
		clock: { nowMs: () => NOW + minutes * 60_000, monotonicMs: () => 0 },
	});
	const clouds = (parts: Partial<Provider>) => ({
		...cloudIn(base, { output: output() }),
		...parts,
	});
	/** A process that rents, at that point. */
	async function rents(at: string) {
		const asked = { state, folder: base, at, nowMs: NOW, offer: OFFER, output: output() };
		const child = spawn(process.execPath, [FAKE], {
			env: { PATH: process.env.PATH, MQBENCH_ENDS: JSON.stringify(asked) },
			stdio: ["ignore", "pipe", "inherit"],
		});
		onTestFinished(() => void child.kill("SIGKILL"));
		const [said] = await Promise.race([once(child.stdout, "data"), once(child, "close")]);
		expect(String(said)).toBe("reached");
		return child;
	}
	return {
		world,
		clouds,
		rents,
		folder,
		things: () => readdirSync(path.join(base, "cloud")),
		/** As `rents` and kill -9 leave it: once for each point, because a process takes longer than a test. */
		async killed(at: string) {
			const left = path.join(LEFT, at);
			if (!existsSync(left)) {
				const child = await rents(at);
				child.kill("SIGKILL");
				await once(child, "close");
				cpSync(base, left, { recursive: true });
			} else cpSync(left, base, { recursive: true });
		},
		/** `mqbench rigs list` and `--json`, which change nothing. */
		async listed(minutes = 0) {
			const before = readdirSync(state, { recursive: true });
			const rigs = await knownRigs(world);
			rigs.map(rigForPrograms);
			const text = rigsText(rigs, after(minutes));
			expect(readdirSync(state, { recursive: true })).toEqual(before);
			return text;
		},
		/** `mqbench rigs destroy --all --yes`. */
		destroy: (parts: Partial<Provider> = {}, minutes = 0) =>
			destroyAll(true, after(minutes), {
				say() {},
				clouds: cloudsWith(clouds(parts)),
				timing: { abortMs: 10, pausesMs: [1], againMs: 1 },
			}).then(
				() => 0 as const,
				(error: MqbenchError) => error,
			),
		sweep: (minutes: number) =>
			sweepRigs({ region: "eu-central-1", yes: true }, after(minutes), cloudsWith(clouds({}))),
	};
}
