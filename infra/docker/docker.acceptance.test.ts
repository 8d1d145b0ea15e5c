import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { FaultAction, Level } from "../../runner/model/plan.ts";
import { haveImage } from "../../runner/tests/e2e/images.ts";
import { type FakeWorld, fakeWorld } from "../../runner/world.fake.ts";
import { processTest, STOP_MS } from "../machines/machinetest.fake.ts";
import { ownerText } from "../owner.ts";
import { runs } from "../processes.fake.ts";
import { realBinaries } from "../programs/real.fake.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { testFolder } from "../test-folder.fake.ts";
import { findDocker } from "./cli.ts";
import { noEngine, skipWithoutEngine } from "./engine.fake.ts";
import { beginRun, LABELS, labelArguments, sweep } from "./labels.ts";
import { containerPlace } from "./place.ts";
import { dockerRig } from "./rig.ts";
import { dockerSystem } from "./systems.fake.ts";

const binaries = await realBinaries();

describe.skipIf(skipWithoutEngine)(
	`containers${noEngine && ` (${noEngine})`}`,
	{ timeout: 180_000 },
	() => {
		beforeAll(async () => {
			expect(noEngine, "CI needs a Docker engine").toBe("");
			await haveImage("nats");
		}, 180_000);

		/** The engine starts and ends it, and the log is the engine's: agent, links and pushes have no part in it. e2e/docker kills mqbench. */
		describe("a container is a place for processes:", () => {
			processTest(async () => {
				const docker = findDocker(fakeWorld({ env: process.env }), binaries.agent);
				const image = await haveImage("redis");
				const run = beginRun(docker);
				let places = 0;
				return {
					place() {
						places++;
						const name = `${run.name}-${places}`;
						return containerPlace({
							...{ docker, name, network: "none", ip: "", memory: null, stopMs: STOP_MS },
							world: { env: process.env },
							async prepare({ argv: [program = "", ...args] }) {
								const how = `create --init --network none --name ${name} --entrypoint`.split(" ");
								await docker.run([...how, program, ...labelArguments(run.labels), image, ...args]);
							},
						});
					},
					async close() {
						await run.remove();
					},
				};
			});
		});

		describe("a broker", () => {
			test("is reached by its address, is what the scenario says, and is gone with all that belongs to it", async () => {
				const { broker, rig, log, world } = await open(
					{ ...JETSTREAM, durability: "fsync", cpus: 0.5, memory: "128MiB" },
					{ level: "fsync", cpus: "0" },
				);
				expect(world.err()).toBe("");
				expect(broker).toMatchObject({
					version: "nats-server 2.15.2",
					binary: "nats:2.15.2-alpine",
					topology: "1 container, 0.5 CPUs, 128MiB",
					sameHost: true,
				});
				expect(broker.url).toMatch(/^nats:\/\/\w+@198\.1[89]\.\d+\.2:4222$/);
				expect((await client(broker.url)).info.jetstream).toBe(true);
				expect(broker.settings).toMatchObject({
					"jetstream.sync_interval": "always",
					image: expect.stringMatching(/^nats:2\.15\.2-alpine \(sha256:[0-9a-f]{64}\)$/),
					"volume fdatasync": expect.stringMatching(/^[\d.]+(ns|us|ms) \(p50 of \d+\)/),
				});
				const [pid = 0] = broker.pids;
				expect(broker.pids).toHaveLength(1);
				expect(readFileSync(`/proc/${pid}/comm`, "utf8").trim()).toBe("nats-server");
				const [name = ""] = containersOf(rig.network);
				expect(inspect(name)).toMatchObject({
					HostConfig: {
						Memory: 128 * 1024 ** 2,
						MemorySwap: 128 * 1024 ** 2,
						NanoCpus: 5e8,
						CpusetCpus: "0",
						RestartPolicy: { Name: "no" },
						PortBindings: {},
					},
					Mounts: [{ Type: "volume", Name: `${name}-data`, Destination: "/data" }],
				});
				await broker.close();
				expect(left(rig.network)).toEqual([rig.network]);
				expect(runs(pid)).toBe(false);
				await rig.teardown();
				expect(left(rig.network)).toEqual([]);
				expect(readFileSync(log, "utf8")).toContain("Server is ready");
			});

			test("of three nodes has a leader, and each node an address, a volume and a number", async () => {
				const { broker, rig } = await open({ ...JETSTREAM, nodes: 3 });
				expect(broker.url.split(",")).toHaveLength(3);
				expect(broker.topology).toBe("3 containers on 1 host");
				expect(broker.nodesShareHost).toBe(true);
				expect(broker.pids.map(runs)).toEqual([true, true, true]);
				expect(broker.nodeOf("mqbench-3")).toBe(3);
				expect(broker.nodeOf("mqbench-4")).toBeNull();
				const { request } = await client(broker.url.split(",")[1] ?? "");
				expect((await request(...makeStream("file", 3))).error).toBeUndefined();
				expect(volumesOf(rig.network)).toHaveLength(3);
				const back = await broker.disturb(fault("kill", 2));
				expect(broker.pids.map(runs)).toEqual([true, false, true]);
				await back();
				expect(broker.pids.map(runs)).toEqual([true, false, true, true]);
			});

			test("behind published ports is reached on loopback, and the hop is told", async () => {
				const { broker, world } = await open(JETSTREAM, {
					env: { MQBENCH_DOCKER_REACH: "published" },
				});
				expect(broker.url).toMatch(/^nats:\/\/\w+@127\.0\.0\.1:\d+$/);
				expect(broker.topology).toBe("1 container, through published ports");
				expect(world.err()).toMatch(/published ports .* one more hop each way/);
				expect((await client(broker.url)).info.jetstream).toBe(true);
			});
		});

		describe("a broker that does not start is one sentence, and nothing is left", () => {
			test.each<[string, Written, Parts, string, RegExp]>([
				[
					"as it dislikes a setting",
					{ ...JETSTREAM, config: { no_such_thing: 1 } },
					{},
					"broker-start",
					/exit code 1, last words: .*no_such_thing/,
				],
				[
					"as the machine has not so many CPUs",
					JETSTREAM,
					{ cpus: "63" },
					"docker-failed",
					/^Docker could not start mine: Requested CPUs are not available.*; change or remove pin\.$/,
				],
			])("%s", async (_, written, parts, code, message) => {
				const rig = await makeRig();
				await expect(rig.open(request(written, parts))).rejects.toMatchObject({
					code,
					exit: 3,
					message: expect.stringMatching(message),
				});
				expect(left(rig.network)).toEqual([rig.network]);
			});

			test("as Ctrl-C comes", async () => {
				const stop = new AbortController();
				const rig = await makeRig({ stop: stop.signal });
				const opening = rig.open(request(JETSTREAM));
				// Its network is the first thing that is made.
				setTimeout(() => stop.abort("SIGINT"), 50);
				await expect(opening).rejects.toMatchObject({ code: "interrupted" });
				expect(left(rig.network)).toEqual([rig.network]);
			});
		});

		describe("a broker that ends by itself tells so", () => {
			test("when somebody kills its container", async () => {
				const { broker, rig } = await open(JETSTREAM);
				docker("kill", "--signal", "KILL", ...containersOf(rig.network));
				expect(await broker.died).toBe("the broker ended by itself (SIGKILL)");
			});

			test("when it takes more memory than it may, and which limit that was", async () => {
				const { broker } = await open({ ...JETSTREAM, memory: "48MiB" });
				const { request, socket } = await client(broker.url);
				await request(...makeStream("memory"));
				const kib = "x".repeat(64 * 1024);
				const fill = setInterval(() => {
					if (socket.writableLength < 1e6) socket.write(`PUB t ${kib.length}\r\n${kib}\r\n`);
				}, 1);
				onTestFinished(() => clearInterval(fill));
				// Engines forget the reason at times.
				expect(await broker.died).toMatch(
					/^the broker ended by itself \((SIGKILL, perhaps )?out of memory: its limit is 48MiB\)$/,
				);
			});
		});

		describe("a fault", () => {
			test("pause freezes it, and it goes on where it was", async () => {
				const { broker } = await open(JETSTREAM);
				const { ping } = await client(broker.url);
				const back = await broker.disturb(fault("pause"));
				const answer = ping();
				expect(await within(500, answer)).toBe("silent");
				await back();
				expect(await within(10_000, answer)).toBe("answered");
			});

			test.each(["kill", "restart"] as const)(
				"%s takes it down and brings it up again with what it had stored",
				async (action) => {
					const { broker, log } = await open(JETSTREAM);
					const { request } = await client(broker.url);
					await request(...makeStream("file"));
					expect((await request("t", "hello")).seq).toBe(1);
					const [before] = broker.pids;
					const back = await broker.disturb(fault(action));
					expect(runs(before ?? 0)).toBe(false);
					await back();
					const again = await client(broker.url);
					expect((await again.request("t", "hello")).seq).toBe(2);
					// Those of both lives: what the first one used still counts.
					expect(broker.pids).toHaveLength(2);
					expect(runs(broker.pids[1] ?? 0)).toBe(true);
					// Lines reach the file a little after they are printed.
					await expect
						.poll(() => readFileSync(log, "utf8"))
						.toContain("mqbench: node 1 is ready again");
					expect(readFileSync(log, "utf8").match(/Server is ready/g)).toHaveLength(2);
					expect(await within(100, broker.died)).toBe("silent");
				},
			);

			test("partition is silence: no connection is closed or refused, and all goes on afterwards", async () => {
				const { broker } = await open(JETSTREAM);
				const { ping, socket } = await client(broker.url);
				let closed = false;
				socket.on("close", () => {
					closed = true;
				});
				const back = await broker.disturb(fault("partition"));
				const answer = ping();
				const another = dial(broker.url);
				expect(await within(2_000, answer)).toBe("silent");
				expect(closed).toBe(false);
				// Never "refused": that would be a host that is there.
				expect(await another).not.toBe("ECONNREFUSED");
				await back();
				expect(await within(20_000, answer)).toBe("answered");
				expect(closed).toBe(false);
				expect(await dial(broker.url)).toBe("connected");
			});

			test("that cannot be made here fails before the run", async () => {
				const published = await makeRig({ env: { MQBENCH_DOCKER_REACH: "published" } });
				await expect(
					published.open(request(JETSTREAM, { faults: ["pause", "partition"] })),
				).rejects.toMatchObject({
					code: "fault-impossible",
					message: expect.stringMatching(
						/^mine: the fault partition cannot be made here: clients reach the containers through published ports/,
					),
				});
			});
		});

		describe("nothing stays", () => {
			const world = () => fakeWorld({ env: process.env });

			/** A network, a volume and a container of a run that is not taken down. */
			function abandoned(run: string, owner: string) {
				const labels = labelArguments({ [LABELS.run]: run, [LABELS.owner]: owner });
				const name = `mqbench-${run}`;
				docker("network", "create", ...labels, name);
				docker("volume", "create", ...labels, name);
				docker(
					"run",
					"--detach",
					...labels,
					"--network",
					name,
					"--volume",
					`${name}:/data`,
					"nats:2.15.2-alpine",
				);
				onTestFinished(() => {
					for (const id of all("ps -aq", run)) docker("rm", "-f", id);
					docker("volume", "rm", "-f", name);
					spawnSync("docker", ["network", "rm", name]);
				});
				expect(all("ps -aq", run)).toHaveLength(1);
			}

			test("of a command that is gone; of one that is there nothing is touched", async () => {
				const { pid } = spawnSync("true");
				const gone = `gone${pid}`;
				const here = `here${pid}`;
				abandoned(gone, ownerText(process.pid).replace(/^\d+/, String(pid)));
				abandoned(here, ownerText(process.pid));
				await sweep(findDocker(world(), binaries.agent));
				for (const what of ["ps -aq", "volume ls -q", "network ls -q"]) {
					expect(all(what, gone)).toEqual([]);
					expect(all(what, here)).toHaveLength(1);
				}
			});
		});
	},
);

