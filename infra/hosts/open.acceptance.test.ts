import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { BrokerName } from "../../runner/brokers/index.ts";
import type { BrokerProcess, Described } from "../../runner/brokers/process.ts";
import { ResourceLine } from "../../runner/model/resource-file.ts";
import { RigFile } from "../../runner/scenario/rig-file.ts";
import type { World } from "../../runner/world.ts";
import { realBinaries, realWorld } from "../binaries/real.fake.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { type Host, type Hosts, hostsMissing, makeHosts } from "../clients/hosts.fake.ts";
import { dockerSystem } from "../docker/systems.fake.ts";
import { shellBroker } from "../nodes/shell.fake.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { testFolder } from "../test-folder.fake.ts";
import { type OnHosts, onHosts } from "./open.ts";

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
			world: Partial<World> & { options?: string; binaries?: Partial<Binaries> } = {},
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
				{ ...binaries, ...world.binaries },
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
				const [first, , third] = hosts.all as [Host, Host, Host];
				expect(
					await throughTwo(
						first.address,
						third.address,
						new URL(broker.url.split(",")[0] ?? "").username,
					),
				).toMatch(/MSG a 1 2\r\nhi/);
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

			test("does what faults do, with a line each in the log", async () => {
				const asked = request(CLUSTER);
				const mine = ours();
				const broker = await mine.open(entry("nats"), asked);
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
					await expect(broker.disturb({ action, node: 3, delayNs: null })).rejects.toThrow(
						"node 3 is down already",
					);
					await up();
					expect(host(2).run("pidof nats-server").trim()).not.toBe(was);
				}
				await expect(broker.disturb({ action: "kill", node: 4, delayNs: null })).rejects.toThrow(
					"there is no node 4",
				);
				await expect(
					broker.disturb({ action: "partition", node: 1, delayNs: null }),
				).rejects.toThrow(
					"partition is for target docker: mqbench has no network of its own between these hosts",
				);
				const notes = () =>
					readFileSync(asked.logPath, "utf8")
						.split("\n")
						.filter((line) => line.includes(" mqbench: "))
						.map((line) => line.replace(/ \S+ mqbench:/, ""));
				// The log is written a moment later.
				await expect.poll(() => notes().length).toBe(9);
				expect(notes()).toEqual([
					"[2] paused node 2 (SIGSTOP)",
					"[2] node 2 goes on (SIGCONT)",
					"[3] killed node 3 (SIGKILL)",
					"[3] started node 3 again",
					"[3] node 3 is ready again",
					"[3] asked node 3 to end (SIGTERM)",
					"[3] node 3 has ended",
					"[3] started node 3 again",
					"[3] node 3 is ready again",
				]);
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

			test("ends on all of them when mqbench is killed, and the next one tidies up", async () => {
				const mine = ours(undefined, { options: "-o ServerAliveCountMax=2" });
				const broker = await mine.open(entry("nats"), request(CLUSTER));
				expect(hosts.all.flatMap(running).length).toBeGreaterThanOrEqual(6);
				const died = broker.died;
				// The connections go with mqbench: agent sees to that, and here we do.
				for (const pid of hosts.masters()) process.kill(pid, "SIGKILL");
				expect(await died).toMatch(/^node \d of 3: the connection to h\d was lost$/);
				await nothingRuns();
				expect(folders().length).toBeGreaterThan(0);
				// Of an mqbench before the host was started anew: its process number is somebody's again.
				host(0).run(
					`mkdir -p ~/.cache/mqbench/runs/mqbench+h1+${space(host(0))}+00000000@1@abcdef`,
				);
				const next = await ours().open(entry("nats"), request(CLUSTER));
				await next.close();
				await broker.close();
				expect(folders()).toEqual([]);
			}, 180_000);
		});

		test("Kafka on one of them takes its jars and its Java", async () => {
			const asked = request({ broker: "kafka" }, { level: "memory" });
			const broker = await ours().open(entry("kafka", { count: 1 }), asked);
			expect(broker).toMatchObject({
				url: `kafka://${host(0).address}:9092`,
				version: expect.stringMatching(/^Kafka \d/),
				binary: "java",
				settings: { "log.dirs": "/dev/shm (in memory)" },
			});
			expect(broker.settings).not.toHaveProperty("store fdatasync");
			expect(broker.settings).not.toHaveProperty("store");
			expect(host(0).run("ls -d /dev/shm/mqbench+h1+*/data/meta.properties")).toMatch(
				/meta\.properties/,
			);
			await broker.close();
			await nothingRuns();
			expect(folders()).toEqual([]);
		}, 180_000);

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
				`mount -t tmpfs tmpfs /var/lib && mkdir -p /var/lib/mqbench/store && echo '{"governor":"performance",\n"disk":{"model":"Fast NVMe","fs":"xfs","disks":["nvme1n1","nvme2n1"]},"remarks":["it is slow"]}' >/var/lib/mqbench/facts.json`,
			);
			try {
				const mine = ours(shell("pwd; echo ready; sleep 60", { flushes: true }));
				const asked = small();
				const broker = await mine.open(one(), asked);
				expect(broker.settings.host).toMatch(
					/^linux \w+, .*, \d+ cores?, .*, governor performance, disk Fast NVMe \(xfs\), it is slow$/,
				);
				expect(broker.settings.store).toBe(
					"/var/lib/mqbench/store (tmpfs, RAID 0 of 2 disks: nvme1n1, nvme2n1)",
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
				expect(other.settings.host).toMatch(/, governor performance, it is slow$/);
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
					"a host twice",
					() =>
						at(
							[1, 2, 3].map((i) => ["h1", `10.0.0.${i}`]),
							three(),
						),
					/^mine: two of its nodes would be on one host \(h1, 10\.0\.0\.2\), and each needs one of its own\. /,
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
					"an address of another host",
					() => at([["h1", address(1)]]),
					/^h1: cannot run mine: it has no address (10\.[\d.]+), where its node has to listen \(it has (?!\1)10\.[\d.]+(, fe80::\S+)?\)\. Correct brokers\[\]\.hosts\[\]\.address in the rig's file\.$/,
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
				[
					"hosts of two kinds",
					async () => {
						host(1).run(
							"printf '#!/bin/sh\\ncase $1 in -s) echo Linux;; -m) echo aarch64;; -n) echo h2;; *) echo 6.1;; esac\\n' >~/fake && chmod +x ~/fake && mount --bind ~/fake $(readlink -f /bin/uname)",
						);
						try {
							return await ours(undefined, {
								// Nothing of them is run.
								binaries: { on: async () => binaries },
							}).open(entry("nats"), request(CLUSTER));
						} finally {
							host(1).run("umount $(readlink -f /bin/uname)");
						}
					},
					/^mine: its hosts are not alike: h1 is linux\/\w+, and h2 is linux\/arm64\. Name hosts of one kind\.$/,
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

/** What a subscriber at one server of NATS gets when somebody publishes at another one. */
async function throughTwo(one: string, other: string, token: string): Promise<string> {
	const client = async (address: string) => {
		const socket = connect({ host: address, port: 4222 });
		onTestFinished(() => void socket.destroy());
		let got = "";
		socket.setEncoding("utf8").on("data", (text) => {
			got += text;
		});
		const say = async (text: string) => {
			socket.write(`${text}\r\nPING\r\n`);
			const before = got.split("PONG").length;
			await expect.poll(() => got.split("PONG").length).toBeGreaterThan(before);
		};
		await say(`CONNECT {"verbose":false,"auth_token":"${token}"}`);
		return { say, got: () => got };
	};
	const subscriber = await client(one);
	await subscriber.say("SUB a 1");
	const publisher = await client(other);
	// The other server hears of the subscription a moment later.
	await expect
		.poll(async () => {
			await publisher.say("PUB a 2\r\nhi");
			return subscriber.got();
		})
		.toMatch(/MSG/);
	return subscriber.got();
}
