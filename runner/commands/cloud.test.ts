import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Offer } from "../../infra/rent/offer.ts";
import { fakeCloud, rentedFile } from "../../infra/rent/rent.fake.ts";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { failure } from "../errors.ts";
import { explain } from "../main.ts";
import type { Measure } from "../pipeline.ts";
import { fakeWorld } from "../world.fake.ts";
import { plan } from "./plan.ts";
import { type RunArgs, run } from "./run.ts";
import { up } from "./up.ts";

const scenario = `aws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }
system: { broker: nats, mode: jetstream, durability: fsync }
workload: { rate: 3/s, message: 256B, duration: 9s }
sla: [lost == 0]
`;

function folderWith(text = scenario): string {
	const cwd = testFolder();
	writeFileSync(path.join(cwd, "s.yaml"), text);
	return cwd;
}

/** A run on a fake cloud whose measurement returns `code` or throws. */
async function rentedRun({
	measure = async () => 0,
	cloud = fakeCloud(),
	args = {},
	stop = new AbortController().signal,
	text,
}: {
	measure?: Measure;
	cloud?: ReturnType<typeof fakeCloud>;
	args?: Partial<RunArgs>;
	stop?: AbortSignal;
	text?: string;
} = {}) {
	const cwd = folderWith(text);
	const world = fakeWorld({ cwd, stop });
	const code = await run(
		{ path: "s.yaml", target: "aws", yes: true, ...args },
		world,
		cloud,
		measure,
	).catch((error) => explain(error, world));
	return { code, world, cloud, cwd };
}

const left = () => {
	throw failure("cloud-left", { text: "The rig x-1 is not down: i-0abc" });
};

describe("mqbench run --target aws", () => {
	test("asks, stands up, makes the ordinary run on that rig.json, and takes down", async () => {
		const cloud = fakeCloud();
		const { code, world } = await rentedRun({
			cloud,
			async measure({ scenario: measured, command }) {
				cloud.asked.push("measure");
				expect(measured).toMatchObject({
					target: "aws",
					aws: null,
					rig: { id: "x-1" },
					clients: { kind: "ssh", hosts: ["admin@203.0.113.2"] },
					systems: [{ key: "nats", url: null }],
				});
				expect(command.scenario).toBe("s.yaml");
				return 99;
			},
		});
		expect(code).toBe(99);
		expect(cloud.asked).toEqual(["prepare", "offer", "stand up", "measure", "teardown"]);
		expect(world.err()).toContain("Taking down the rig x-1 ...\n");
		expect(world.err()).toContain("The rig x-1 is down; nothing of it is left.\n");
	});

	test.each([
		["{ nats: nats, kafka: { broker: kafka, nodes: 3 } }", "nats/*", []],
		["{ kafka: { broker: kafka, version: 4.0.0 } }", undefined, ["default-jre-headless"]],
		[
			"{ old: { broker: redis, version: 7.2.4 }, nats: nats }",
			undefined,
			["ca-certificates", "docker.io"],
		],
		[
			'{ debian: redis, mine: { broker: redis, image: "my/redis:1" } }',
			undefined,
			["ca-certificates", "docker.io", "redis-server"],
		],
	])("of %s with --only %s its machines get %j", async (systems, only, packages) => {
		const text = scenario.replace(/^system:.*$/m, `systems: ${systems}`);
		const { cloud } = await rentedRun({ text, args: { set: ["repeat=1"], only } });
		expect(cloud.offered[0]?.[0].packages).toEqual(packages);
	});

	test("asks whether to rent them, with the price of the planned time, unless --yes or the limit say it", async () => {
		const { cloud, world } = await rentedRun({ args: { floor: false } });
		// 10min to stand up; start, warm-up, window and drain of the one run.
		expect(cloud.offered[0]?.[1]).toBe((600 + 15 + 5 + 9 + 30) * 1e9);
		expect(world.err()).toContain(
			"about $0.90 an hour without internet traffic, up to $0.16 for the run (10min 59s)",
		);
		const asked = await rentedRun({ args: { yes: false } });
		expect(asked.code).toBe(2);
		expect(asked.world.err()).toContain("there is no terminal to ask at");
		const dear = await rentedRun({ args: { maxHourlyUsd: "0.5" } });
		expect(dear.world.err()).toContain("--max-hourly-usd allows $0.50");
		for (const one of [asked, dear]) expect(one.cloud.asked).toEqual(["prepare", "offer"]);
	});

	test.each(["0", "-1", "1e3", ""])(
		"--max-hourly-usd %j is refused before anybody is asked",
		async (maxHourlyUsd) => {
			const { code, world, cloud } = await rentedRun({ args: { maxHourlyUsd } });
			expect(code).toBe(2);
			expect(world.err()).toContain("write US dollars an hour, e.g.");
			expect(cloud.asked).toEqual([]);
		},
	);

	test.each<[string, Parameters<typeof fakeCloud>[0], number, string]>([
		[
			"asks AWS nothing where a program cannot be had",
			{
				prepare() {
					throw failure("go-missing", { why: "" });
				},
			},
			3,
			"prepare",
		],
		[
			"that could not be stood up, and is left, ends with exit code 5",
			{ standUp: left },
			5,
			"prepare offer stand up",
		],
	])("%s", async (_, parts, code, asked) => {
		const found = await rentedRun({ cloud: fakeCloud(parts) });
		expect(found.code).toBe(code);
		expect(found.cloud.asked.join(" ")).toBe(asked);
	});

	test("rents nothing when Ctrl-C came while it asked", async () => {
		const stop = new AbortController();
		const offer = () => {
			stop.abort("SIGINT");
			return {};
		};
		const { code, cloud } = await rentedRun({ cloud: fakeCloud({ offer }), stop: stop.signal });
		expect(code).toBe(130);
		expect(cloud.asked).toEqual(["prepare", "offer"]);
	});

	test.each([
		["a folder that is there", { out: "." }, "already exists, and results"],
		[
			"runs to go on with, made on other machines",
			{ resume: "reports/x" },
			"--resume reports/x: its runs were made on other machines than those that would be rented now; go on with it on the rig that it began on: --rig rig.json",
		],
	] as const)("asks nobody with %s", async (_, args, sentence) => {
		const { code, world, cloud } = await rentedRun({ args });
		expect(code).toBe(2);
		expect(world.err()).toContain(sentence);
		expect(cloud.asked).toEqual([]);
	});
});

