import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import { alive, descendants } from "../../../infra/processes.fake.ts";
import type { Broker } from "../../../infra/rig.ts";
import { describedHere, describedThere, started } from "../started.fake.ts";

const installed = findOnPath("rabbitmq-server", process.env) !== null;
if (!installed && process.env.CI === "true")
	throw new Error("CI needs a rabbitmq-server: apt-get install rabbitmq-server");

const open = (written: Readonly<Record<string, unknown>> = {}) => started("rabbitmq", written);

/** RabbitMQ's first words over AMQP 0.9.1 contain its version. */
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

/** A broker's processes, with Erlang's helpers and name server. */
function processesOf(broker: Broker) {
	const pid = broker.pids[0] ?? 0;
	const below = descendants(pid);
	expect(below.map(({ name }) => name)).toContain("epmd");
	return [{ pid, parent: 0, name: nameOf(pid) }, ...below];
}

function nameOf(pid: number): string {
	return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}

// Each takes some seconds to start on two busy cores.
describe.skipIf(!installed)("rabbitmq-server as mqbench starts it", { timeout: 180_000 }, () => {
	test("takes connections on loopback; two at a time know nothing of each other: one is closed, and gone with all that belongs to it, the other is killed, and tells so", {
		tags: "long",
	}, async () => {
		const [one, other] = await Promise.all([open(), open()]);
		expect(one.version).toMatch(/^rabbitmq-server \d+\.\d+\.\d+/);
		expect(one.url).toMatch(/^amqp:\/\/mqbench:[0-9a-f]{24}@127\.0\.0\.1:\d+$/);
		expect(await greeting(one.url)).toContain("RabbitMQ");
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

test.skipIf(!installed)(
	"the program is the server's own script, not the wrapper that changes the user",
	async () => {
		const [program = ""] = (await describedHere("rabbitmq")).nodes[0]?.argv ?? [];
		expect(readFileSync(realpathSync(program), "utf8")).toContain("exec erl");
	},
);

test("a cookie, a name and a password are new with each run, and the password is in a file alone", async () => {
	const said = "mqbench:program=/it\nmqbench:names=/epmd\n";
	const there = () => describedThere({ broker: "rabbitmq" }, { said });
	const [one, other] = [await there(), await there()];
	expect(one.url()).not.toBe(other.url());
	for (const name of [".erlang.cookie", "rabbitmq.conf"])
		expect(one.file(name)).not.toBe(other.file(name));
	const [node, another] = [one.nodes[0], other.nodes[0]];
	expect(node?.env?.RABBITMQ_NODENAME).not.toBe(another?.env?.RABBITMQ_NODENAME);
	expect(JSON.stringify(node?.env)).not.toContain(new URL(one.url()).password);
});