const noRabbit = spawnSync("erl", ["-version"]).error !== undefined;

describe.skipIf(skipWithoutEngine || (noRabbit && process.env.CI !== "true"))(
	`RabbitMQ in a container${noRabbit ? " (missing: erl)" : ""}`,
	{ timeout: 180_000 },
	() => {
		test("comes up without plugins, and lets its own user in", async () => {
			await haveImage("rabbitmq");
			const { broker, rig, log } = await open({ broker: "rabbitmq" }, { level: "fsync" });
			expect(broker.version).toMatch(/^rabbitmq-server \d/);
			expect(broker.url).toMatch(/^amqp:\/\/mqbench:\w{24}@198\.1[89]\.\d+\.2:5672$/);
			expect(broker.settings).toMatchObject({ plugins: "none" });
			await expect
				.poll(() => readFileSync(log, "utf8"))
				.toContain("Server startup complete; 0 plugins");
			expect(JSON.stringify(inspect(containersOf(rig.network)[0] ?? ""))).not.toContain(
				new URL(broker.url).password,
			);
		});
	},
);

// --- internal ---

type Written = Parameters<typeof dockerSystem>[0];

const JETSTREAM: Written = { broker: "nats", mode: "jetstream" };

interface Parts {
	readonly level?: Level | null;
	readonly cpus?: string | null;
	readonly faults?: readonly FaultAction[];
	readonly env?: Readonly<Record<string, string>>;
	readonly stop?: AbortSignal;
	readonly inside?: boolean;
}