describe("whatever becomes of a run, its machines are taken down", () => {
	const bug = () => {
		throw new TypeError("ours");
	};
	const broken: Measure = async () => {
		throw failure("broker-start", { system: "nats", reason: "no room", log: "broker.log" });
	};

	test.each<[string, Measure, (() => void) | undefined, number, RegExp]>([
		["a failure: with its exit code", broken, undefined, 3, /no room/],
		[
			"a bug: the stack is shown, after they are down",
			async () => bug(),
			undefined,
			1,
			/nothing of it is left\.\nThis is a bug.*ours/s,
		],
		[
			"a breach, of which something is left: 5",
			async () => 99,
			left,
			5,
			/^The rig x-1 is not down: i-0abc$/m,
		],
		[
			"a failure, whose reason is said first, and of which something is left: 5",
			broken,
			left,
			5,
			/no room.*The rig x-1 is not down/s,
		],
	])("after %s", async (_, measure, teardown, code, words) => {
		const found = await rentedRun({ measure, cloud: fakeCloud(teardown && { teardown }) });
		expect(found.code).toBe(code);
		expect(found.cloud.asked.at(-1)).toBe("teardown");
		expect(found.world.err()).toMatch(words);
	});

	test("when Ctrl-C ends it: with 130; when it comes after it, with its own exit code", async () => {
		const stop = new AbortController();
		const { code, cloud } = await rentedRun({
			stop: stop.signal,
			async measure() {
				stop.abort("SIGINT");
				throw failure("interrupted", { signal: "SIGINT" });
			},
		});
		expect(code).toBe(130);
		expect(cloud.asked.at(-1)).toBe("teardown");
		const later = new AbortController();
		const late = fakeCloud({ teardown: () => later.abort("SIGINT") });
		expect((await rentedRun({ cloud: late, stop: later.signal })).code).toBe(0);
	});
});

describe("mqbench up --target aws", () => {
	const stand = async (cloud = fakeCloud(), more: Partial<Parameters<typeof up>[0]> = {}) => {
		const cwd = folderWith();
		const world = fakeWorld({ cwd });
		const code = await up(
			{ path: "s.yaml", target: "aws", yes: true, ...more },
			world,
			cloud,
		).catch((error) => explain(error, world));
		return { code, world, cloud, cwd };
	};

	test("says that machines of an image of one's own may not end themselves", async () => {
		const { world } = await stand(fakeCloud(), { set: ["aws.ami=ami-0123456789abcdef5"] });
		expect(world.out()).toContain(
			" are up in eu-central-1 ($0.90 an hour). If their image has cloud-init, they end themselves after 2h (",
		);
	});

	test("leaves machines up, and their rig.json", async () => {
		const { code, world, cloud, cwd } = await stand();
		expect(code).toBe(0);
		expect(cloud.asked).toEqual(["prepare", "offer", "stand up", "keep"]);
		expect(cloud.offered[0]?.[1]).toBeNull();
		const file = path.join(cwd, "rig.json");
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject(rentedFile);
		expect(world.out()).toBe(
			`1 i4i.xlarge, 1 c6in.xlarge are up in eu-central-1 ($0.90 an hour). They end themselves after 2h (2026-01-02T05:04:05Z).
rig.json says where they are, to its owner alone. Measure on them:
  npx mqbench s.yaml --rig rig.json
They cost money until: npx mqbench down rig.json, or npx mqbench rigs destroy x-1
`,
		);
	});

	test.each([
		["rents nothing where the file is there already", { out: "s.yaml" }, 2, [], "already exists"],
		[
			"takes down what nobody could find again",
			{ out: "no/such/folder/rig.json" },
			3,
			["prepare", "offer", "stand up", "teardown"],
			"cannot be written",
		],
		[
			"has nothing to stand up of target existing",
			{ target: "existing", set: ["system.url=nats://h:4222"] },
			2,
			[],
			"npx mqbench up keeps brokers of target local or aws, not of existing.",
		],
	])("%s", async (_, args, exit, asked, words) => {
		const { code, cloud, world } = await stand(fakeCloud(), args);
		expect({ code, asked: cloud.asked }).toEqual({ code: exit, asked });
		expect(world.err()).toContain(words);
	});
});

