import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, vi } from "vitest";
import type { MqbenchError } from "../../runner/errors.ts";
import { RigFile } from "../../runner/scenario/rig-file.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { openApi } from "./api.ts";
import { emulated, tagged } from "./emulator.fake.ts";
import { rigsText } from "./list.ts";
import { fakePulumi } from "./pulumi.fake.ts";
import { destroyRigs, sweepRigs } from "./remove.ts";
import { fakeStack, offered, output, standUpAlone } from "./rent.fake.ts";
import { knownRigs } from "./rigs.ts";
import { openStack, type Stack } from "./stack.ts";
import { standUp } from "./stand-up.ts";
import type { CloudOptions } from "./take-down.ts";

/**
 * How a rig may end, and what is left of it then: what stays, what says so, and what ends it (the table of infra/rent/README.md). AWS is an emulator.
 */
const { aws, onAws } = emulated();
vi.setConfig({ testTimeout: 120_000 });
beforeEach(() => {
	aws.account?.denied.clear();
	aws.account?.broken.clear();
});

const WHERE = { region: "eu-central-1" };
const NAME = "demo-1  eu-central-1  1 i4i.xlarge, 2 c6in.xlarge";
type Scene = ReturnType<typeof scene>;

function scene(parts: Partial<Stack> = {}) {
	const base = testFolder();
	const state = path.join(base, "state");
	const folder = path.join(state, "rigs", "demo-1");
	const stop = new AbortController();
	const leaving: (string | null)[] = [];
	const said: string[] = [];
	const env = {
		PATH: process.env.PATH ?? "",
		MQBENCH_STATE_DIR: state,
		MQBENCH_AWS_ENDPOINT: aws.endpoint,
	};
	const after = (minutes: number) => {
		const nowMs = () => Date.UTC(2026, 0, 2, 3, 4 + minutes, 5);
		return fakeWorld({ env, clock: { nowMs, monotonicMs: () => 0 } });
	};
	const world = {
		...fakeWorld({ env, stop: stop.signal }),
		leaving: (text: string | null) => void leaving.push(text),
	};
	const stack = fakeStack(parts);
	const options: { -readonly [Key in keyof CloudOptions]: CloudOptions[Key] } = {
		say: (line) => void said.push(line),
		open: async () => stack,
		againMs: 1,
	};
	const up = () => standUp(offered(), world, options);
	return {
		base,
		folder,
		env,
		stop,
		leaving,
		said,
		stack,
		options,
		after,
		up,
		/** One that is up, with a machine that AWS shows by its tag. */
		async kept() {
			(await up()).keep();
			await tagged(aws, "demo-1");
		},
		file: () => RigFile.parse(JSON.parse(readFileSync(path.join(folder, "rig.json"), "utf8"))),
		/** How many machines are in AWS, and whether the rig is remembered. */
		async left() {
			const { ec2 } = await openApi({ ...WHERE, profile: null }, after(0));
			const Filters = [{ Name: "instance-state-name", Values: ["running"] }];
			const { Reservations = [] } = await ec2.describeInstances({ Filters });
			const machines = Reservations.flatMap(({ Instances = [] }) => Instances);
			return [machines.length, existsSync(folder)];
		},
		/** `mqbench rigs list`, which changes nothing. */
		async listed(minutes = 0) {
			const before = readdirSync(state, { recursive: true });
			const text = rigsText(await knownRigs(world), after(minutes));
			expect(readdirSync(state, { recursive: true })).toEqual(before);
			return text;
		},
		/** `mqbench rigs destroy --all --yes`. */
		destroy: () => ended(destroyRigs(undefined, true, world, options)),
		/** `mqbench rigs sweep --yes`: what it prints. */
		async sweep(minutes: number, more: object = {}) {
			const swept = after(minutes);
			await sweepRigs({ ...WHERE, ...more, yes: true }, swept);
			return swept.out();
		},
	};
}

const ended = (promise: Promise<unknown>): Promise<[exit: number, message: string]> =>
	promise.then(
		() => [0, ""],
		({ exit, message }: MqbenchError) => [exit, message],
	);

