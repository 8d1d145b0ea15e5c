import { execFileSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	realpathSync,
} from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import { alive, commandLines, descendants } from "../../../infra/processes.fake.ts";
import type { Broker } from "../../../infra/rig.ts";
import { script, testFolder } from "../../../infra/test-folder.fake.ts";
import type { Level } from "../../model/plan.ts";
import { describedHere, describedThere, started } from "../started.fake.ts";

const installed = findOnPath("rabbitmq-server", process.env) !== null;
if (!installed && process.env.CI === "true")
	throw new Error("CI needs a rabbitmq-server: apt-get install rabbitmq-server");

const open = (written: Readonly<Record<string, unknown>> = {}) => started("rabbitmq", written);

/** What mqbench would start, without starting it. */
function launch(
	written: Readonly<Record<string, unknown>>,
	{
		path: PATH = process.env.PATH,
		...parts
	}: { messageBytes?: number; path?: string | undefined; level?: Level } = {},
) {
	return describedHere("rabbitmq", written, { env: { PATH }, ...parts });
}

/** What a RabbitMQ says first to who speaks AMQP 0.9.1: its version is in it. */
function greeting(url: string): Promise<string> {
	const { hostname, port } = new URL(url);
	return new Promise((resolve, reject) => {
		const socket = connect(Number(port), hostname, () => socket.write("AMQP\0\0\x09\x01"));
		socket.once("data", (data) => {
			socket.destroy();
			resolve(data.toString("latin1"));
		});
		socket.once("error", reject);
	});
}

/** All that belongs to a broker, Erlang's helpers and the name server included. */
function processesOf(broker: Broker) {
	const pid = broker.pids[0] ?? 0;
	const below = descendants(pid);
	expect(below.map(({ name }) => name)).toContain("epmd");
	return [{ pid, parent: 0, name: nameOf(pid) }, ...below];
}

function nameOf(pid: number): string {
	return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}

// Each takes some seconds to start, on two cores and beside other tests.
describe.skipIf(!installed)("rabbitmq-server as mqbench starts it", { timeout: 180_000 }, () => {
	test("takes connections on loopback; two at a time know nothing of each other: one is closed, and gone with all that belongs to it, the other is killed, and tells so", {
		tags: "long",
	}, async () => {
		const [one, other] = await Promise.all([open(), open()]);
		expect(one.version).toMatch(/^rabbitmq-server \d+\.\d+\.\d+/);
		expect(one.url).toMatch(/^amqp:\/\/mqbench:[0-9a-f]{24}@127\.0\.0\.1:\d+$/);
		expect(await greeting(one.url)).toContain("RabbitMQ");
		expect(listeners(one)).toEqual(["127.0.0.1"]);
		const password = new URL(other.url).password;
		expect(readFileSync(one.log, "utf8")).not.toContain(password);
		const all = processesOf(one);
		const store = readlinkSync(`/proc/${one.pids[0]}/cwd`);
		expect(readdirSync(store)).toContain("rabbitmq.conf");
		await one.close();
		await expect.poll(() => alive(all)).toEqual([]);
		expect(existsSync(store)).toBe(false);
		expect(await greeting(other.url)).toContain("RabbitMQ");
		const others = processesOf(other);
		process.kill(other.pids[0] ?? 0, "SIGKILL");
		expect(await other.died).toBe("the broker ended by itself (SIGKILL)");
		await expect.poll(() => alive(others)).toEqual([]);
	});

	test("leaves no process when its agent is killed", { tags: "long" }, async () => {
		const broker = await open();
		const all = processesOf(broker);
		const stat = readFileSync(`/proc/${broker.pids[0]}/stat`, "utf8");
		const agent = Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]);
		process.kill(agent, "SIGKILL");
		await expect.poll(() => alive(all), { timeout: 30_000 }).toEqual([]);
	});

	test("that dislikes a setting is one sentence", { tags: "long" }, async () => {
		await expect(open({ config: { no_such_setting: 1 } })).rejects.toMatchObject({
			code: "broker-start",
			message: expect.stringMatching(/^mine: /),
		});
	});
});

