import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { noEngine, skipWithoutEngine } from "../../../infra/docker/engine.fake.ts";
import { LABELS } from "../../../infra/docker/labels.ts";
import { haveImage } from "./images.ts";
import { measured, measuring, until, type Words } from "./mqbench.ts";

/** A limit that a busy machine cannot breach: these tests are about counts. */
const DOCKER = { target: "docker", sla: "[p50 < 5s, lost == 0]" };
const JETSTREAM = "{ broker: nats, mode: jetstream, durability: fsync }";

describe.skipIf(skipWithoutEngine)(
	`brokers and clients in containers${noEngine && ` (${noEngine})`}`,
	() => {
		beforeAll(async () => {
			expect(noEngine, "CI needs a Docker engine").toBe("");
			await haveImage("nats");
		});

		test("JetStream, each message on disk: a run to its verdict, that says what it ran on and leaves nothing", async () => {
			const system = JETSTREAM.replace("}", ", cpus: 1, memory: 256MiB }");
			const { pid, run, runFile, ofRun } = await measured({}, { ...DOCKER, system });
			expect(run).toMatchObject({ verdict: "pass", sent: 500, acked: 500, received: 500, lost: 0 });
			expect(runFile).toMatchObject({
				brokerBinary: "nats:2.15.2-alpine",
				brokerVersion: "nats-server 2.15.2",
				topology: "1 container, 1 CPU, 256MiB",
				sameHost: true,
				brokerSettings: {
					"jetstream.sync_interval": "always",
					"volume fdatasync": expect.stringMatching(/\(p50 of \d+\)/),
				},
				brokerUrl: expect.stringMatching(/^nats:\/\/\*{3}@198\.1[89]\./),
			});
			// Processes in containers are sampled as any of this machine.
			const samples = readFileSync(ofRun("resources.jsonl"), "utf8").trim().split("\n");
			expect(JSON.parse(samples.at(-1) ?? "").broker.rssBytes).toBeGreaterThan(1e6);
			expect(left(pid)).toEqual([]);
		});

		test("two clients in containers make one load, and what one sends the other receives", {
			tags: "long",
		}, async () => {
			const { pid, run, runFile } = await measured(
				{ pattern: "work-queue", consumers: "2", connections: "2", duration: "3s" },
				{ ...DOCKER, system: JETSTREAM, clients: "{ docker: 2 }" },
				// A busy machine lets the queue grow: these are counts.
				{ exit: [0, 4, 99] },
			);
			expect(run).toMatchObject({
				intended: 1500,
				acked: 1500,
				received: 1500,
				lost: 0,
				duplicated: 0,
			});
			expect(runFile.clients).toMatchObject([
				{ name: "container 0", kind: "docker", k6Exit: 0, clock: null },
				{ name: "container 1", kind: "docker", k6Exit: 0, clock: null },
			]);
			expect(left(pid)).toEqual([]);
		});

		test.each([
			["Ctrl-C: what was measured is kept", "SIGINT", 130],
			["kill -9", "SIGKILL", null],
		] as const)("after %s nothing is left", { tags: "long" }, async (_, signal, code) => {
			const top: Words = { ...DOCKER, system: JETSTREAM, clients: "{ docker: 2 }" };
			const load = { duration: "40s", connections: "2" };
			const made = await measuring(load, top, { ms: 60_000 });
			const { pid } = made.mqbench;
			onTestFinished(() => until(() => left(pid).length === 0, "nothing is left", 30_000));
			// Three containers, a volume and a network.
			expect(left(pid)).toHaveLength(5);
			expect(made.children.length).toBeGreaterThan(3);
			made.mqbench.signal(signal);
			expect((await made.mqbench.ended).code).toBe(code);
			await until(() => left(pid).length === 0, "nothing is left", 30_000);
			if (signal !== "SIGINT") return;
			expect(made.run.state).toBe("interrupted");
			expect(made.run.received).toBeGreaterThan(0);
		});
	},
);

// --- internal ---

/** Ids of what a command has in the engine. */
function left(pid: number): string[] {
	return ["ps -aq", "volume ls -q", "network ls -q"].flatMap((what) =>
		execFileSync("docker", [...what.split(" "), "--filter", `label=${LABELS.owner}`], {
			encoding: "utf8",
		})
			.split("\n")
			.filter(Boolean)
			.filter((id) => {
				// It may be gone meanwhile.
				const { stdout } = spawnSync("docker", ["inspect", id], { encoding: "utf8" });
				return stdout.includes(`"${LABELS.owner}": "${pid}:`);
			}),
	);
}
