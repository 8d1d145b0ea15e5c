import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import { resultOf, run, temporaryFolder } from "../e2e/mqbench.ts";

const missing = hostsMissing();

// As a rig of separate machines: both take turns on the same three, and the load comes from a fourth.
test.skipIf(missing !== null)(
	`NATS and Kafka of three nodes each are measured on the same three hosts, come back after a kill of their leader, and leave nothing${missing === null ? "" : ` (skipped: ${missing})`}`,
	async () => {
		const hosts = await makeHosts(4);
		onTestFinished(() => hosts.close());
		const folder = temporaryFolder();
		const three = hosts.all.slice(0, 3).map(({ name, address }) => ({ host: name, address }));
		writeFileSync(
			path.join(folder, "rig.json"),
			JSON.stringify({
				version: 1,
				id: "lab",
				brokers: ["nats", "kafka"].map((broker) => ({ system: broker, broker, hosts: three })),
				clients: [{ host: "h4" }],
			}),
		);
		const file = path.join(folder, "scenario.yaml");
		writeFileSync(
			file,
			`name: hosts
systems:
  nats: { broker: nats, mode: jetstream, nodes: 3, replicas: 3, durability: os }
  kafka: { broker: kafka, nodes: 3, replicas: 3, durability: os }
workload: { pattern: round-trip, rate: 100/s, message: 256B, warmup: 5s, duration: 40s }
faults: [{ action: kill, node: leader, at: 5s, for: 2s }]
sla: [p50 < 10s, lost == 0]
`,
		);
		const out = path.join(folder, "out");
		const ended = await run([file, "--rig", path.join(folder, "rig.json"), "--out", out], {
			env: { MQBENCH_SSH_OPTIONS: hosts.sshOptions },
		});
		// Others may have the machine: then the runs do not count, and are measured all the same.
		expect(`${ended.code}\n${ended.err}`).toMatch(/^[046]\n/);
		const { runs } = resultOf(out);
		expect(runs.map(({ system }) => system)).toEqual(["nats", "kafka"]);
		for (const one of runs) {
			expect(one).toMatchObject({ sameHost: false, topology: "3 nodes on 3 hosts" });
			// What the broker's hosts have used, second by second.
			const used = one.series.resources.filter(({ broker }) => (broker?.cores ?? 0) > 0);
			expect(used.length).toBeGreaterThan(10);
			for (const { broker } of used) expect(broker?.rssBytes).toBeGreaterThan(3 * 5e6);
			const [kill] = one.failover;
			expect(kill).toMatchObject({
				action: "kill",
				leader: true,
				error: null,
				node: expect.any(Number),
				endedNs: expect.any(Number),
			});
		}
		for (const { home } of hosts.all) {
			const cache = path.join(home, ".cache", "mqbench");
			expect(readdirSync(path.join(cache, "runs"))).toEqual([]);
		}
		for (const { home } of hosts.all.slice(0, 3))
			expect(readdirSync(path.join(home, ".cache/mqbench/store"))).toEqual([]);
		await expect
			.poll(() => hosts.all.flatMap((host) => host.processes().map(({ command }) => command)), {
				timeout: 30_000,
			})
			.toEqual([]);
	},
	400_000,
);

// It connects to the subscriptions, which are on another machine.
test.skipIf(missing !== null)(
	`a forwarder of ZeroMQ and of nanomsg hands everything on between clients of another host, and leaves nothing${missing === null ? "" : ` (skipped: ${missing})`}`,
	async () => {
		const hosts = await makeHosts(2);
		onTestFinished(() => hosts.close());
		const [broker] = hosts.all;
		if (!broker) throw new Error("two hosts");
		const folder = temporaryFolder();
		const systems = ["zeromq", "nanomsg"];
		writeFileSync(
			path.join(folder, "rig.json"),
			JSON.stringify({
				version: 1,
				id: "lab",
				brokers: systems.map((system) => ({
					system,
					broker: system,
					hosts: [{ host: "h1", address: broker.address }],
				})),
				clients: [{ host: "h2" }],
			}),
		);
		const file = path.join(folder, "scenario.yaml");
		writeFileSync(
			file,
			`name: hosts
systems:
${systems.map((broker) => `  ${broker}: { broker: ${broker}, forwarder: true }`).join("\n")}
workload: { pattern: round-trip, rate: 200/s, message: 256B, warmup: 1s, duration: 3s }
sla: [p50 < 10s, lost == 0]
`,
		);
		const out = path.join(folder, "out");
		const ended = await run([file, "--rig", path.join(folder, "rig.json"), "--out", out], {
			env: { MQBENCH_SSH_OPTIONS: hosts.sshOptions },
		});
		// Others may have the machine: then the runs do not count, and are measured all the same.
		expect(`${ended.code}\n${ended.err}`).toMatch(/^[046]\n/);
		expect(resultOf(out).runs).toMatchObject(
			systems.map((system) => ({ system, sameHost: false, received: 600, lost: 0, errors: [] })),
		);
		await expect
			.poll(() => hosts.all.flatMap((host) => host.processes()), { timeout: 15_000 })
			.toEqual([]);
	},
);