function request(
	written: Written,
	{ level = null, cpus = null, faults = [] }: Parts = {},
): BrokerRequest {
	return {
		system: dockerSystem(written),
		level,
		messageBytes: 256,
		cpus,
		logPath: path.join(testFolder(), "broker.log"),
		faults,
	};
}

/** A rig that is gone when the test is over. */
async function makeRig({ env = {}, stop, inside = false }: Parts = {}) {
	const world = fakeWorld({ env: { ...process.env, ...env }, ...(stop ? { stop } : {}) });
	const rig = await dockerRig(world, binaries, { inside });
	onTestFinished(() => rig.teardown());
	return { ...rig, world };
}

async function open(
	written: Written,
	parts: Parts = {},
): Promise<{
	broker: Broker;
	rig: Awaited<ReturnType<typeof makeRig>>;
	log: string;
	world: FakeWorld;
}> {
	const rig = await makeRig(parts);
	const asked = request(written, parts);
	const broker = await rig.open(asked);
	return { broker, rig, log: asked.logPath, world: rig.world };
}

function fault(action: FaultAction, node: number | null = null) {
	return { action, node, delayNs: null };
}

function docker(...args: string[]): string {
	return execFileSync("docker", args, { encoding: "utf8" }).trim();
}

/** What of a kind a run or rig has in the engine: "ps -aq". */
function all(what: string, run: string): string[] {
	return docker(
		...what.split(" "),
		"--filter",
		`label=${LABELS.run}=${run.replace("mqbench-", "")}`,
	)
		.split("\n")
		.filter(Boolean);
}
const containersOf = (network: string) => all("ps -a --format {{.Names}}", network);
const volumesOf = (network: string) => all("volume ls -q", network);

