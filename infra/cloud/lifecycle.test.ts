import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { MqbenchError } from "../../runner/errors.ts";
import { RigFile } from "../../runner/scenario/rig-file.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import type { World } from "../../runner/world.ts";
import { testFolder } from "../test-folder.fake.ts";
import { cloudsWith, sweeping } from "./cloud.fake.ts";
import * as lifecycle from "./lifecycle.ts";
import type { Provider, Stack } from "./provider.ts";
import { offered, output } from "./rigs.fake.ts";
import { type FakeStack, fakeStack } from "./stack.fake.ts";

/** What a test says to the lifecycle: parts of its provider among it. */
type Fakes = Partial<Provider> & Pick<lifecycle.CloudOptions, "say" | "timing">;

const faked = ({ say = () => {}, timing = {}, ...parts }: Fakes) => ({
	say,
	timing,
	clouds: cloudsWith({ account: async () => "111111111111", ...parts }),
});
const standUpCloud = (offer: lifecycle.Offered, world: World, fakes: Fakes) =>
	lifecycle.standUpCloud(offer, world, faked(fakes));
const destroyCloud = (id: string, world: World, fakes: Fakes) =>
	lifecycle.destroyCloud(id, world, faked(fakes));

const MACHINE = { kind: "instance", id: "i-9", detail: "", since: null };
const NOTHING_COMES = new Promise<never>(() => {});

function scene(parts: Partial<Stack> = {}) {
	const state = testFolder();
	const stop = new AbortController();
	const leaving: (string | null)[] = [];
	const said: string[] = [];
	const world = {
		...fakeWorld({ env: { MQBENCH_STATE_DIR: state, PATH: process.env.PATH }, stop: stop.signal }),
		leaving: (text: string | null) => void leaving.push(text),
	};
	const stack: FakeStack = fakeStack({ up: async () => output(), ...parts });
	const options: Fakes = {
		say: (line) => void said.push(line),
		open: async () => stack,
		timing: { abortMs: 50, pausesMs: [1, 2], againMs: 1 },
	};
	const folder = path.join(state, "rigs", "demo-1");
	return {
		world,
		stop,
		stack,
		options,
		said,
		leaving,
		folder,
		up: () => standUpCloud(offered(), world, options),
		/** One whose account is known. */
		upIn: (account: string, more: Fakes = {}) =>
			standUpCloud(owned(account), world, { ...options, ...more }),
		file: () => RigFile.parse(JSON.parse(readFileSync(path.join(folder, "rig.json"), "utf8"))),
	};
}

const owned = (account: string) => ({ ...offered(), config: { ...offered().config, account } });

const failed = (promise: Promise<unknown>): Promise<MqbenchError> =>
	promise.then(
		() => {
			throw new Error("it went well");
		},
		(error) => error,
	);

