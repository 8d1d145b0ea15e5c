import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ResourceLine } from "../../runner/model/resource-file.ts";
import { RigFile } from "../../runner/scenario/rig-file.ts";
import { haveImage } from "../../runner/tests/e2e/images.ts";
import type { World } from "../../runner/world.ts";
import { type Host, type Hosts, makeHosts, SOON } from "../clients/hosts.fake.ts";
import { dockerSystem } from "../docker/systems.fake.ts";
import { connectOwner, cutTest, machineTest, STOP_MS } from "../machines/machinetest.fake.ts";
import { realBinaries, realWorld } from "../programs/real.fake.ts";
import type { Broker } from "../rig.ts";
import { sshHost } from "../ssh/host.ts";
import { overSsh } from "../ssh/set-up.ts";
import { testFolder } from "../test-folder.fake.ts";
import { hostContainerPlace } from "./container-place.ts";
import { hostEnginesMissing, startEngine } from "./engine.fake.ts";
import { hostEngine } from "./engine.ts";
import { onHosts } from "./open.ts";
import { brokerSamples } from "./place.ts";

const binaries = await realBinaries();
const missing = hostEnginesMissing();

describe.skipIf(missing !== null)(
	`brokers in containers of hosts${missing === null ? "" : ` (skipped: ${missing})`}`,
	{ timeout: 180_000 },
	() => {
		let hosts: Hosts;
		let engine: Awaited<ReturnType<typeof startEngine>>;
		const own = process.env.DOCKER_HOST;
		/** The first has an engine, the second has not. */
		beforeAll(async () => {
			hosts = await makeHosts(2);
			engine = await startEngine(host(0));
			// For this test's own images and looks.
			process.env.DOCKER_HOST = engine.DOCKER_HOST;
			await haveImage("redis", "7.0.15");
		}, 180_000);
		afterAll(() => {
			if (own === undefined) delete process.env.DOCKER_HOST;
			else process.env.DOCKER_HOST = own;
			hosts?.close();
			engine?.close();
		});
		const host = (i: number) => hosts.all[i] as Host;
		const docker = (...args: string[]) => execFileSync("docker", args, { encoding: "utf8" }).trim();
		const servers = () =>
			host(0)
				.processes()
				.filter(({ name }) => name === "redis-server");
		const state = () =>
			servers().map(
				({ pid }) => /^State:\s(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1],
			);
		const nothingRuns = () =>
			expect
				.poll(() => [...servers(), docker("ps", "--all", "--quiet")], {
					timeout: 40_000,
					interval: 200,
				})
				.toEqual([""]);
		const folders = () =>
			["runs", "store"].flatMap((kind) => {
				const folder = path.join(host(0).home, ".cache", "mqbench", kind);
				return existsSync(folder) ? readdirSync(folder) : [];
			});

		const world = (options = ""): World => ({
			...realWorld,
			stderr: { ...realWorld.stderr, write() {} },
			env: { ...process.env, MQBENCH_SSH_OPTIONS: `${options} ${hosts.sshOptions}` },
		});

		async function open(
			written: Parameters<typeof dockerSystem>[0],
			{ at = 0, cpus = null as string | null } = {},
		): Promise<{ broker: Broker; folder: string }> {
			const { brokers } = RigFile.parse({
				version: 1,
				id: "lab",
				brokers: [
					{
						system: "mine",
						broker: written.broker,
						hosts: [{ host: host(at).name, address: host(at).address }],
					},
				],
			});
			const rig = onHosts(world(), binaries);
			onTestFinished(() => rig.close());
			const folder = testFolder();
			const broker = await rig.open(brokers[0] as RigFile["brokers"][number], {
				system: dockerSystem(written),
				level: "fsync",
				messageBytes: 256,
				cpus,
				logPath: path.join(folder, "broker.log"),
			});
			return { broker, folder };
		}
		const REDIS = { broker: "redis", mode: "streams", version: "7.0.15" };

		describe("a container of a host is a machine:", () => {
			const own = () =>
				connectOwner(overSsh({ ...sshHost("h1"), broker: "mine" }), {
					options: { binaries, world: world(SOON) },
					async place(site) {
						const engine = await hostEngine(site.host);
						const limits = { cpus: null, memory: null, pin: null };
						const id = "redis:7.0.15-alpine";
						const image = { name: id, id, digest: null, env: {}, entrypoint: [] };
						const fetchSamples = async () => {};
						return (number) =>
							hostContainerPlace({
								...{ site, engine, image, number, data: null, limits },
								...{ stopMs: STOP_MS, fetchSamples },
							});
					},
				});
			machineTest(own);
			cutTest(own, () => {
				host(0).cut();
				return () => host(0).mend();
			});
		});

		test("are of the version that is asked for, within their limits, and gone with all that belongs to them", async () => {
			const { broker, folder } = await open(
				{ ...REDIS, cpus: 0.5, memory: "128MiB" },
				{ cpus: "0" },
			);
			expect(broker).toMatchObject({
				url: expect.stringMatching(`^redis://:[0-9a-f]+@${host(0).address}:6379$`),
				version: "redis-server 7.0.15",
				binary: "redis:7.0.15-alpine",
				topology: "1 node on 1 host, in a container of at most 0.5 CPUs, 128MiB",
				settings: {
					appendfsync: "always",
					image: expect.stringMatching(/^redis:7\.0\.15-alpine \(sha256:[0-9a-f]{64}\)$/),
				},
			});
			const [, limits = ""] = docker(
				"inspect",
				docker("ps", "--quiet"),
				"--format",
				"x{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.CpusetCpus}} {{.HostConfig.NetworkMode}}",
			).split("x");
			expect(limits).toBe("500000000 134217728 134217728 0 host");
			// The container does not show the password.
			const password = /:([0-9a-f]+)@/.exec(broker.url)?.[1] ?? "";
			expect(docker("inspect", docker("ps", "--quiet"))).not.toContain(password);
			expect(host(0).run("ls ~/.cache/mqbench/store/*/data/appendonlydir")).toMatch(/aof/);
			expect(host(0).run("ss -ltnH | grep :6379").trim()).toContain(` ${host(0).address}:6379 `);
			// A sample a second, and what a broker used is in those of its life.
			await expect
				.poll(() => host(0).run(`cat ~/.cache/mqbench/runs/*/${brokerSamples(1)}`), {
					timeout: 40_000,
				})
				.toMatch(/"rssBytes":[1-9]/);
			await broker.close();
			await nothingRuns();
			expect(folders()).toEqual([]);
			const lines = readFileSync(path.join(folder, "resources-broker-1.jsonl"), "utf8")
				.trim()
				.split("\n")
				.map((line) => ResourceLine.parse(JSON.parse(line)));
			const memory = lines.map(({ broker }) => broker?.rssBytes ?? 0);
			expect(Math.max(...memory)).toBeGreaterThan(0);
		});

		test("are paused, killed and started again with their data", async () => {
			const { broker } = await open(REDIS);
			const disturb = (action: "pause" | "kill" | "restart") =>
				broker.disturb({ action, node: 1, delayNs: null });
			const back = await disturb("pause");
			expect(state()).toEqual(["T"]);
			await back();
			expect(state()).not.toEqual(["T"]);
			const data = () =>
				host(0).run("ls -i ~/.cache/mqbench/store/*/data/appendonlydir/*.manifest");
			const before = data();
			for (const action of ["kill", "restart"] as const) {
				const was = servers()[0]?.pid;
				const up = await disturb(action);
				expect(servers()).toEqual([]);
				await up();
				expect(servers()).toHaveLength(1);
				expect(servers()[0]?.pid).not.toBe(was);
			}
			expect(data()).toBe(before);
			const { died } = broker;
			host(0).run("kill -9 $(pidof redis-server)");
			expect(await died).toBe("the broker on h1 ended by itself (SIGKILL)");
			await broker.close();
			await nothingRuns();
		});

		test("end when the docker command there is killed: nobody hears them any more", async () => {
			const { broker } = await open(REDIS);
			for (const { pid, command } of host(0).processes())
				if (command.startsWith("docker run ")) process.kill(pid, "SIGKILL");
			expect(await broker.died).toMatch(/^the broker on h1 ended by itself/);
			await nothingRuns();
			await broker.close();
			expect(folders()).toEqual([]);
		});

		test("that a killed mqbench has made and not started are removed by the next one", async () => {
			const { broker } = await open(REDIS);
			for (const pid of hosts.masters()) process.kill(pid, "SIGKILL");
			await broker.died;
			await nothingRuns();
			const [file = ""] = host(0).run("ls ~/.cache/mqbench/runs/*/container-*").trim().split("\n");
			const name = file.split("container-")[1] ?? "";
			docker("create", "--name", name, "redis:7.0.15-alpine");
			await broker.close();
			const next = await open({ broker: "redis", mode: "streams" });
			// Without an image: the host's own.
			expect(next.broker.settings).not.toHaveProperty("image");
			await next.broker.close();
			await nothingRuns();
			expect(folders()).toEqual([]);
		});

		test("need an engine there, and an image that it has or gets", async () => {
			await expect(open(REDIS, { at: 1 })).rejects.toThrow(
				/^h2: cannot run mine: no Docker engine answers there \(Cannot connect to the Docker daemon at .*\)\. Start it there: sudo systemctl start docker\.$/,
			);
			await expect(open({ broker: "redis", image: "127.0.0.1:9/none/redis:1" })).rejects.toThrow(
				/^mine: the image 127\.0\.0\.1:9\/none\/redis:1 is not on h1 and cannot be pulled there \(.*\)\. Try docker pull 127\.0\.0\.1:9\/none\/redis:1 there, or name an image that it has: image: <name>\.$/,
			);
		});
	},
);