const HANG = "open: () => new Promise(() => setInterval(() => {}, 1000))";
onAws.each<[string, number, string, string, object]>([
	["has not asked Pulumi yet", 0, "up to $0.82 an hour", HANG, {}],
	["stands it up, and Pulumi goes on", 1, "up to $0.82 an hour", "", { hang: true }],
	["measures on it, or has left it up", 3, "$0.82 an hour", "", {}],
	["takes it down, and Pulumi goes on", 2, "$0.82 an hour", "", { held: true }],
])(
	"kill -9 while mqbench %s: %i machines stay, rigs list names them with their price, and rigs destroy ends them",
	async (_, machines, usd, open, how) => {
		const { base, env, left, listed, destroy, folder, options } = scene();
		const pulumi = fakePulumi(base);
		pulumi.behave({ rig: output(), ...how });
		const child = standUpAlone({ ...env, MQBENCH_PULUMI: pulumi.program }, open);
		const there = (...file: string[]) => vi.waitUntil(() => existsSync(path.join(...file)), 20_000);
		if (open === HANG) await there(folder, "rig.json");
		else if ("hang" in how) await there(base, "told", "pid");
		else await once(child.stdout ?? child, "data");
		if ("held" in how) child.kill("SIGUSR2");
		if ("held" in how) await there(base, "told", "destroying");
		child.kill("SIGKILL");
		await once(child, "close");
		for (let i = 0; i < machines; i++) await tagged(aws, "demo-1");
		expect(await listed()).toContain(`${NAME}  ${usd}  `);
		pulumi.behave({});
		options.open = (rig, world) =>
			openStack(rig, { ...world, env: { ...env, MQBENCH_PULUMI: pulumi.program } });
		expect(await destroy()).toEqual([0, ""]);
		expect(await left()).toEqual([0, false]);
	},
);

const unsure = { destroy: async () => false };
const fails = { destroy: () => Promise.reject(new Error("no room")) };
const nothing = () => {};
const deny = (call: string) => () => aws.account.denied.add(call);
const offline = () => aws.account.broken.set("sts:GetCallerIdentity", "ENOTFOUND");
const loses = (name: string) => (the: Scene) => {
	writeFileSync(path.join(the.folder, "pulumi", "x.json"), "");
	rmSync(path.join(the.folder, name), { recursive: true });
};
const edit = (cloud: object) => (the: Scene) => {
	const rig = the.file();
	const text = JSON.stringify({ ...rig, cloud: { ...rig.cloud, ...cloud } });
	writeFileSync(path.join(the.folder, "rig.json"), text);
};
const bug = (the: Scene) => {
	the.options.say = () => {
		throw new TypeError("ours");
	};
};

/** What happens to a rig that is up with a machine; then rigs destroy: with exit code 0 nothing is left, with 5 the machine, and words say so. */
const ENDS: [string, (the: Scene) => unknown, 0 | 5, RegExp, Partial<Stack>][] = [
	["nothing happens", nothing, 0, /^$/, {}],
	["Pulumi's state is lost", loses("pulumi"), 0, /^$/, unsure],
	["Pulumi cannot take it down", nothing, 0, /^$/, fails],
	[
		"AWS does not let go of a machine",
		deny("ec2:TerminateInstances"),
		5,
		/^The rig demo-1 is not down in eu-central-1 \(1 i4i\.xlarge, 2 c6in\.xlarge, \$0\.82 an hour while all run\): AWS does not let go of it\.\n {2}instance i-\w+ \(m5\.large\): ec2:TerminateInstances: UnauthorizedOperation: .*\nIts machines end themselves by 2026-01-02 06:04 UTC; until then they cost money; everything else stays\.\nTake it down: {9}npx mqbench rigs destroy demo-1\nFind it by its tag: {3}npx mqbench rigs sweep --region eu-central-1 --id demo-1$/,
		{},
	],
	["nobody can be asked", deny("ec2:DescribeVolumes"), 5, /: no room; AWS cannot be asked/, fails],
	["there is no network", offline, 5, /account 123456789012 of AWS, and mqbench could not/, {}],
	[
		"the credentials are of another account",
		edit({ account: "111111111111" }),
		5,
		/: it is in account 111111111111 of AWS, and the credentials in use are of account 123456789012, which sees nothing of it; use those of 111111111111 \(such as AWS_PROFILE\)\.\n/,
		{},
	],
	["its account is not known", edit({ account: null }), 5, /: its account of AWS is not kn/, {}],
	[
		"rig.json is lost",
		loses("rig.json"),
		5,
		/^The rig demo-1 is not down: its region and its account of AWS are not known\.\nIt is not known when .*\n.*npx mqbench rigs sweep --id demo-1$/,
		{},
	],
	["Ctrl-C comes", ({ stop }) => stop.abort("SIGINT"), 5, /: stopped by SIGINT before it /, {}],
	["mqbench has a bug", bug, 5, /: TypeError: ours\n(.|\n)*mqbench rigs destroy demo-1\n/, unsure],
];