describe("a rented rig", () => {
	test("is remembered before anything is asked of the cloud, and ready when its machines are known", async () => {
		const known: unknown[] = [];
		const { file, folder, options, stack, world } = scene({
			async up() {
				known.push(file().brokers[0]?.hosts);
				return output();
			},
		});
		const open = options.open;
		const rig = await standUpCloud(offered(), world, {
			...options,
			async open(...args) {
				known.push(file().id);
				return (await open?.(...args)) ?? stack;
			},
		});
		expect(known).toEqual(["demo-1", []]);
		expect(rig.file).toEqual(file());
		expect(rig.place.path).toBe(path.join(folder, "rig.json"));
		expect(rig.file).toMatchObject({
			id: "demo-1",
			target: "aws",
			createdAt: "2026-01-02T03:04:05.000Z",
			// Half an hour behind the end of its machines.
			expiresAt: "2026-01-02T06:04:05.000Z",
			brokers: [{ hosts: [{ host: "198.51.100.1", address: "10.0.0.5" }] }],
			clients: [{ host: "198.51.100.2" }, { host: "198.51.100.3" }],
			cloud: {
				region: "eu-central-1",
				machines: { "i4i.xlarge": 1, "c6in.xlarge": 2 },
				hourlyUsd: 0.8211,
				endsAt: "2026-01-02T05:04:05.000Z",
				account: null,
				state: folder,
			},
			facts: { zone: "eu-central-1a", placementGroup: "pg-1" },
		});
		await rig.teardown();
		await rig.teardown();
		expect(stack.asked).toEqual(["up", "destroy", "remove"]);
		expect(existsSync(folder)).toBe(false);
	});

	test("has its secrets in the key and the passphrase alone, and nothing that others can read", async () => {
		const { up, folder } = scene();
		await up();
		const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
		const modes = files.map((name) => statSync(path.join(folder, name)).mode & 0o077);
		expect(modes.every((others) => others === 0)).toBe(true);
		expect(statSync(folder).mode & 0o777).toBe(0o700);
		const texts = files
			.filter((name) => statSync(path.join(folder, name)).isFile())
			.map((name) => [name, readFileSync(path.join(folder, name), "utf8")]);
		const passphrase = texts.find(([name]) => name === "passphrase")?.[1];
		expect(passphrase).toMatch(/^[\w-]{43}$/);
		expect(texts.filter(([, text]) => text?.includes("PRIVATE KEY")).map(([name]) => name)).toEqual(
			["host_ed25519", "id_ed25519"],
		);
		expect(
			texts.filter(([, text]) => text?.includes(passphrase ?? "?")).map(([name]) => name),
		).toEqual(["passphrase"]);
		expect(JSON.parse(readFileSync(path.join(folder, "config.json"), "utf8")))
			// Only the public half goes to the cloud.
			.toMatchObject({
				publicKey: readFileSync(path.join(folder, "id_ed25519.pub"), "utf8").trim(),
				identity: path.join(folder, "id_ed25519"),
				hostKey: path.join(folder, "host_ed25519"),
			});
	});

	test("has a host key that ssh knows before any machine is asked for, whatever its address is going to be", async () => {
		const known: string[] = [];
		const { up, folder } = scene({
			async up() {
				known.push(readFileSync(path.join(folder, "known_hosts"), "utf8"));
				return output();
			},
		});
		await up();
		const half = readFileSync(path.join(folder, "host_ed25519.pub"), "utf8");
		expect(half).toMatch(/^ssh-ed25519 \S+ mqbench-demo-1\n$/);
		expect(known).toEqual([`* ${half}`]);
		expect(half).not.toBe(readFileSync(path.join(folder, "id_ed25519.pub"), "utf8"));
	});

	test("leaves nothing when Pulumi is not to be had: nothing was made", async () => {
		const { world, options, folder, stack } = scene();
		await expect(
			standUpCloud(offered(), world, {
				...options,
				open: () => Promise.reject(new Error("no Pulumi")),
			}),
		).rejects.toThrow("no Pulumi");
		expect(existsSync(folder)).toBe(false);
		expect(stack.asked).toEqual([]);
	});

	test.each([
		["nothing", undefined, /is not a rig/],
		["another form", { version: 2 }, /is not a rig: .*version/],
		[
			"no machine of a broker",
			{ ...output(), brokers: [{ system: "nats", broker: "nats" }] },
			/brokers\[0\]|no machine for nats/,
		],
		["fewer clients", { ...output(), clients: [] }, /0 clients, and 2 were asked for/],
	])("goes again when Pulumi gives back %s", async (_, value, reason) => {
		const { up, stack } = scene({ up: async () => value });
		const error = await failed(up());
		expect(error).toMatchObject({ code: "cloud-up", message: expect.stringMatching(reason) });
		expect(stack.there).toEqual([]);
	});

	test("that is stopped while Pulumi hangs: its patience has an end, the lock is dropped, and all goes again", async () => {
		const { up, stop, stack, folder, said } = scene({
			up() {
				setTimeout(() => stop.abort("SIGTERM"), 20);
				return NOTHING_COMES;
			},
		});
		const error = await failed(up());
		expect(error).toMatchObject({ code: "interrupted" });
		expect(stack.asked).toEqual(["up", "cancel", "destroy", "remove"]);
		expect(existsSync(folder)).toBe(false);
		expect(said.join("\n")).toMatch(/Pulumi does not end/);
	});

	test("that came up all the same after Ctrl-C is none that anybody wants", async () => {
		const { up, stop, stack } = scene({
			async up() {
				stop.abort("SIGINT");
				return output();
			},
		});
		expect(await failed(up())).toMatchObject({ code: "interrupted" });
		expect(stack.there).toEqual([]);
	});

	test("that cannot be made, and does not go: exit code 5 comes before the reason", async () => {
		const { up } = scene({
			up: () => Promise.reject(new Error("no room")),
			destroy: () => Promise.reject(new Error("no network")),
			resources: () => Promise.reject(new Error("no network")),
		});
		const error = await failed(up());
		expect(error).toMatchObject({ code: "cloud-left", exit: 5 });
		expect(error.message).toMatch(/what is left of it is not known\.\nWhy: no network\./);
	});

	test("of which Pulumi says that it went, and it did not, is left", async () => {
		const { up } = scene({ resources: async () => ["aws:ec2/vpc:Vpc vpc (vpc-1)"] });
		const rig = await up();
		const { message } = await failed(rig.teardown());
		expect(message).toMatch(
			/vpc-1\)\nWhy: Pulumi could not remove them\.\nNone of it is a machine\.\n/,
		);
	});

	test("of which a killed Pulumi may have made more than it knows is swept by its tag, whatever Ctrl-C says", async () => {
		const { world, options, stop, folder } = scene({
			unsure: async () => ["aws:ec2/instance:Instance client-1 (may be there)"],
		});
		const swept: unknown[] = [];
		const rig = await standUpCloud(offered(), world, {
			...options,
			...sweeping(1, [], ({ id, region, owner }, stopped) => {
				swept.push({ id, region, owner, stopped });
			}),
		});
		stop.abort("SIGINT");
		await rig.teardown();
		const once = { id: "demo-1", region: "eu-central-1", owner: "jane", stopped: false };
		// Twice: AWS may show late what was made a moment before.
		expect(swept).toEqual([once, once]);
		expect(existsSync(folder)).toBe(false);
	});

	test("of which a killed Pulumi may have made more, and AWS cannot be asked, is left", async () => {
		const { world, options } = scene({
			unsure: async () => ["aws:ec2/vpc:Vpc vpc (may be there)"],
		});
		const find = () => Promise.reject(new Error("no credentials"));
		const rig = await standUpCloud(offered(), world, { ...options, find });
		expect((await failed(rig.teardown())).message).toMatch(
			/1 of its resources is left\.\n {2}aws:ec2\/vpc:Vpc vpc \(may be there\)\nWhy: no credentials\.\n/,
		);
	});

	test("that Pulumi cannot take down goes by its tag, once Pulumi has tried to the last", async () => {
		const swept: string[] = [];
		const { upIn, stack, folder, said, leaving } = scene({
			destroy: () => Promise.reject(new Error("no valid credential")),
		});
		const rig = await upIn("111111111111", {
			...sweeping(1, [], ({ id, region }) => {
				swept.push(`${id} ${region}`);
			}),
		});
		await rig.teardown();
		expect(stack.asked.filter((one) => one === "destroy")).toHaveLength(3);
		expect(swept).toEqual(["demo-1 eu-central-1"]);
		expect(said.join("\n")).toMatch(
			/Pulumi could not take it down \(no valid credential\)\. Removing what has the tag mqbench:run=demo-1 in eu-central-1/,
		);
		expect(existsSync(folder)).toBe(false);
		expect(leaving.at(-1)).toBe(null);
	});

	test.each([
		[
			"the sweep leaves something is left with that alone",
			sweeping(8, [{ thing: MACHINE, reason: "denied" }]),
			/: 1 of its resources is left\.\n {2}instance i-9: denied\nWhy: RequestLimitExceeded\.\nIts machines end/,
		],
		[
			"Pulumi knows something, and a sweep finds nothing, is left",
			sweeping(0),
			/broker-1 \(i-0abc\)\nWhy: RequestLimitExceeded; and nothing has its tag\./,
		],
	])("of which %s", async (_, tagged, words) => {
		const destroy = () => Promise.reject(new Error("RequestLimitExceeded"));
		const { upIn, folder, leaving } = scene({ destroy });
		const error = await failed((await upIn("111111111111", tagged)).teardown());
		expect(error).toMatchObject({ code: "cloud-left", exit: 5 });
		expect(error.message).toMatch(words);
		expect(existsSync(folder)).toBe(true);
		// The error names what is left, so the warning at exit must not repeat it.
		expect(leaving.at(-1)).toBe(null);
	});

	test("that is down, but whose folder stays, is not said to be left", async () => {
		const { up, folder } = scene({
			async remove() {
				// Where its folder was is a file now.
				rmSync(path.dirname(folder), { recursive: true });
				writeFileSync(path.dirname(folder), "");
			},
		});
		const error = await failed((await up()).teardown());
		expect(error).toMatchObject({ code: "rig-unforgotten", exit: 3 });
		expect(error.message).toMatch(
			/^Nothing of the rig demo-1 is left in the cloud, but .*demo-1, .* cannot be removed/,
		);
	});

	test("is of the profile that was in use when it was made, and its time counts from then", async () => {
		const { world, options, file, folder } = scene();
		const { config, ...rest } = owned("111111111111");
		await standUpCloud(
			// As asked an hour before.
			{ ...rest, config: { ...config, expiresAt: "2026-01-02T04:34:05Z" } },
			{ ...world, env: { ...world.env, AWS_PROFILE: "lab" } },
			options,
		);
		expect(file().cloud).toMatchObject({ profile: "lab", account: "111111111111" });
		expect(JSON.parse(readFileSync(path.join(folder, "config.json"), "utf8"))).toMatchObject({
			profile: "lab",
			account: "111111111111",
			expiresAt: "2026-01-02T06:04:05.000Z",
		});
	});
});

