import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { System } from "../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { shellBroker } from "../nodes/shell.fake.ts";
import { ownerText } from "../owner.ts";
import { runs } from "../processes.fake.ts";
import { realBinaries } from "../programs/real.fake.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { BrokerRequest } from "../rig.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { localRig } from "./local.ts";

const real = await realBinaries();

/** A local rig with a temporary folder of its own; all that it starts is gone when the test is over. */
async function here(
	kind?: ReturnType<typeof shellBroker>,
	binaries: Partial<Binaries> = {},
	stop = new AbortController().signal,
) {
	const folder = testFolder();
	const temporary = path.join(folder, "tmp");
	mkdirSync(temporary);
	const before = process.env.TMPDIR;
	process.env.TMPDIR = temporary;
	onTestFinished(() => {
		if (before === undefined) delete process.env.TMPDIR;
		else process.env.TMPDIR = before;
	});
	const world = fakeWorld({ env: { PATH: process.env.PATH, TMPDIR: temporary }, stop });
	const made = await localRig(world, { ...real, ...binaries }, kind && { nats: kind });
	onTestFinished(() => made.teardown());
	const log = path.join(folder, "broker.log");
	return {
		rig: made,
		temporary,
		log,
		request: (parts: Partial<BrokerRequest> = {}): BrokerRequest => ({
			system: nats(null, kind?.nodes),
			level: null,
			messageBytes: 256,
			cpus: null,
			logPath: log,
			...parts,
		}),
	};
}

const nats = (port: number | null = null, nodes = 1): System =>
	({
		key: "mine",
		broker: "nats",
		port,
		url: null,
		binary: null,
		options: { broker: "nats", mode: "core", nodes },
	}) as unknown as System;

const LIVES = "echo ready; exec sleep 100";

/** A port in use until `free`, or until the test is over. */
async function takenPort() {
	const server = createServer();
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	onTestFinished(() => void server.close());
	const { port } = server.address() as { port: number };
	return { port, free: () => new Promise((down) => server.close(down)) };
}

/** The first line of a NATS server: "INFO {...}". */
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
		const { rig, request } = await here();
		const broker = await rig.open(request());
		expect(broker.url).toMatch(/^nats:\/\/\w+@127\.0\.0\.1:\d+$/);
		expect(Number(new URL(broker.url).port)).toBeLessThan(32_768);
		expect(broker.version).toMatch(/^nats-server 2\.\d+\.\d+$/);
		expect(broker.sameHost).toBe(true);
		expect(await greeting(broker.url)).toMatch(/^INFO \{/);
	});

	test("takes the port of the scenario", async () => {
		const { rig, request } = await here();
		const { port, free } = await takenPort();
		await free();
		const broker = await rig.open(request({ system: nats(port) }));
		expect(new URL(broker.url).host).toBe(`127.0.0.1:${port}`);
	});

	test("is gone with its data when it is closed; its log stays", async () => {
		const { rig, temporary, log, request } = await here();
		const broker = await rig.open(request());
		expect(readdirSync(temporary)).toHaveLength(1);
		await broker.close();
		expect(runs(broker.pids[0] ?? 0)).toBe(false);
		expect(readdirSync(temporary)).toEqual([]);
		expect(readFileSync(log, "utf8")).toContain("Server is ready");
		// May be done again, and by teardown as well.
		await Promise.all([broker.close(), rig.teardown()]);
		await rig.teardown();
	});

	test("can be frozen, with all of its processes, and goes on afterwards", async () => {
		const { rig, request } = await here();
		const broker = await rig.open(request());
		const state = () =>
			broker.pids.map(
				(pid) => /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1],
			);
		const resume = await broker.disturb({ action: "pause", node: null, delayNs: null });
		await expect.poll(state).toEqual(["T"]);
		await resume();
		await expect.poll(state).not.toContain("T");
		expect(await greeting(broker.url)).toMatch(/^INFO \{/);
	});

	test("tells when it dies, and how; not when it is closed", async () => {
		const { rig, request } = await here();
		const [killed, closed] = [await rig.open(request()), await rig.open(request())];
		let told = false;
		void closed.died.then(() => {
			told = true;
		});
		process.kill(killed.pids[0] ?? 0, "SIGKILL");
		expect(await killed.died).toBe("the broker ended by itself (SIGKILL)");
		await closed.close();
		expect(told).toBe(false);
	});
});