onAws.each(ENDS)("a rig is up, and %s", async (_, happens, exit, words, parts) => {
	const the = scene(parts);
	await the.kept();
	await happens(the);
	expect(await the.destroy()).toEqual([exit, expect.stringMatching(words)]);
	expect(await the.left()).toEqual(exit === 5 ? [1, true] : [0, false]);
	// The error names what is left, so the warning at exit must not repeat it.
	expect(the.leaving.at(-1)).toBe(null);
	// Nothing is touched unless the account is that of the rig.
	if (/account|stopped/.test(words.source)) expect(the.stack.asked).toEqual(["up"]);
	aws.account.denied.clear();
	aws.account.broken.clear();
	await the.sweep(0, { id: "demo-1" });
	expect(await the.left()).toEqual([0, false]);
});

onAws("what AWS shows late goes if Pulumi was killed, whatever Ctrl-C says", async () => {
	const the = scene(unsure);
	the.options.againMs = 3_000;
	the.options.say = (line) => {
		if (line.startsWith("AWS may show late")) void tagged(aws, "demo-1");
	};
	const rig = await the.up();
	the.stop.abort("SIGINT");
	await rig.teardown();
	await rig.teardown();
	expect(await the.left()).toEqual([0, false]);
	expect(the.stack.asked).toEqual(["up", "destroy"]);
});

onAws("the state folder is lost: only tags tell, and a sweep ends what has expired", async () => {
	const { kept, folder, listed, destroy, left, sweep } = scene();
	await kept();
	rmSync(folder, { recursive: true });
	expect(await listed()).toBe(
		`No rigs are known here (${path.dirname(folder)}).\nTo find rigs of another machine, or after a loss of the state: npx mqbench rigs sweep\n`,
	);
	expect(await destroy()).toEqual([0, ""]);
	expect(await sweep(60)).toMatch(/^demo-1 .*, stays\n/);
	expect(await left()).toEqual([1, false]);
	await sweep(181);
	expect(await left()).toEqual([0, false]);
});

onAws("machines do not end themselves: rigs list says over, and a sweep ends them", async () => {
	const { kept, listed, left, sweep } = scene();
	await kept();
	expect(await listed(1)).toMatch(/^demo-1 .* {2}1min old {2}2026-01-02 05:04 UTC, in 1h 59min$/m);
	const text = await listed(181);
	expect(text).toMatch(/^demo-1 .* up to \$0\.82 an hour .*05:04 UTC, over$/m);
	expect(text).toContain("Machines past that time should have ended");
	await sweep(181);
	expect(await left()).toEqual([0, false]);
});

