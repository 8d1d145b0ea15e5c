import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import { resultOf, run, temporaryFolder } from "../e2e/mqbench.ts";

const missing = hostsMissing();

// As a rig of separate machines: broker and load on hosts of their own, both systems one after the other on the same one.
test.skipIf(missing !== null)(
	`Redis and RabbitMQ of a host's own packages are measured from another host at each durability, lose nothing and leave nothing${missing === null ? "" : ` (skipped: ${missing})`}`,
	async () => {
		const hosts = await makeHosts(2);
		onTestFinished(() => hosts.close());
		const [broker, client] = hosts.all;
		if (!broker || !client) throw new Error("two hosts");
		const folder = temporaryFolder();
		const at = [{ host: "h1", address: broker.address }];
		const levels = {
			redis: ["memory", "os", "interval", "fsync"],
			rabbitmq: ["memory", "os", "fsync"],
		} as const;
		const systems = Object.entries(levels).flatMap(([kind, all]) =>
			all.map((level) => ({ kind, level, key: `${kind}-${level}` })),
		);
		writeFileSync(
			path.join(folder, "rig.json"),
			JSON.stringify({
				version: 1,
				id: "mine",
				target: "existing",
				brokers: systems.map(({ kind, key }) => ({ system: key, broker: kind, hosts: at })),
				clients: [{ host: "h2" }],
			}),
		);
		const file = path.join(folder, "scenario.yaml");
		writeFileSync(
			file,
			`name: hosts
systems:
${systems.map(({ kind, level, key }) => `  ${key}: { broker: ${kind}, durability: ${level}${kind === "redis" ? ", mode: streams" : ""} }`).join("\n")}
workload: { pattern: round-trip, rate: 500/s, message: 256B, warmup: 1s, duration: 3s }
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
		expect(runs.map(({ system }) => system)).toEqual(systems.map(({ key }) => key));
		for (const one of runs) {
			expect([one.system, one.received, one.lost]).toEqual([one.system, 1500, 0]);
			expect(one.brokerVersion).toMatch(/^(redis|rabbitmq)-server \d+\.\d+/);
			const { appendfsync, appendonly } = one.brokerSettings;
			if (one.system === "redis-fsync") expect(appendfsync).toBe("always");
			if (one.system === "redis-memory") expect(appendonly).toBe("no");
		}
		// The brokers' own logs came from there.
		for (const run of readdirSync(path.join(out, "runs")))
			expect(readFileSync(path.join(out, "runs", run, "broker.log"), "utf8")).toMatch(
				/Ready to accept connections|Server startup complete/,
			);
		await expect
			.poll(() => hosts.all.flatMap((host) => host.processes()), { timeout: 15_000 })
			.toEqual([]);
		for (const host of hosts.all) expect(host.run("ls -A ~/.cache/mqbench/runs")).toBe("");
	},
);
