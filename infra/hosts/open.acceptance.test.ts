import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { BrokerName } from "../../runner/brokers/index.ts";
import type { BrokerProcess, Described } from "../../runner/brokers/process.ts";
import { ResourceLine } from "../../runner/model/resource-file.ts";
import { RigFile } from "../../runner/scenario/rig-file.ts";
import type { World } from "../../runner/world.ts";
import { type Host, type Hosts, hostsMissing, makeHosts } from "../clients/hosts.fake.ts";
import { dockerSystem } from "../docker/systems.fake.ts";
import type { OnHosts } from "../existing/existing.ts";
import { shellBroker } from "../nodes/shell.fake.ts";
import { realBinaries, realWorld } from "../programs/real.fake.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { testFolder } from "../test-folder.fake.ts";
import { onHosts } from "./open.ts";

const binaries = await realBinaries();
const missing = hostsMissing();

describe.skipIf(missing !== null)(
	`brokers on hosts that ssh reaches${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let hosts: Hosts;
		beforeAll(async () => {
			hosts = await makeHosts(3);
		}, 180_000);
		afterAll(() => hosts?.close());

		const host = (i: number) => hosts.all[i] as Host;

		/** An entry of rig.json with so many of the hosts. */
		function entry(
			broker: BrokerName,
			parts: {
				hosts?: readonly { host: string; address: string; setUp?: boolean }[];
				count?: number;
				machine?: string;
			} = {},
		): RigFile["brokers"][number] {
			const { brokers } = RigFile.parse({
				version: 1,
				id: "lab",
				brokers: [
					{
						system: "mine",
						broker,
						hosts:
							parts.hosts ??
							hosts.all
								.slice(0, parts.count ?? 3)
								.map((one) => ({ host: one.name, address: one.address })),
						machine: parts.machine ?? null,
					},
				],
			});
			return brokers[0] as RigFile["brokers"][number];
		}

		/** Brokers of this test; all of them are gone when it is over. */
		function ours(
			kinds?: Readonly<Record<string, BrokerProcess>>,
			world: Partial<World> & { options?: string } = {},
		): OnHosts & { said: string } {
			const made = onHosts(
				{
					...realWorld,
					stderr: {
						isTTY: false,
						columns: 80,
						write: (text) => {
							all.said += text;
						},
					},
					...world,
					env: {
						...process.env,
						MQBENCH_SSH_OPTIONS: `${world.options ?? ""} ${hosts.sshOptions}`,
					},
				},
				binaries,
				kinds,
			);
			const all = { ...made, said: "" };
			onTestFinished(() => made.close());
			return all;
		}

		function request(
			written: Parameters<typeof dockerSystem>[0],
			parts: Partial<BrokerRequest> = {},
		): BrokerRequest & { folder: string } {
			const folder = testFolder();
			return {
				system: dockerSystem(written),
				level: null,
				messageBytes: 256,
				cpus: null,
				logPath: path.join(folder, "broker.log"),
				folder,
				...parts,
			};
		}

		/** What runs on a host, beside connections. */
		const running = (one: Host) =>
			one
				.processes()
				.filter(({ name }) => !["sshd", "cat"].includes(name))
				.map(({ command }) => command);
		const nothingRuns = () =>
			expect.poll(() => hosts.all.flatMap(running), { timeout: 20_000, interval: 200 }).toEqual([]);
		/** Folders of runs on all hosts; homes are their own, memory is this machine's. */
		const folders = () => [
			...hosts.all.flatMap(({ home }) =>
				["runs", "store"].flatMap((kind) => {
					const folder = path.join(home, ".cache", "mqbench", kind);
					return existsSync(folder) ? readdirSync(folder) : [];
				}),
			),
			...readdirSync("/dev/shm").filter((name) =>
				hosts.all.some((one) => name.startsWith(`mqbench+${one.name}+${space(one)}+`)),
			),
		];
		const spaces = new Map<Host, string>();
		const space = (one: Host) => {
			const known = spaces.get(one) ?? one.run("readlink /proc/self/ns/pid").replace(/\D/g, "");
			spaces.set(one, known);
			return known;
		};

		const NATS = { broker: "nats", mode: "jetstream" } as const;
		const CLUSTER = { ...NATS, nodes: 3, replicas: 3 };

		describe("NATS on three of them", () => {
			test("is one cluster, at the hosts' addresses alone, and nothing is left of it", async () => {
				const asked = request(CLUSTER, { level: "fsync" });
				const broker = await ours().open(entry("nats", { machine: "i4i.xlarge" }), asked);
				expect(broker.url.replaceAll(/\w+@/g, "***@")).toBe(
					hosts.all.map(({ address }) => `nats://***@${address}:4222`).join(","),
				);
				expect(broker).toMatchObject({
					version: expect.stringMatching(/^nats-server \d/),
					binary: "nats-server",
					// A name for each, and none is this machine's.
					identities: hosts.all.map((one) =>
						expect.stringMatching(new RegExp(`^[0-9a-f-]{36} pid:\\[${space(one)}\\]$`)),
					),
					notes: [],
					pids: [],
					topology: "3 nodes on 3 hosts (i4i.xlarge)",
					nodesShareHost: false,
					settings: {
						"jetstream.sync_interval": "always",
						host: expect.stringMatching(/^linux \w+, .*, \d+ cores?, .*[KMG]i?B$/),
						store: expect.stringMatching(/^~\/\.cache\/mqbench\/store \([\w/]+\)$/),
						"store fdatasync": expect.stringMatching(
							/^\S+ \(p50 of \d+\).*, the slowest of 3 hosts$/,
						),
					},
				});
				expect(broker.nodeOf("mqbench-2")).toBe(2);
				expect(broker.nodeOf("other")).toBeNull();
				const first = host(0);
				// Nobody else's network, and nobody else's eyes.
				const listening = first.run("ss -ltnH | grep -v :22");
				for (const line of listening.trim().split("\n"))
					expect(line).toMatch(new RegExp(` ${first.address}:(4222|6222|8222) `));
				expect(first.run("stat -c %a ~/.cache/mqbench/store/*/nats.conf").trim()).toBe("600");
				await broker.close();
				await nothingRuns();
				expect(folders()).toEqual([]);
				// What the hosts have used came here.
				for (const node of [1, 2, 3]) {
					const lines = readFileSync(
						path.join(asked.folder, `resources-broker-${node}.jsonl`),
						"utf8",
					)
						.trim()
						.split("\n")
						.map((line) => ResourceLine.parse(JSON.parse(line)));
					expect(lines.length).toBeGreaterThanOrEqual(2);
					expect(lines[0]?.generator).toBeNull();
					expect(lines.at(-1)?.broker?.cpuNs).toBeGreaterThan(0);
				}
			}, 180_000);

			test("does what faults do, and the next run has the same connections", async () => {
				const mine = ours();
				const broker = await mine.open(entry("nats"), request(CLUSTER));
				const state = (i: number) =>
					host(i)
						.run("for p in $(pidof nats-server); do sed -n 's/^State:.//p' /proc/$p/status; done")
						.trim();
				const back = await broker.disturb({ action: "pause", node: 2, delayNs: null });
				expect(state(1)).toMatch(/^T/);
				expect(state(0)).not.toMatch(/^T/);
				await back();
				expect(state(1)).not.toMatch(/^T/);
				for (const action of ["kill", "restart"] as const) {
					const was = host(2).run("pidof nats-server").trim();
					const up = await broker.disturb({ action, node: 3, delayNs: null });
					expect(running(host(2))).toEqual([]);
					await up();
					expect(host(2).run("pidof nats-server").trim()).not.toBe(was);
				}
				// Nobody's doing but its own.
				const died = broker.died;
				host(0).run("kill -9 $(pidof nats-server)");
				expect(await died).toBe("node 1 of 3 on h1 ended by itself (SIGKILL)");
				// The next run has the same connection, and a fresh broker.
				const connections = () =>
					host(0)
						.processes()
						.filter(({ command }) => /^sshd: .*root/.test(command)).length;
				await broker.close();
				const before = connections();
				const again = await mine.open(entry("nats"), request(NATS));
				expect(again.topology).toBe("1 node on 1 host");
				expect(again.settings["store fdatasync"]).not.toMatch(/slowest/);
				expect(running(host(1))).toEqual([]);
				expect(connections()).toBe(before);
				await again.close();
				expect(mine.said).toBe("");
			}, 180_000);
		});

		/** A broker whose node is a piece of shell; `bring` is what it needs there. */
		const shell = (
			body: string,
			parts: Partial<Described> = {},
			bring: Readonly<Record<string, string>> = {},
		): Record<string, BrokerProcess> => {
			const nats = shellBroker([body], { startMs: 15_000, ...parts });
			return {
				nats: {
					...nats,
					describe(setup) {
						for (const [name, from] of Object.entries(bring)) setup.nodes[0]?.bring(name, from);
						return nats.describe(setup);
					},
				},
			};
		};

		const one = () => entry("nats", { count: 1 });
		const small = (parts: Partial<BrokerRequest> = {}) => request(NATS, parts);

		describe("a broker that does not come up is one sentence, and leaves nothing", () => {
			const cases: [string, Record<string, BrokerProcess>, RegExp][] = [
				[
					"it ends",
					shell("echo no room >&2; exit 3"),
					/^mine: the broker did not start: exit code 3, last words: no room\. Its log: \S+broker\.log$/,
				],
				[
					"its program is not there",
					shell("", { nodes: [{ before: [], argv: ["no-such-broker"], files: {} }] }),
					/: exit code 127, last words: agent: start no-such-broker: .*not found/,
				],
			];
			test("whatever is the matter", async () => {
				// One connection for all of them.
				const kinds: Record<string, BrokerProcess> = {};
				const mine = ours(kinds);
				for (const [what, kind, sentence] of cases) {
					Object.assign(kinds, kind);
					await expect(mine.open(one(), small()), what).rejects.toThrow(sentence);
					await nothingRuns();
					expect(folders(), what).toEqual([]);
				}
			}, 180_000);
		});

		test("a connection that is lost is told as that", async () => {
			const { died } = await ours(shell("echo ready; sleep 60")).open(one(), small());
			for (const pid of hosts.masters()) process.kill(pid, "SIGKILL");
			expect(await died).toBe("the broker: the connection to h1 was lost");
			await nothingRuns();
			// The next one tidies up.
			await (await ours(shell("echo ready; sleep 60")).open(one(), small())).close();
			expect(folders()).toEqual([]);
		}, 180_000);

		test("Ctrl-C while it comes up leaves nothing", async () => {
			const stop = new AbortController();
			const opening = ours(shell("echo up; sleep 60"), { stop: stop.signal }).open(one(), small());
			const refused = expect(opening).rejects.toMatchObject({ code: "interrupted" });
			await expect.poll(() => running(host(0)).join(), { timeout: 20_000 }).toMatch(/sleep 60/);
			stop.abort("SIGINT");
			await refused;
			await nothingRuns();
			expect(folders()).toEqual([]);
		}, 180_000);

		test("a copy that takes long says how far it is, and with a Ctrl-C leaves nothing", async () => {
			const stop = new AbortController();
			const big = path.join(testFolder(), "big");
			writeFileSync(big, Buffer.alloc(20e6));
			const tar = host(0).run("readlink -f $(command -v tar)").trim();
			writeFileSync(
				path.join(host(0).home, "slow"),
				'#!/bin/sh\nsleep 2.5\nexec /root/tar "$@"\n',
				{ mode: 0o755 },
			);
			host(0).run(`cp ${tar} ~/tar && mount --bind ~/slow ${tar}`);
			const bin = () => host(0).run("ls ~/.cache/mqbench/bin");
			try {
				const mine = ours(shell("", {}, { big }), { stop: stop.signal });
				const refused = expect(mine.open(one(), small())).rejects.toMatchObject({
					code: "interrupted",
				});
				const said = () => /^ {2}h1: copying big, (\d+) of 20 MB$/m.exec(mine.said)?.[1];
				await expect.poll(said, { timeout: 20_000, interval: 20 }).toBeDefined();
				expect(Number(said())).toBeLessThan(20);
				expect(bin()).toMatch(/\.part/);
				stop.abort("SIGINT");
				await refused;
				await nothingRuns();
			} finally {
				host(0).run(`umount -l ${tar}`);
			}
			expect(folders()).toEqual([]);
			expect(bin()).not.toMatch(/\.part/);
		}, 180_000);

		test("a host that mqbench has set up has its store on the disk that was prepared, and says what it is", async () => {
			host(0).run(
				`mount -t tmpfs tmpfs /var/lib && mkdir -p /var/lib/mqbench/store && echo '{"disk":{"model":"Fast NVMe",\n"disks":["nvme1n1","nvme2n1"]},"remarks":["it is slow"]}' >/var/lib/mqbench/facts.json`,
			);
			try {
				const mine = ours(shell("pwd; echo ready; sleep 60", { flushes: true }));
				const asked = small();
				const broker = await mine.open(one(), asked);
				expect(broker.settings.host).toMatch(/^linux \w+, .*, \d+ cores?, .*, it is slow$/);
				expect(broker.settings.store).toBe(
					"/var/lib/mqbench/store (tmpfs, Fast NVMe, RAID 0 of 2 disks: nvme1n1, nvme2n1)",
				);
				await expect
					.poll(() => readFileSync(asked.logPath, "utf8"))
					.toMatch(/^\/var\/lib\/mqbench\/store\/mqbench\+h1\+\d+\+[0-9a-f]{8}@/);
				// It is memory here, which no disk is.
				expect(mine.said).toMatch(
					/^The disk of h1 says after \S+ that it has flushed, which is too fast for a disk: .*\n$/,
				);
				await broker.close();
				expect(host(0).run("ls /var/lib/mqbench/store")).toBe("");
				// It is somebody else's: then another disk is measured, and is named, or none where it was prepared for this.
				host(0).run("chown nobody /var/lib/mqbench/store && echo ready >/var/lib/mqbench/state");
				const other = await ours(shell("pwd; echo ready; sleep 60", { flushes: true })).open(
					one(),
					small(),
				);
				expect(other.settings.store).toMatch(/^~\/\.cache\/mqbench\/store \(/);
				expect(host(0).run("ls ~/.cache/mqbench/store")).not.toBe("");
				await other.close();
				await expect(
					ours().open(
						entry("nats", { hosts: [{ host: "h1", address: host(0).address, setUp: true }] }),
						small(),
					),
				).rejects.toThrow(
					"h1: cannot run mine: mqbench's set-up has prepared it, and /var/lib/mqbench/store, the disk that is measured, does not belong to its user. Name the user who owns it (ls -ld /var/lib/mqbench/store), or give it to this one (sudo chown).",
				);
			} finally {
				host(0).run("umount -l /var/lib");
			}
			expect(folders()).toEqual([]);
		}, 180_000);

		test("another mqbench on the host is told to both, and in their reports", async () => {
			const kinds = shell("echo ready; sleep 60");
			const [mine, theirs] = [ours(kinds), ours(kinds)];
			const first = await mine.open(one(), small());
			expect(first.notes).toEqual([]);
			const second = await theirs.open(one(), small());
			const note = "another mqbench ran on h1: it took CPU, disk and network from mine";
			const said =
				"Another mqbench runs on h1, which runs mine: the figures of each include the load of the other.\n";
			expect(second.notes).toEqual([note]);
			expect(theirs.said).toBe(said);
			await first.close();
			expect(first.notes).toEqual([note]);
			expect(mine.said).toBe(said);
			await second.close();
			expect(second.notes).toEqual([note]);
			expect(folders()).toEqual([]);
		}, 180_000);

		test("what cannot be removed is told", async () => {
			const mine = ours(shell("echo ready; sleep 60"));
			const broker = await mine.open(one(), small());
			const there = host(0).run("echo ~/.cache/mqbench/store/*").trim();
			host(0).run(`mkdir ${there}/x && mount -t tmpfs tmpfs ${there}/x`);
			await broker.close();
			expect(mine.said).toMatch(
				/^ {2}h1: files of this run stay there \(\S+, \S+\) until the next mqbench uses the host \(.*busy.*\)\n$/,
			);
			host(0).run(`umount ${there}/x && rm -r ${there}`);
			expect(folders()).toEqual([]);
		}, 180_000);

		test("CPUs are those that the host has", async () => {
			const mine = ours(shell("echo ready; taskset -p $$; sleep 60"));
			const asked = small({ cpus: "0" });
			const broker = await mine.open(one(), asked);
			await expect.poll(() => readFileSync(asked.logPath, "utf8")).toMatch(/affinity mask: 1$/m);
			await broker.close();
			await expect(mine.open(one(), small({ cpus: "0,999" }))).rejects.toThrow(
				/^pin: 0,999 cannot be had: h1 has the CPUs \S+, and 999 is not among them\. /,
			);
		}, 180_000);

		describe("what is in the way is one sentence", () => {
			const at = (places: readonly [host: string, address: string][], asked = small()) =>
				ours().open(
					entry("nats", { hosts: places.map(([host, address]) => ({ host, address })) }),
					asked,
				);
			const three = () => request(CLUSTER);
			const address = (i: number) => host(i).address;
			test.each<[string, () => Promise<Broker>, RegExp]>([
				[
					"no such host",
					() => at([["nowhere.invalid", "10.0.0.1"]]),
					/^nowhere\.invalid \(host of mine\): ssh finds no host of that name\. Correct brokers\[\]\.hosts of the rig's file, or the name in ssh's configuration$/,
				],
				[
					"one host under two names",
					() =>
						at(
							["h1", "h2", address(0)].map((name, i) => [name, address(i)]),
							three(),
						),
					/^mine: two of its nodes would be on one host, which is reached as h1 and as 10\.\S+, and each needs one of its own\. /,
				],
				[
					"a port that is taken",
					// Its own sshd listens there.
					() => {
						const ports: BrokerProcess["ports"] = () => [{ number: 22, from: "clients" }];
						return ours({ nats: { ...shellBroker(["echo ready"]), ports } }).open(one(), small());
					},
					/^mine: port 22 is taken on h1\. /,
				],
				[
					"too few hosts",
					() => ours().open(entry("nats", { count: 2 }), request(CLUSTER)),
					/^mine: 3 nodes need as many hosts, and the rig has 2\. /,
				],
				[
					"a fault that cannot be done",
					() => ours().open(one(), small({ faults: ["kill", "latency"] })),
					/^mine: the fault latency cannot be made here: mqbench has no network of its own between these hosts\. /,
				],
			])(
				"%s",
				async (_, open, sentence) => {
					await expect(open()).rejects.toThrow(sentence);
					await nothingRuns();
					expect(folders()).toEqual([]);
				},
				30_000,
			);
		});
	},
);
