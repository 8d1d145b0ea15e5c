import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type Host,
	type Hosts,
	hostsMissing,
	makeHosts,
} from "../../../infra/clients/hosts.fake.ts";
import { resultOf, run, scenario, start, temporaryFolder } from "./mqbench.ts";

const missing = hostsMissing();

describe.skipIf(missing !== null)(
	`a rig whose brokers mqbench starts on hosts${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let hosts: Hosts;
		beforeAll(async () => {
			hosts = await makeHosts(4);
		});
		afterAll(() => {
			// Memory is this machine's, and nobody comes to these hosts again.
			for (const host of hosts?.all ?? [])
				host.run(
					'rm -rf "/dev/shm/mqbench+$(uname -n)+$(readlink /proc/self/ns/pid | tr -dc 0-9)+"*@*',
				);
			hosts?.close();
		});

		/** Three for the broker, and the last one makes the load, unless another one does. */
		function rig(folder: string, client = "h4"): string[] {
			const file = path.join(folder, "rig.json");
			writeFileSync(
				file,
				JSON.stringify({
					version: 1,
					id: "lab",
					brokers: [
						{
							system: "nats",
							broker: "nats",
							hosts: hosts.all
								.slice(0, 3)
								.map((host) => ({ host: host.name, address: host.address })),
						},
					],
					clients: [{ host: client }],
				}),
			);
			return ["--rig", file];
		}
		const SYSTEM = "{ broker: nats, mode: jetstream, nodes: 3, replicas: 3, durability: os }";
		const options = () => ({ env: { MQBENCH_SSH_OPTIONS: hosts.sshOptions } });

		const nothingRuns = () =>
			expect
				.poll(
					() => hosts.all.flatMap((host: Host) => host.processes().map(({ command }) => command)),
					{ timeout: 30_000, interval: 200 },
				)
				.toEqual([]);
		/** Folders of runs on all of them. */
		const folders = () =>
			hosts.all.flatMap(({ home }) =>
				["runs", "store"].flatMap((kind) => {
					const folder = path.join(home, ".cache", "mqbench", kind);
					return existsSync(folder) ? readdirSync(folder) : [];
				}),
			);

		test("is said to share a host with its load where it does, under whatever name, and with another mqbench", {
			tags: "long",
		}, async () => {
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const first = hosts.all[0] as Host;
			// As another mqbench's that lives: its process is the host's first one.
			const other = first
				.run(
					'd="$HOME/.cache/mqbench/runs/mqbench+$(uname -n)+$(readlink /proc/self/ns/pid | tr -dc 0-9)+$(cut -c1-8 </proc/sys/kernel/random/boot_id)@1@abcdef" && mkdir -p "$d" && echo "$d"',
				)
				.trim();
			try {
				const { code, err } = await run(
					[
						scenario(folder, {}, { system: "{ broker: nats, mode: core }" }),
						...rig(folder, first.address),
						"--out",
						out,
					],
					options(),
				);
				expect(`${code}\n${err}`).toMatch(/^0\n/);
				expect(err).toMatch(/^Another mqbench runs on h1, /m);
			} finally {
				first.run(`rm -r ${other}`);
			}
			const [one] = resultOf(out).runs;
			expect(one?.sameHost).toBe(true);
			expect(one?.notes).toContain(
				"another mqbench ran on h1: it took CPU, disk and network from nats",
			);
			expect(readFileSync(path.join(out, "report.md"), "utf8")).toContain(
				"Generator and broker shared one host",
			);
			await nothingRuns();
			expect(folders()).toEqual([]);
		});

		test.each(["SIGINT", "SIGKILL"] as const)(
			"has nothing running on it after a %s",
			{ tags: "long" },
			async (signal) => {
				const folder = temporaryFolder();
				const file = scenario(folder, { duration: "50s" }, { system: SYSTEM });
				const mqbench = start([file, ...rig(folder), "--out", path.join(folder, "out")], options());
				await mqbench.says(/ {2}2s\/50s/, 60_000);
				mqbench.signal(signal);
				const { code } = await mqbench.ended;
				expect(code).toBe(signal === "SIGINT" ? 130 : null);
				await nothingRuns();
				if (signal === "SIGINT") expect(folders()).toEqual([]);
			},
		);
	},
);