describe("what needs no AWS does without", () => {
	const planned = async (offer?: () => Partial<Offer>, args = {}) => {
		const world = fakeWorld({ cwd: folderWith() });
		const cloud = fakeCloud(offer && { offer });
		const code = await plan({ path: "s.yaml", target: "aws", ...args }, world, cloud);
		return { code, cloud, out: world.out(), err: world.err() };
	};

	test.each<[string, () => Partial<Offer>, number, readonly string[]]>([
		[
			"machines and durations, and why the price is not known, in one line: the command is to be copied",
			() => {
				throw failure("sdk-missing", { folder: "/x/infra/aws", project: true });
			},
			0,
			[
				"1 x i4i.xlarge for brokers",
				"Standing up, all runs, and the time between them: at most 11min 9s.",
				"\n  AWS was not asked: Target aws needs Pulumi and the SDK of AWS, which are not installed. Once: npm ci --prefix /x/infra/aws\n",
			],
		],
		[
			"a price that is not known is no failure",
			() => ({ hourlyUsd: null, unpriced: "nobody says" }),
			0,
			["Price: not known: nobody says;"],
		],
		[
			"without credentials or network AWS was not asked",
			() => {
				throw failure("cloud-unasked", { wrong: ["none.", "and more."] });
			},
			0,
			["\n  AWS was not asked: none.\n"],
		],
		[
			"checks that fail are said, and the exit code is that of a run",
			() => {
				throw failure("cloud-unfit", { wrong: ["a: no."] });
			},
			3,
			["\n  It could not be rented: a: no.\n"],
		],
		[
			"a mistake of the person's as well",
			() => {
				throw failure("cloud-too-many", { machines: 30, most: 20, variable: "V" });
			},
			2,
			["\n  It could not be rented: The scenario rents 30 machines"],
		],
	])("plan: %s", async (_, offer, exit, words) => {
		const { code, cloud, out, err } = await planned(offer);
		expect({ code, err }).toEqual({ code: exit, err: "" });
		expect(cloud.asked).toEqual(["offer"]);
		for (const one of words) expect(out).toContain(one);
	});

	test.each([{ json: true }, { target: undefined }])("plan %j asks nobody", async (args) => {
		const { cloud, out, err } = await planned(undefined, args);
		expect(cloud.asked).toEqual([]);
		expect(out + err).not.toMatch(/Asking AWS|What is rented/);
	});

	test("run and up on another target refuse --max-hourly-usd", async () => {
		const sentence = "--max-hourly-usd is for target aws; add --target aws";
		const args = { yes: true, maxHourlyUsd: "5", target: "local" };
		const { code, world, cloud } = await rentedRun({ args });
		expect(code).toBe(2);
		expect(world.err()).toContain(sentence);
		expect(cloud.asked).toEqual([]);
		await expect(up({ path: "s.yaml", ...args }, world, cloud)).rejects.toMatchObject({
			exit: 2,
			message: expect.stringContaining(sentence),
		});
	});

	test("plan: with AWS's answer, the price of an hour and of the run", async () => {
		const command = `the credentials end early: ${"log in ".repeat(9)}: aws sso login`;
		const offer = () => ({ hourlyUsd: 1.2, warnings: ["burst credit", command] });
		const { code, out } = await planned(offer, { set: ["workload.duration=59min"] });
		expect(code).toBe(0);
		// 10min, and 59min of sending, start, warm-up and drain 50s, floor 10s: 70min.
		expect(out.replaceAll(/\s+/g, " ")).toContain(
			"about $1.20 an hour without internet traffic, up to $1.40 for the run (1h 10min), up to $2.40 until they end themselves (2h)",
		);
		for (const words of ["  zone     eu-central-1b\n", "Warning: burst credit"])
			expect(out).toContain(words);
		expect(out).toContain(`\n  Warning: ${command}\n`);
	});
});