describe.skipIf(!installed)("rabbitmq.conf", () => {
	const conf = (made: Awaited<ReturnType<typeof launch>>) => made.file("rabbitmq.conf");

	test("holds the scenario's own settings instead of ours", async () => {
		const made = await launch({ config: { "disk_free_limit.absolute": "1GB", heartbeat: 30 } });
		expect(conf(made)).toContain("disk_free_limit.absolute = 1GB\n");
		expect(conf(made)).not.toContain("50MB");
		expect(made.settings).toMatchObject({
			"disk_free_limit.absolute": "1GB",
			heartbeat: "30",
			schedulers: "+sbwt none",
		});
	});

	test("allows messages that not every RabbitMQ takes by itself", async () => {
		expect(conf(await launch({}))).not.toContain("max_message_size");
		const made = await launch({}, { messageBytes: 20 * 1024 ** 2 });
		expect(conf(made)).toContain("max_message_size = 20971520\n");
	});

	test("keeps level os from flushing large messages in RabbitMQ 3", async () => {
		const binary = installation("3.13.2");
		const large = { messageBytes: 8192, level: "os" } as const;
		expect((await launch({ binary }, large)).settings).toMatchObject({
			queue_index_embed_msgs_below: "9216",
		});
		for (const [version, parts] of [
			["3.13.2", { messageBytes: 8192 }],
			["3.13.2", { level: "os" }],
			["4.0.5", large],
		] as const)
			expect((await launch({ binary: installation(version) }, parts)).settings).not.toHaveProperty(
				"queue_index_embed_msgs_below",
			);
	});

	test("permits shared transient queues where they are deprecated, and says nothing where the word is unknown", async () => {
		const folder = installation("4.3.1");
		const four = await launch({ queue: "transient", binary: folder });
		expect(conf(four)).toContain("deprecated_features.permit.transient_nonexcl_queues = true\n");
		const three = await launch({ queue: "transient", binary: installation("3.10.8") });
		expect(conf(three)).not.toContain("deprecated_features");
	});
});

describe("the program", () => {
	test.skipIf(!installed)(
		"is the server's own script, not the wrapper that changes the user",
		async () => {
			const [program = ""] = (await launch({})).nodes[0]?.argv ?? [];
			expect(readFileSync(realpathSync(program), "utf8")).toContain("exec erl");
		},
	);

	test("may be an installation's folder", async () => {
		const folder = installation("4.1.0");
		const made = await launch({ binary: folder }, { path: erlang() });
		expect(made.nodes[0]?.argv).toEqual([path.join(folder, "sbin", "rabbitmq-server")]);
	});

	test("without Erlang is one sentence", async () => {
		await expect(
			launch({ binary: installation("4.1.0") }, { path: testFolder() }),
		).rejects.toMatchObject({
			code: "broker-missing",
			message: expect.stringContaining("epmd (of Erlang, which RabbitMQ runs on) is not on PATH"),
		});
	});
});