/** Names of what a rig has in the engine, by the name of its network. */
function left(network: string): string[] {
	const networks = all("network ls --format {{.Name}}", network);
	return [...containersOf(network), ...volumesOf(network), ...networks];
}

function inspect(name: string): unknown {
	return JSON.parse(docker("inspect", name))[0];
}

function address(url: string): [number, string] {
	const { hostname, port } = new URL(url.replace("nats:", "http:"));
	return [Number(port), hostname];
}

/** Whether a connection comes about within 2 s, and if not, why. */
function dial(url: string): Promise<string> {
	return new Promise((resolve) => {
		const socket = connect(...address(url));
		socket.setTimeout(2_000, () => {
			socket.destroy();
			resolve("silent");
		});
		socket.once("connect", () => {
			socket.destroy();
			resolve("connected");
		});
		socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
	});
}

async function within(ms: number, answer: Promise<unknown>): Promise<"answered" | "silent"> {
	return Promise.race([
		answer.then(() => "answered" as const),
		new Promise<"silent">((resolve) => setTimeout(() => resolve("silent"), ms)),
	]);
}

function makeStream(storage: string, replicas = 1): [string, string] {
	return [
		"$JS.API.STREAM.CREATE.s",
		`{"name":"s","subjects":["t"],"num_replicas":${replicas},"storage":"${storage}"}`,
	];
}

/** A connection to NATS, by hand. */
async function client(url: string): Promise<{
	info: { jetstream?: boolean };
	request(subject: string, body: string): Promise<{ error?: object; seq?: number }>;
	ping(): Promise<void>;
	socket: Socket;
}> {
	const socket = connect(...address(url));
	onTestFinished(() => void socket.destroy());
	socket.on("error", () => {});
	const lines: string[] = [];
	let told = () => {};
	createInterface({ input: socket })
		.on("error", () => {})
		.on("line", (line) => {
			lines.push(line);
			told();
		});
	const line = async (what: RegExp): Promise<string> => {
		for (;;) {
			const at = lines.findIndex((one) => what.test(one));
			if (at >= 0) return lines.splice(0, at + 1).at(-1) ?? "";
			await new Promise<void>((resolve) => {
				told = resolve;
			});
		}
	};
	const info = JSON.parse((await line(/^INFO /)).slice(5));
	const { username } = new URL(url);
	socket.write(`CONNECT {"verbose":false,"auth_token":"${username}"}\r\nSUB inbox 1\r\n`);
	return {
		info,
		socket,
		async request(subject, body) {
			socket.write(`PUB ${subject} inbox ${Buffer.byteLength(body)}\r\n${body}\r\n`);
			return JSON.parse(await line(/^\{/));
		},
		async ping() {
			socket.write("PING\r\n");
			await line(/^PONG/);
		},
	};
}
