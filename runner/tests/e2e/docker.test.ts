import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { noEngine, skipWithoutEngine } from "../../../infra/docker/engine.fake.ts";
import { LABELS } from "../../../infra/docker/labels.ts";
import { descendants } from "../../../infra/processes.fake.ts";
import type { Run } from "../../model/result.ts";
import type { RunFile } from "../../model/run-file.ts";
import { haveImage } from "./images.ts";
import { type Mqbench, resultOf, scenario, start, temporaryFolder, until } from "./mqbench.ts";

/** A limit that a busy machine cannot breach: these tests are about counts. */
const LENIENT = "[p50 < 5s, lost == 0]";
const DOCKER = { target: "docker", sla: LENIENT };
const JETSTREAM = "{ broker: nats, mode: jetstream, durability: fsync }";

describe.skipIf(skipWithoutEngine)(
	`brokers and clients in containers${noEngine && ` (${noEngine})`}`,
	() => {
		beforeAll(async () => {
			expect(noEngine, "CI needs a Docker engine").toBe("");
			await haveImage("nats");
		});

		test("JetStream, each message on disk: a run to its verdict, that says what it ran on and leaves nothing", async () => {
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const ended = await begin([
				scenario(
					folder,
					{},
					{
						...DOCKER,
						system: `{ broker: nats, mode: jetstream, durability: fsync, cpus: 1, memory: 256MiB }`,
					},
				),
				"--out",
				out,
			]).ended;
			expect(ended.code, ended.err).toBe(0);
			const one = onlyRun(out);
			expect(one).toMatchObject({ verdict: "pass", sent: 500, acked: 500, received: 500, lost: 0 });
			const file = runFile(out);
			expect(file).toMatchObject({
				brokerBinary: "nats:2.15.2-alpine",
				brokerVersion: "nats-server 2.15.2",
				topology: "1 container, 1 CPU, 256MiB",
				sameHost: true,
				brokerSettings: {
					"jetstream.sync_interval": "always",
					"volume fdatasync": expect.stringMatching(/\(p50 of \d+\)/),
				},
			});
			expect(file.brokerUrl).toMatch(/^nats:\/\/\*{3}@198\.1[89]\./);
			// Processes in containers are sampled as any of this machine.
			const samples = readFileSync(path.join(out, one.folder, "resources.jsonl"), "utf8")
				.trim()
				.split("\n")
				.map((line) => JSON.parse(line));
			expect(samples.at(-1).broker.rssBytes).toBeGreaterThan(1e6);
			expect(left()).toEqual([]);
		});

		test("Kafka: a run to its verdict", { tags: "long" }, async () => {
			await haveImage("kafka");
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const ended = await begin([
				scenario(folder, {}, { ...DOCKER, system: "{ broker: kafka, durability: os }" }),
				"--out",
				out,
			]).ended;
			expect(ended.code, ended.err).toBe(0);
			expect(onlyRun(out)).toMatchObject({ acked: 500, received: 500, lost: 0 });
			expect(runFile(out)).toMatchObject({
				brokerBinary: "apache/kafka:4.1.1",
				topology: "1 container",
			});
			expect(left()).toEqual([]);
		});

		test("limits are the container's while it is measured, and a pause shows in the responses", {
			tags: "long",
		}, async () => {
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const mqbench = await measuring([
				scenario(
					folder,
					{ duration: "4s" },
					{
						...DOCKER,
						system: `{ broker: nats, mode: jetstream, cpus: 1, memory: 256MiB }`,
						faults: "[{ at: 2s, action: pause, for: 700ms }]",
					},
				),
				"--out",
				out,
			]);
			const [container = ""] = mine(mqbench, "ps -q");
			expect(inspect(container)).toMatchObject({
				HostConfig: { Memory: 256 * 1024 ** 2, NanoCpus: 1e9 },
			});
			const ended = await mqbench.ended;
			expect([0, 4], ended.err + ended.out).toContain(ended.code);
			const one = onlyRun(out);
			expect(one).toMatchObject({ acked: 2000, received: 2000, lost: 0 });
			expect(one.metrics.response?.max).toBeGreaterThan(0.65e9);
			expect(runFile(out).faults).toMatchObject([{ action: "pause", error: null }]);
		});

		test("two clients in containers make one load, and what one sends the other receives", {
			tags: "long",
		}, async () => {
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const mqbench = await measuring([
				scenario(
					folder,
					{ pattern: "work-queue", consumers: "2", connections: "2", duration: "3s" },
					{ ...DOCKER, system: JETSTREAM, clients: "{ docker: 2 }" },
				),
				"--out",
				out,
			]);
			expect(mine(mqbench, "ps -q")).toHaveLength(3);
			const ended = await mqbench.ended;
			expect([0, 4], ended.err + ended.out).toContain(ended.code);
			expect(onlyRun(out)).toMatchObject({
				intended: 1500,
				acked: 1500,
				received: 1500,
				lost: 0,
				duplicated: 0,
			});
			expect(runFile(out).clients).toMatchObject([
				{ name: "container 0", kind: "docker", k6Exit: 0, clock: null },
				{ name: "container 1", kind: "docker", k6Exit: 0, clock: null },
			]);
			expect(left()).toEqual([]);
		});

		test.each([
			["1", /^nats:\/\/\*{3}@127\.0\.0\.1:/, "1 container, through published ports"],
			["{ docker: 1 }", /^nats:\/\/\*{3}@198\.1[89]\./, "1 container"],
		])(
			"behind published ports, clients %s go to %s, and reports say: %s",
			{ tags: "long" },
			async (clients, url, topology) => {
				const folder = temporaryFolder();
				const out = path.join(folder, "out");
				const mqbench = start([scenario(folder, {}, { ...DOCKER, clients }), "--out", out], {
					env: { MQBENCH_DOCKER_REACH: "published" },
				});
				begun.add(mqbench.pid);
				const ended = await mqbench.ended;
				expect([0, 4], ended.err + ended.out).toContain(ended.code);
				expect(onlyRun(out)).toMatchObject({ received: 500, lost: 0 });
				expect(runFile(out).brokerUrl).toMatch(url);
				expect(runFile(out).topology).toBe(topology);
				expect(ended.out.replaceAll(/\s+/g, " ")).toContain(`; ${topology} `);
				expect(left()).toEqual([]);
			},
		);

		test.each([
			["Ctrl-C: what was measured is kept", "SIGINT", 130],
			["kill -9", "SIGKILL", null],
		] as const)("after %s nothing is left", { tags: "long" }, async (_, signal, code) => {
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const mqbench = await measuring([
				scenario(
					folder,
					{ duration: "40s", connections: "2" },
					{ ...DOCKER, system: JETSTREAM, clients: "{ docker: 2 }" },
				),
				"--out",
				out,
			]);
			expect(mine(mqbench, "ps -q")).toHaveLength(3);
			expect(mine(mqbench, "volume ls -q")).toHaveLength(1);
			expect(mine(mqbench, "network ls -q")).toHaveLength(1);
			const children = descendants(mqbench.pid).map(({ pid }) => pid);
			expect(children.length).toBeGreaterThan(3);
			mqbench.signal(signal);
			expect((await mqbench.ended).code).toBe(code);
			await until(() => left().length === 0, "nothing is left", 30_000);
			if (signal === "SIGINT") {
				expect(onlyRun(out).state).toBe("interrupted");
				expect(onlyRun(out).received).toBeGreaterThan(0);
			}
		});
	},
);