describe("a rig that is stood up", () => {
	onAws("is remembered before Pulumi is asked, and ready when its machines are known", async () => {
		const known: unknown[] = [];
		const { up, file, folder, stack, options } = scene({
			async up({ hostKey }) {
				known.push(hostKey);
				return output();
			},
		});
		options.open = async ({ knownHosts }) => {
			known.push(file().id, file().brokers[0]?.hosts, readFileSync(knownHosts, "utf8"));
			return stack;
		};
		const rig = await up();
		const half = readFileSync(path.join(folder, "host_ed25519.pub"), "utf8");
		expect(known).toEqual(["demo-1", [], `* ${half}`, path.join(folder, "host_ed25519")]);
		expect(rig.file).toEqual(file());
		expect(rig.place.path).toBe(path.join(folder, "rig.json"));
		expect(rig.file).toMatchObject({
			target: "aws",
			createdAt: "2026-01-02T03:04:05.000Z",
			// An hour behind the end of its machines.
			expiresAt: "2026-01-02T06:04:05.000Z",
			brokers: [{ hosts: [{ host: "203.0.113.1", address: "10.0.0.1" }] }],
			clients: [{ host: "203.0.113.2" }, { host: "203.0.113.3" }],
			cloud: {
				region: "eu-central-1",
				machines: { "i4i.xlarge": 1, "c6in.xlarge": 2 },
				hourlyUsd: 0.8211,
				endsAt: "2026-01-02T05:04:05.000Z",
				state: folder,
			},
			facts: { zone: "eu-central-1a", placementGroup: "pg-1" },
		});
	});

	onAws("has secrets in keys and passphrase alone, and nothing that others can read", async () => {
		const { up, folder } = scene();
		await up();
		const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
		const paths = [folder, ...files.map((name) => path.join(folder, name))];
		expect(paths.filter((one) => (statSync(one).mode & 0o077) !== 0)).toEqual([]);
		const having = (words: string) =>
			paths
				.filter((one) => statSync(one).isFile() && readFileSync(one, "utf8").includes(words))
				.map((one) => path.basename(one));
		const passphrase = readFileSync(path.join(folder, "passphrase"), "utf8");
		expect(passphrase).toMatch(/^[\w-]{43}$/);
		expect(having("PRIVATE KEY")).toEqual(["host_ed25519", "id_ed25519"]);
		expect(having(passphrase)).toEqual(["passphrase"]);
	});

	const quota = async () => {
		await tagged(aws, "demo-1");
		throw new Error("VcpuLimitExceeded");
	};
	onAws.each<[string, () => Promise<unknown>, RegExp]>([
		["gives back nothing", async () => undefined, /is not a rig/],
		["gives back another form", async () => ({ version: 2 }), /is not a rig: .*version/],
		["has fewer clients", async () => ({ ...output(), clients: [] }), /lacks machines/],
		["meets a quota in the middle", quota, /VcpuLimitExceeded\. Nothing of it is left\. .*quota/],
	])("goes again when Pulumi %s: exit code 3, and the reason", async (_, up, words) => {
		const the = scene({ up });
		expect(await ended(the.up())).toEqual([3, expect.stringMatching(words)]);
		expect(await the.left()).toEqual([0, false]);
	});

	onAws("leaves nothing when Pulumi is not to be had: nothing was made", async () => {
		const { up, options, folder } = scene();
		options.open = () => Promise.reject(new Error("no Pulumi"));
		await expect(up()).rejects.toThrow("no Pulumi");
		expect(existsSync(folder)).toBe(false);
	});

	onAws("is taken down if Ctrl-C came, although it came up all the same", async () => {
		const { up, stop, said, left, leaving } = scene({
			async up(_, { signal }) {
				stop.abort("SIGINT");
				expect(signal.aborted).toBe(true);
				await tagged(aws, "demo-1");
				return output();
			},
		});
		expect(await ended(up())).toEqual([130, "Stopped by SIGINT."]);
		expect(said[0]).toMatch(/^Stopping: waiting for Pulumi/);
		expect(leaving[0]).toMatch(/^The rig demo-1 is not down .*: it was being made\.\n/);
		expect(await left()).toEqual([0, false]);
	});

	onAws("cannot be made, and does not go: exit code 5 comes before the reason", async () => {
		deny("sts:GetCallerIdentity")();
		const { up } = scene({ up: () => Promise.reject(new Error("no room")) });
		expect((await ended(up()))[0]).toBe(5);
	});

	onAws("that is down, but whose folder stays, is not said to be left", async () => {
		const { up, folder } = scene();
		const rig = await up();
		// Where its folder was is a file now.
		rmSync(path.dirname(folder), { recursive: true });
		writeFileSync(path.dirname(folder), "");
		const words = /^Nothing of the rig demo-1 is left in the cloud, but .*demo-1, .* cannot be rem/;
		expect(await ended(rig.teardown())).toEqual([3, expect.stringMatching(words)]);
	});
});
