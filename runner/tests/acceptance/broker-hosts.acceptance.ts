import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Hosts, hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import { measured, measuring, temporaryFolder, type Words } from "../e2e/mqbench.ts";

const missing = hostsMissing();

describe.skipIf(missing !== null)(
	`brokers that mqbench starts on hosts${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let hosts: Hosts;
		beforeAll(async () => {
			hosts = await makeHosts(4);
		});
		afterAll(() => {
			// Memory is this machine's, and these hosts are not used again.
			for (const host of hosts?.all ?? [])
				host.run(
					'rm -rf "/dev/shm/mqbench+$(uname -n)+$(readlink /proc/self/ns/pid | tr -dc 0-9)+"*@*',
				);
			hosts?.close();
		});

		/** A rig of separate machines: all systems take turns on the same first hosts, and the load comes from the last one. */
		function rig(brokers: readonly { system: string; broker: string }[], count: number) {
			const folder = temporaryFolder();
			const on = hosts.all.slice(0, count).map(({ name, address }) => ({ host: name, address }));
			const all = brokers.map((one) => ({ ...one, hosts: on }));
			const clients = [{ host: "h4" }];
			const file = path.join(folder, "rig.json");
			writeFileSync(file, JSON.stringify({ version: 1, id: "lab", brokers: all, clients }));
			return {
				folder,
				args: ["--rig", file],
				env: { MQBENCH_SSH_OPTIONS: hosts.sshOptions },
				// If other programs use the machine, the runs do not count, but are still measured.
				exit: [0, 4, 6],
			};
		}

		const nothingRuns = () =>
			expect
				.poll(() => hosts.all.flatMap((host) => host.processes().map(({ command }) => command)), {
					timeout: 30_000,
					interval: 200,
				})
				.toEqual([]);
		/** With runs and data, on all hosts. */
		const folders = () =>
			hosts.all.flatMap((host) =>
				host
					.run("ls ~/.cache/mqbench/runs ~/.cache/mqbench/store 2>/dev/null || true")
					.split("\n")
					.filter((line) => line !== "" && !line.endsWith(":")),
			);

		test("NATS and Kafka of three nodes each are measured on the same three, come back after a kill of their leader, and leave nothing", async () => {
			const { result } = await measured(
				// Kafka's node was not back after half a minute, at a load of 15 on 2 cores.
				{ rate: "100/s", warmup: "5s", duration: "80s" },
				{
					system: "",
					systems:
						"{ nats: { broker: nats, mode: jetstream, nodes: 3, replicas: 3, durability: os }, kafka: { broker: kafka, nodes: 3, replicas: 3, durability: os } }",
					faults: "[{ action: kill, node: leader, at: 5s, for: 2s }]",
				},
				rig(
					["nats", "kafka"].map((broker) => ({ system: broker, broker })),
					3,
				),
			);
			expect(result.runs.map(({ system }) => system)).toEqual(["nats", "kafka"]);
			for (const one of result.runs) {
				expect(one).toMatchObject({
					sameHost: false,
					topology: "3 nodes on 3 hosts",
					failover: [
						{
							action: "kill",
							leader: true,
							error: null,
							node: expect.any(Number),
							endedNs: expect.any(Number),
						},
					],
				});
				// The resources used by the broker's hosts, second by second.
				const used = one.series.resources.filter(({ broker }) => (broker?.cores ?? 0) > 0);
				expect(used.length).toBeGreaterThan(10);
				for (const { broker } of used) expect(broker?.rssBytes).toBeGreaterThan(3 * 5e6);
			}
			await nothingRuns();
			expect(folders()).toEqual([]);
		}, 500_000);

		// A forwarder connects to the subscriptions, which are on another machine.
		test("forwarders of ZeroMQ and of nanomsg hand everything on between clients of another host, and leave nothing", async () => {
			const systems = ["zeromq", "nanomsg"];
			const { result } = await measured(
				{ rate: "200/s", warmup: "1s", duration: "3s" },
				{ system: "", systems: map(systems, (broker) => `{ broker: ${broker}, forwarder: true }`) },
				rig(
					systems.map((broker) => ({ system: broker, broker })),
					1,
				),
			);
			expect(result.runs).toMatchObject(
				systems.map((system) => ({ system, sameHost: false, received: 600, lost: 0, errors: [] })),
			);
			await nothingRuns();
		});

		test("Redis and RabbitMQ of a host's own packages are measured at each durability, lose nothing and leave nothing", async () => {
			const kinds: Words = { redis: "memory os interval fsync", rabbitmq: "memory os fsync" };
			const systems = Object.entries(kinds).flatMap(([broker, levels]) =>
				levels.split(" ").map((level) => ({ broker, level, system: `${broker}-${level}` })),
			);
			const made = await measured(
				{ warmup: "1s", duration: "3s" },
				{
					system: "",
					systems: map(
						systems.map(({ system }) => system),
						(_, i) =>
							`{ broker: ${systems[i]?.broker}, durability: ${systems[i]?.level}${systems[i]?.broker === "redis" ? ", mode: streams" : ""} }`,
					),
				},
				rig(
					systems.map(({ system, broker }) => ({ system, broker })),
					1,
				),
			);
			const { runs } = made.result;
			expect(runs.map(({ system }) => system)).toEqual(systems.map(({ system }) => system));
			for (const one of runs) {
				expect([one.system, one.received, one.lost]).toEqual([one.system, 1500, 0]);
				expect(one.brokerVersion).toMatch(/^(redis|rabbitmq)-server \d+\.\d+/);
				const { appendfsync, appendonly } = one.brokerSettings;
				if (one.system === "redis-fsync") expect(appendfsync).toBe("always");
				if (one.system === "redis-memory") expect(appendonly).toBe("no");
			}
			// The brokers' own logs came from there.
			const all = path.join(made.results, "runs");
			for (const run of readdirSync(all))
				expect(readFileSync(path.join(all, run, "broker.log"), "utf8")).toMatch(
					/Ready to accept connections|Server startup complete/,
				);
			await nothingRuns();
			expect(folders()).toEqual([]);
		});

		test.each(["SIGINT", "SIGKILL"] as const)("nothing runs there after a %s", async (signal) => {
			const { mqbench } = await measuring(
				{ duration: "50s" },
				{ system: "{ broker: nats, mode: jetstream, nodes: 3, replicas: 3, durability: os }" },
				{ ...rig([{ system: "nats", broker: "nats" }], 3), at: 2, ms: 60_000 },
			);
			mqbench.signal(signal);
			const { code } = await mqbench.ended;
			expect(code).toBe(signal === "SIGINT" ? 130 : null);
			await nothingRuns();
			if (signal === "SIGINT") expect(folders()).toEqual([]);
		});
	},
);

// --- internal ---

/** A YAML map. */
function map(keys: readonly string[], value: (key: string, index: number) => string): string {
	return `{ ${keys.map((key, i) => `${key}: ${value(key, i)}`).join(", ")} }`;
}