describe("a broker that does not come up", () => {
	test("as its port is taken, is one sentence that names the port", async () => {
		const { rig, temporary, request } = await here();
		const { port } = await takenPort();
		await expect(rig.open(request({ system: nats(port) }))).rejects.toMatchObject({
			code: "port-taken",
			exit: 3,
			message: expect.stringContaining(`mine: port ${port} is taken on 127.0.0.1.`),
		});
		expect(readdirSync(temporary)).toEqual([]);
	});

	test("as it ends, is one sentence with its last words and its log", async () => {
		const server = script(
			path.join(testFolder(), "nats-server"),
			"echo first; sleep 0.1; echo out of luck >&2; exit 5",
		);
		const { rig, temporary, log, request } = await here(undefined, {
			server: async () => server,
		});
		await expect(rig.open(request())).rejects.toMatchObject({
			code: "broker-start",
			message: `mine: the broker did not start: exit code 5, last words: out of luck. Its log: ${log}`,
		});
		expect(readFileSync(log, "utf8")).toBe("first\nout of luck\n");
		expect(readdirSync(temporary)).toEqual([]);
	});

	test("before Ctrl-C, is not waited for and is gone", async () => {
		const stop = new AbortController();
		const folder = testFolder();
		const server = script(
			path.join(folder, "nats-server"),
			`echo $$ > '${folder}/pid'; exec sleep 100`,
		);
		const { rig, temporary, request } = await here(
			undefined,
			{ server: async () => server },
			stop.signal,
		);
		const opening = rig.open(request());
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

describe("a broker of several nodes", () => {
	test("is open when all of them are ready and it is healthy", async () => {
		const seen: string[] = [];
		let asked = 0;
		const { rig, request } = await here(
			shellBroker([LIVES, `sleep 0.3; ${LIVES}`], {
				ready(line, node) {
					seen.push(`${node} ${line}`);
					return line === "ready";
				},
				async healthy() {
					asked++;
					if (asked === 1) throw new Error("not yet");
					return asked === 3;
				},
			}),
		);
		const broker = await rig.open(request());
		expect(seen).toEqual(["0 ready", "1 ready"]);
		expect(asked).toBe(3);
		expect(broker).toMatchObject({
			version: "shell 1",
			settings: { flush: "never" },
			binary: "/bin/sh",
		});
		expect(new Set(broker.pids).size).toBe(2);
		expect(broker.pids.map(runs)).toEqual([true, true]);
		await broker.close();
		expect(broker.pids.map(runs)).toEqual([false, false]);
	});

	test("does not start when one of them ends; the others are gone", async () => {
		const folder = testFolder();
		const { rig, temporary, log, request } = await here(
			shellBroker([`echo $$ > '${folder}/pid'; ${LIVES}`, "sleep 0.3; exit 7"]),
		);
		await expect(rig.open(request())).rejects.toMatchObject({
			code: "broker-start",
			message: `mine: the broker did not start: node 2 of 2: exit code 7, last words: [1] ready. Its log: ${log}`,
		});
		expect(runs(Number(readFileSync(path.join(folder, "pid"), "utf8")))).toBe(false);
		expect(readdirSync(temporary)).toEqual([]);
	});

	test("that is never healthy is given up, and says how far it came", async () => {
		const { rig, request } = await here(
			shellBroker([LIVES], { startMs: 600, healthy: () => new Promise(() => {}) }),
		);
		await expect(rig.open(request())).rejects.toThrow(
			/^mine: the broker did not start: it was ready and took no connections within \d.*, last words: .*ready/,
		);
	});

	test("is killed when it does not end by itself", async () => {
		const { rig, request } = await here(
			shellBroker(["trap '' TERM INT; echo ready; while :; do sleep 0.1; done"], { stopMs: 200 }),
		);
		const broker = await rig.open(request());
		await broker.close();
		expect(broker.pids.map(runs)).toEqual([false]);
	});
});

test("what has to happen before the nodes start happens in order, in the same folder, in its environment, with its files", async () => {
	const sh = (body: string) => ["/bin/sh", "-c", body];
	const { rig, request } = await here(
		shellBroker([""], {
			nodes: [
				{
					before: [sh("echo x > a"), sh('cat a c && echo "$WHAT" > b')],
					argv: sh("cat b; exec sleep 100"),
					env: { WHAT: "y" },
					files: { c: "z" },
				},
			],
			ready: (line) => line === "y",
		}),
	);
	await rig.open(request());
});

test("what fails before the nodes start is told, with its last words", async () => {
	const before = [["/bin/sh", "-c", "echo no room; exit 3"]];
	const { rig, log, request } = await here(
		shellBroker([""], { nodes: [{ before, argv: ["/bin/sh", "-c", LIVES], files: {} }] }),
	);
	await expect(rig.open(request())).rejects.toThrow(
		`mine: the broker did not start: /bin/sh: exit code 3, last words: no room. Its log: ${log}`,
	);
});

describe("a free port that somebody took in between", () => {
	test("is no reason to give up: another one is tried", async () => {
		let tries = 0;
		const { rig, request } = await here({
			...shellBroker([LIVES]),
			describe: (setup) => {
				tries++;
				const body =
					tries < 3
						? "echo Could not create server TCP listening socket 127.0.0.1:6379: bind: Address already in use; exit 1"
						: LIVES;
				return shellBroker([body]).describe(setup);
			},
		});
		await rig.open(request());
		expect(tries).toBe(3);
	});

	test("again and again is an error all the same", async () => {
		const { rig, request } = await here(shellBroker(["echo port 4222 is in use; exit 1"]));
		await expect(rig.open(request())).rejects.toThrow("last words: port 4222 is in use");
	});
});

describe.runIf(existsSync("/proc/self/status"))("CPUs", () => {
	const print = shellBroker([
		"grep Cpus_allowed_list /proc/self/status; echo ready; exec sleep 100",
	]);

	test("that the scenario chooses are the broker's", async () => {
		const { rig, log, request } = await here(print);
		await rig.open(request({ cpus: "0" }));
		// The log is written behind the line that says it is ready.
		await expect.poll(() => readFileSync(log, "utf8")).toMatch(/Cpus_allowed_list:\s*0\n/);
	});

	test("that the machine has not are refused with those that it has", async () => {
		const { rig, request } = await here(print);
		await expect(rig.open(request({ cpus: "0,4000-4001" }))).rejects.toMatchObject({
			code: "pin-impossible",
			exit: 3,
			message: expect.stringMatching(
				/^pin: 0,4000-4001 cannot be had: mqbench may use the CPUs \S+ here, and 4000, 4001 are not among them\. Change or remove pin\.$/,
			),
		});
	});
});

test("a system without a process has nothing to start", async () => {
	const { rig, temporary, request } = await here();
	const broker = await rig.open(request({ system: { ...nats(), broker: "noop" } }));
	expect(broker).toMatchObject({ url: "", pids: [], binary: null });
	expect(readdirSync(temporary)).toEqual([]);
});

test("data that a killed mqbench has left is removed", async () => {
	const { temporary } = await here();
	const left = path.join(temporary, `mqbench-${2 ** 22 + 1}-abcdef`);
	mkdirSync(left, { mode: 0o700 });
	const me = ownerText(process.pid);
	writeFileSync(path.join(left, ".owner"), me.replace(/^\d+/, "4194305"));
	await localRig(fakeWorld(), real);
	expect(readdirSync(temporary)).toEqual([]);
});