describe("taking down by hand", () => {
	test.each([
		["111111111111", 1, ["demo-1"], null],
		// Nothing found would prove nothing.
		[null, 0, [], 5],
	] as const)(
		"goes by the tag when Pulumi is not to be had, in account %s",
		async (account, found, tags, exit) => {
			const { up, upIn, world, options, folder } = scene();
			await (await (account === null ? up() : upIn(account))).keep();
			const swept: string[] = [];
			const error = await destroyCloud("demo-1", world, {
				...options,
				open: () => Promise.reject(new Error("there is no pulumi")),
				...sweeping(found, [], ({ id }) => void swept.push(String(id))),
			}).catch((one) => one);
			expect(swept).toEqual(tags);
			expect(error?.exit ?? null).toBe(exit);
			expect(existsSync(folder)).toBe(exit === 5);
		},
	);

	test("of a rig of which there is its folder alone needs no Pulumi", async () => {
		const { up, world, options, folder } = scene();
		await up();
		for (const name of ["rig.json", "config.json"]) rmSync(path.join(folder, name));
		await destroyCloud("demo-1", world, {
			...options,
			open: () => Promise.reject(new Error("no Pulumi")),
		});
		expect(existsSync(folder)).toBe(false);
	});

	test("that is stopped before Pulumi has begun ends with exit code 5, and who goes at once is told as well", async () => {
		const { up, world, options, stop, stack, leaving, folder } = scene();
		await (await up()).keep();
		const error = await failed(
			destroyCloud("demo-1", world, {
				...options,
				async open() {
					expect(leaving.at(-1)).toMatch(
						/The rig demo-1 is left in eu-central-1.* Taking it down has not begun yet\.\n(.|\n)*mqbench rigs destroy demo-1/,
					);
					stop.abort("SIGINT");
					return stack;
				},
				find: () => Promise.reject(new Error("not to be swept")),
			}),
		);
		expect(error).toMatchObject({ code: "cloud-left", exit: 5 });
		expect(error.message).toMatch(/Why: Stopped by SIGINT\./);
		expect(stack.asked).toEqual(["up"]);
		expect(existsSync(folder)).toBe(true);
	});
});