// --- internal ---

/** Processes whose traces are looked for. */
const begun = new Set<number>();

function begin(args: string[]): Mqbench {
	const mqbench = start(args);
	begun.add(mqbench.pid);
	return mqbench;
}

/** Starts a run, and returns when it measures. */
async function measuring(args: string[]): Promise<Mqbench> {
	const mqbench = begin(args);
	onTestFinished(() => until(() => left().length === 0, "nothing is left", 30_000));
	await mqbench.says(/ {2}1s\/\d+s/, 60_000);
	return mqbench;
}

function onlyRun(out: string): Run {
	const [one] = resultOf(out).runs;
	if (!one) throw new Error("there is no run");
	return one;
}

function runFile(out: string): RunFile {
	return JSON.parse(readFileSync(path.join(out, onlyRun(out).folder, "run.json"), "utf8"));
}

function docker(...args: string[]): string {
	return execFileSync("docker", args, { encoding: "utf8" });
}

function inspect(container: string): unknown {
	return JSON.parse(docker("inspect", container))[0];
}

/** Ids of a kind of thing that belongs to a command: "ps -q". */
function mine({ pid }: Pick<Mqbench, "pid">, what: string): string[] {
	return docker(...what.split(" "), "--filter", `label=${LABELS.owner}`)
		.split("\n")
		.filter(Boolean)
		.filter((id) => isOf(pid, id));
}

function isOf(pid: number, id: string): boolean {
	const { stdout } = spawnSync("docker", ["inspect", id], { encoding: "utf8" });
	return stdout.includes(`"${LABELS.owner}": "${pid}:`);
}

/** What the commands of these tests have left in the engine. */
function left(): string[] {
	return ["ps -aq", "volume ls -q", "network ls -q"].flatMap((what) =>
		[...begun].flatMap((pid) => mine({ pid }, what)),
	);
}