describe("a node on a host", () => {
	const place = (
		version: string,
		{
			options = {},
			level = null,
			messageBytes = 256,
			...answer
		}: {
			readonly options?: Readonly<Record<string, unknown>>;
			readonly level?: Level | null;
			readonly messageBytes?: number;
			readonly said?: string;
			readonly code?: number;
		} = {},
	) =>
		describedThere(
			{ broker: "rabbitmq", ...options },
			{
				setup: { level, messageBytes },
				said: `mqbench:program=/usr/lib/rabbitmq/bin/rabbitmq-server\nmqbench:version=${version}\nmqbench:names=/usr/bin/epmd\n`,
				...answer,
			},
		);

	test("has its files and folders in the store, and a cookie, a name and a password that are new with each run", async () => {
		const [one, other] = await Promise.all([place("3.10.8"), place("3.10.8")]);
		const [node] = one.nodes;
		expect(node?.argv).toEqual(["/usr/lib/rabbitmq/bin/rabbitmq-server"]);
		expect(Object.keys(node?.files ?? {}).sort()).toEqual([
			".erlang.cookie",
			"advanced.config",
			"enabled_plugins",
			"rabbitmq-env.conf",
			"rabbitmq.conf",
		]);
		const paths = Object.entries(node?.env ?? {}).filter(([, value]) => value.includes("/"));
		for (const [name, value] of paths)
			expect([name, value.startsWith("/disk/run's/store/")]).toEqual([name, true]);
		expect(paths.map(([name]) => name)).toContain("RABBITMQ_MNESIA_BASE");
		const { password } = new URL(one.url());
		expect(node?.files["rabbitmq.conf"]).toContain("listeners.tcp.1 = 10.0.0.1:5672\n");
		expect(node?.files["rabbitmq.conf"]).toContain(`default_pass = ${password}\n`);
		expect(JSON.stringify(node?.env)).not.toContain(password);
		expect(one.url()).not.toBe(other.url());
		for (const name of [".erlang.cookie", "rabbitmq.conf"])
			expect(node?.files[name]).not.toBe(other.nodes[0]?.files[name]);
		expect(node?.env?.RABBITMQ_NODENAME).not.toBe(other.nodes[0]?.env?.RABBITMQ_NODENAME);
	});

	test("has the settings of the version that is installed there", async () => {
		const { settings } = await place("3.10.8", { messageBytes: 8192, level: "os" });
		expect(settings).toMatchObject({ queue_index_embed_msgs_below: "9216" });
	});

	test.each([
		[{ level: "memory" }, false],
		[{ options: { queue: "transient" } }, false],
		[{ level: "os" }, true],
		[{}, true],
	] as const)("of %j: is on the disk: %s", async (parts, flushes) => {
		expect((await place("3.10.8", parts)).flushes).toBe(flushes);
	});

	test.each([
		[
			"the program",
			{ code: 1, said: "Welcome\n" },
			/^mine: rabbitmq-server is not on h1\. Install it there: apt-get install rabbitmq-server; /,
		],
		[
			"Erlang's name server",
			{ said: "mqbench:program=/opt/rabbitmq-server\nmqbench:version=4.1.0\nmqbench:names=\n" },
			/^mine: epmd \(of Erlang, which RabbitMQ runs on\) is not on h1\. Install Erlang there: apt-get install erlang-base/,
		],
	])("without %s is one sentence", async (_, parts, message) => {
		await expect(place("3.10.8", parts)).rejects.toMatchObject({
			code: "broker-missing",
			exit: 3,
			message: expect.stringMatching(message),
		});
	});
});

/** A folder that looks like an installation of that version. */
function installation(version: string): string {
	const folder = testFolder();
	mkdirSync(path.join(folder, "sbin"));
	mkdirSync(path.join(folder, "plugins", `rabbit-${version}`), { recursive: true });
	script(path.join(folder, "sbin", "rabbitmq-server"), "exit 1");
	return folder;
}

/** A PATH on which Erlang seems to be. */
function erlang(): string {
	const folder = testFolder();
	script(path.join(folder, "erl"), "exit 1");
	script(path.join(folder, "epmd"), "exit 1");
	return `${folder}:/usr/bin:/bin`;
}

/** Addresses that the broker and its name server listen on. */
function listeners(broker: Broker): string[] {
	if (!existsSync("/usr/bin/ss") && !existsSync("/bin/ss")) return ["127.0.0.1"];
	const pid = broker.pids[0] ?? 0;
	const lines = execFileSync("ss", ["-Htlnp4"], { encoding: "utf8" })
		.split("\n")
		.filter((line) => line.includes(`pid=${pid},`));
	expect(commandLines().length).toBeGreaterThan(0);
	return [...new Set(lines.map((line) => line.split(/\s+/)[3]?.split(":")[0] ?? ""))];
}
