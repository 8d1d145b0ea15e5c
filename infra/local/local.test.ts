import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { System } from "../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { realBinaries } from "../binaries/real.fake.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { runs } from "../processes.fake.ts";
import type { Rig } from "../rig.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { localRig } from "./local.ts";

const real = await realBinaries();

/** A local rig with a temporary folder of its own; all that it starts is gone when the test is over. */
async function rig(
	binaries: Partial<Binaries> = {},
	stop = new AbortController().signal,
): Promise<{ rig: Rig; temporary: string; log: string }> {
	const folder = testFolder();
	const temporary = path.join(folder, "tmp");
	mkdirSync(temporary);
	const before = process.env.TMPDIR;
	process.env.TMPDIR = temporary;
	onTestFinished(() => {
		if (before === undefined) delete process.env.TMPDIR;
		else process.env.TMPDIR = before;
	});
	const world = fakeWorld({
		env: { PATH: process.env.PATH, TMPDIR: temporary },
		stop,
	});
	const made = await localRig(world, { ...real, ...binaries });
	onTestFinished(() => made.teardown());
	return { rig: made, temporary, log: path.join(folder, "broker.log") };
}

const nats = (port: number | null = null): System =>
	({ key: "mine", broker: "nats", port, url: null }) as System;

/** A port that somebody listens on until the test is over. */
async function takenPort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	onTestFinished(() => void server.close());
	return (server.address() as { port: number }).port;
}

async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	const { port } = server.address() as { port: number };
	await new Promise((down) => server.close(down));
	return port;
}

/** What a NATS server says first: "INFO {...}". */
function greeting(url: string): Promise<string> {
	const { hostname, port } = new URL(url);
	return new Promise((resolve, reject) => {
		const socket = connect(Number(port), hostname);
		socket.once("data", (data) => {
			socket.destroy();
			resolve(data.toString());
		});
		socket.once("error", reject);
	});
}

describe("a broker", () => {
	test("takes connections on a free loopback port when it is open", async () => {
		const { rig: local, log } = await rig();
		const broker = await local.open(nats(), log);
		expect(broker.url).toMatch(/^nats:\/\/127\.0\.0\.1:\d+$/);
		expect(broker.version).toMatch(/^nats-server 2\.\d+\.\d+$/);
		expect(broker.sameHost).toBe(true);
		expect(await greeting(broker.url)).toMatch(/^INFO \{/);
	});

	test("takes the port of the scenario", async () => {
		const { rig: local, log } = await rig();
		const port = await freePort();
		const broker = await local.open(nats(port), log);
		expect(broker.url).toBe(`nats://127.0.0.1:${port}`);
	});

	test("is gone with its data when it is closed; its log stays", async () => {
		const { rig: local, temporary, log } = await rig();
		const broker = await local.open(nats(), log);
		expect(readdirSync(temporary)).toHaveLength(1);
		await broker.close();
		expect(runs(broker.pid ?? 0)).toBe(false);
		expect(readdirSync(temporary)).toEqual([]);
		expect(readFileSync(log, "utf8")).toContain("Server is ready");
	});

	test("may be closed twice, and by teardown as well", async () => {
		const { rig: local, log } = await rig();
		const broker = await local.open(nats(), log);
		await Promise.all([broker.close(), broker.close(), local.teardown()]);
		await local.teardown();
		expect(runs(broker.pid ?? 0)).toBe(false);
	});

	test("tells when it dies, and how; not when it is closed", async () => {
		const { rig: local, log } = await rig();
		const [killed, closed] = [
			await local.open(nats(), log),
			await local.open(nats(), log),
		];
		let told = false;
		void closed.died.then(() => {
			told = true;
		});
		process.kill(killed.pid ?? 0, "SIGKILL");
		expect(await killed.died).toBe("the broker ended by itself (SIGKILL)");
		await closed.close();
		expect(told).toBe(false);
	});
});

describe("a broker that does not come up", () => {
	test("as its port is taken, is one sentence that names the port", async () => {
		const { rig: local, temporary, log } = await rig();
		const port = await takenPort();
		await expect(local.open(nats(port), log)).rejects.toMatchObject({
			code: "port-taken",
			exit: 3,
			message: expect.stringContaining(
				`mine: port ${port} is taken on 127.0.0.1.`,
			),
		});
		expect(readdirSync(temporary)).toEqual([]);
	});

	test("as it ends, is one sentence with its last words and its log", async () => {
		const natsd = script(
			path.join(testFolder(), "natsd"),
			"echo first >&2; echo out of luck >&2; exit 5",
		);
		const { rig: local, temporary, log } = await rig({ natsd });
		await expect(local.open(nats(), log)).rejects.toMatchObject({
			code: "broker-start",
			message: `mine: the broker did not start: exit code 5, last words: out of luck. Its log: ${log}`,
		});
		expect(readFileSync(log, "utf8")).toBe("first\nout of luck\n");
		expect(readdirSync(temporary)).toEqual([]);
	});

	test("as its program is missing, is one sentence", async () => {
		const { rig: local, log } = await rig({ natsd: "/nowhere/natsd" });
		await expect(local.open(nats(), log)).rejects.toMatchObject({
			code: "broker-start",
			message: expect.stringContaining("/nowhere/natsd"),
		});
	});

	test("before Ctrl-C, is not waited for and is gone", async () => {
		const stop = new AbortController();
		const folder = testFolder();
		const natsd = script(
			path.join(folder, "natsd"),
			`echo $$ > '${folder}/pid'; exec sleep 100`,
		);
		const { rig: local, temporary, log } = await rig({ natsd }, stop.signal);
		const opening = local.open(nats(), log);
		const pid = () => {
			try {
				return Number(readFileSync(path.join(folder, "pid"), "utf8"));
			} catch {
				return 0;
			}
		};
		await expect.poll(pid).toBeGreaterThan(0);
		stop.abort("SIGINT");
		await expect(opening).rejects.toMatchObject({ code: "interrupted" });
		expect(runs(pid())).toBe(false);
		expect(readdirSync(temporary)).toEqual([]);
	});
});

test("a system without a process has nothing to start", async () => {
	const { rig: local, temporary, log } = await rig();
	const broker = await local.open(
		{ key: "floor", broker: "noop", port: null, url: null } as System,
		log,
	);
	expect(broker).toMatchObject({ url: "", pid: null, binary: null });
	expect(readdirSync(temporary)).toEqual([]);
});

test("data that a killed mqbench has left is removed; that of a living one is not", async () => {
	const { temporary } = await rig();
	mkdirSync(path.join(temporary, `mqbench-${2 ** 22 + 1}-abcdef`));
	mkdirSync(path.join(temporary, `mqbench-${process.pid}-abcdef`));
	mkdirSync(path.join(temporary, "mqbench-other"));
	await localRig(fakeWorld(), real);
	expect(readdirSync(temporary).sort()).toEqual(
		[`mqbench-${process.pid}-abcdef`, "mqbench-other"].sort(),
	);
});
