import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runs } from "../../../infra/processes.fake.ts";
import type { Broker } from "../../../infra/rig.ts";
import { script, testFolder } from "../../../infra/test-folder.fake.ts";
import type { Level } from "../../model/plan.ts";
import { describedHere, describedThere, started } from "../started.fake.ts";

describe("redis.conf", () => {
	test.each<[Level | null, Record<string, string>]>([
		[null, { appendonly: "no" }],
		["memory", { appendonly: "no" }],
		["os", { appendonly: "yes", appendfsync: "no" }],
		["interval", { appendonly: "yes", appendfsync: "everysec" }],
		["fsync", { appendonly: "yes", appendfsync: "always" }],
	])("for level %s has its settings, and no snapshots", async (level, wanted) => {
		const { conf, settings } = await launch(level);
		for (const [key, value] of Object.entries({ ...wanted, save: '""' })) {
			expect(settings).toHaveProperty([key], value);
			expect(conf).toContain(`${key} ${value}\n`);
		}
		expect(conf).toContain("bind 127.0.0.1\nport 1\n");
		expect(conf).not.toContain("unixsocket");
	});

	test("has config last, and says so in the settings", async () => {
		const { conf, settings } = await launch("fsync", {
			config: {
				save: "3600 1",
				"client-output-buffer-limit": "pubsub 0 0 0",
				"io-threads": 2,
				AppendFsync: "everysec",
				masteruser: "",
			},
		});
		expect(settings).toMatchObject({ save: "3600 1", "io-threads": "2", appendfsync: "everysec" });
		expect(conf).toContain("client-output-buffer-limit pubsub 0 0 0\n");
		expect(conf).toContain('masteruser ""\n');
		expect(conf).not.toContain("appendfsync always");
	});
});

describe("the log of a server", () => {
	test.each([
		[
			"1:C 01 Jan 2025 00:00:00.000 # Redis version=7.0.15, bits=64, commit=00000000, modified=0, pid=1, just started",
			"1:M 01 Jan 2025 00:00:00.000 * Ready to accept connections",
			"redis-server 7.0.15",
		],
		[
			"1:C 01 Jan 2025 00:00:00.000 * Valkey version=8.1.0, bits=64, commit=00000000, modified=0, pid=1, just started",
			"1:M 01 Jan 2025 00:00:00.000 * Ready to accept connections tcp",
			"valkey-server 8.1.0",
		],
	])("tells its version, and when it is ready", async (first, last, version) => {
		const { made } = await launch(null);
		expect([first, last].map((line) => made.ready(line, 0))).toEqual([false, true]);
		expect(made.version()).toBe(version);
	});
});

describe("what is missing is one sentence that says how to get it", () => {
	test.each([
		[
			"the program",
			{},
			{ PATH: "/nowhere" },
			/^mine: redis-server is not on PATH\. Install it: .*redis.*; or name one that you have: binary: \/path\/to\/redis-server\.$/,
		],
		[
			"what binary names",
			{ binary: "valkey-that-is-not-there" },
			{ PATH: "/nowhere" },
			/^mine: valkey-that-is-not-there \(binary\) is not on PATH\. Correct binary, or remove it/,
		],
	])("%s", async (_, options, env, message) => {
		await expect(launch(null, options, env)).rejects.toMatchObject({
			code: "broker-missing",
			exit: 3,
			message: expect.stringMatching(message),
		});
	});
});

describe("redis.conf on a host", () => {
	const said = "Welcome\nmqbench:program=/usr/bin/redis-server\n";

	test.each<Level | null>([null, "memory", "os", "interval", "fsync"])(
		"for level %s has the settings of one here, on the host's address and behind a password that changes with each run",
		async (level) => {
			const there = () => describedThere({ broker: "redis" }, { said, setup: { level } });
			const { settings, nodes, url, flushes, file } = await there();
			expect(settings).toEqual((await launch(level)).settings);
			expect(flushes).toBe(settings.appendonly === "yes");
			const [node] = nodes;
			expect(node?.argv).toEqual(["/usr/bin/redis-server", "/disk/run's/store/redis.conf"]);
			const conf = file("redis.conf");
			const { password } = new URL(url());
			for (const [key, value] of Object.entries({
				...settings,
				bind: "10.0.0.1",
				port: "6379",
				requirepass: password,
				dir: '"/disk/run\'s/store"',
			}))
				expect(conf).toContain(`${key} ${value}\n`);
			expect((await there()).url()).not.toBe(url());
		},
	);

	test("with snapshots of config keeps something on the disk", async () => {
		const config = { save: "3600 1" };
		const made = await describedThere({ broker: "redis", config }, { said });
		expect(made).toMatchObject({ flushes: true, settings: config });
	});
});

// Without the program this says so and skips, but never in CI.
const missing = spawnSync("redis-server", ["--version"]).error !== undefined;

describe.skipIf(missing && process.env.CI !== "true")(
	`a real redis-server${missing ? " (missing: redis-server)" : ""}`,
	() => {
		test("comes up, says its version, and is gone with its data", async () => {
			const broker = await started("redis", { mode: "streams", durability: "fsync" });
			expect(broker.url).toMatch(/^redis:\/\/:\w+@127\.0\.0\.1:\d+$/);
			expect(broker.version).toMatch(/^redis-server \d/);
			expect(broker.binary).toMatch(/redis-server$/);
			expect(cli(broker, "CONFIG", "GET", "appendfsync")).toContain("always");
			expect(cli(broker, "CONFIG", "GET", "save")).toBe("save\n\n");
			const folder = cli(broker, "CONFIG", "GET", "dir").split("\n")[1] ?? "";
			expect(statSync(path.join(folder, "appendonlydir")).isDirectory()).toBe(true);
			expect(broker.pids.every(runs)).toBe(true);
			await broker.close();
			expect(broker.pids.some(runs)).toBe(false);
			expect(() => statSync(folder)).toThrow("no such file");
			expect(readFileSync(broker.log, "utf8")).toContain("Ready to accept connections");
		});

		test("that does not know a setting does not start, and says why", async () => {
			await expect(started("redis", { config: { "no-such-setting": 1 } })).rejects.toMatchObject({
				code: "broker-start",
				message: expect.stringContaining("Bad directive"),
			});
		});
	},
);

// --- internal ---

type Some = Readonly<Record<string, unknown>>;

/** A launch that starts nothing. */
async function launch(
	level: Level | null,
	options: Some = {},
	env?: Readonly<Record<string, string>>,
) {
	const home = testFolder();
	script(path.join(home, "redis-server"), "exit 1");
	const made = await describedHere("redis", options, { level, env: { PATH: home, ...env } });
	const conf = made.file("redis.conf");
	return { made, conf, settings: made.settings };
}

function cli(broker: Broker, ...command: string[]): string {
	const { hostname, port, password } = new URL(broker.url);
	return execFileSync("redis-cli", ["-h", hostname, "-p", port, ...command], {
		encoding: "utf8",
		env: { ...process.env, REDISCLI_AUTH: password },
	});
}
