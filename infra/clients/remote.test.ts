import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { formatBytes } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { connectOwner, cutTest, machineTest } from "../machines/machinetest.fake.ts";
import { ownIdentity } from "../platform.ts";
import { commandLines } from "../processes.fake.ts";
import { realBinaries, realWorld } from "../programs/real.fake.ts";
import type { Binaries } from "../programs/resolve.ts";
import { makeHostKey } from "../rent/rigs.ts";
import type { Client, ClientProcess, Workspace } from "../rig.ts";
import { type SshHost, sshHost } from "../ssh/host.ts";
import { overSsh } from "../ssh/set-up.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { type Host, type Hosts, hostsMissing, makeHosts, SOON } from "./hosts.fake.ts";
import { remoteClient } from "./remote.ts";

const real = await realBinaries();
const { agent } = real;
const missing = hostsMissing();
const SECRET = "s3cr3t-of-the-test";

describe.skipIf(missing !== null)(
	`clients over SSH${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let hosts: Hosts;
		let h1: Host;
		beforeAll(async () => {
			hosts = await makeHosts(1);
			h1 = hosts.all[0] as Host;
		}, 180_000);
		afterAll(() => hosts?.close());

		const world = (options = ""): World => ({
			...realWorld,
			env: { ...process.env, MQBENCH_SSH_OPTIONS: `${options} ${hosts.sshOptions}` },
		});

		/** A client whose k6 is a piece of shell, on every platform. */
		function client(
			body: string,
			parts: {
				to?: string;
				host?: Partial<SshHost>;
				on?: Binaries["on"];
				options?: string;
				world?: Partial<World>;
				say?: (line: string) => void;
			} = {},
		): Client {
			const k6 = script(path.join(testFolder(), "k6"), body);
			const host = { ...sshHost(parts.to ?? "root@h1"), ...parts.host };
			const made = remoteClient(1, overSsh(host), {
				world: { ...world(parts.options), ...parts.world },
				binaries: { agent, k6, on: parts.on ?? (async () => ({ ...real, k6 })) },
				say: parts.say ?? (() => {}),
			});
			onTestFinished(() => made.close());
			return made;
		}

		interface Started {
			readonly made: Client;
			readonly child: ClientProcess;
			readonly out: string[];
			readonly err: string[];
			readonly workspace: Workspace;
			readonly local: string;
			said(line: string): Promise<void>;
		}

		async function started(
			body: string,
			parts: {
				args?: string[];
				env?: Record<string, string>;
				cpus?: string;
				graceMs?: number;
				files?: Record<string, string>;
			} & Parameters<typeof client>[1] = {},
		): Promise<Started> {
			const made = client(body, parts);
			await made.prepare();
			const local = testFolder();
			const workspace = await made.workspace(local);
			for (const [name, text] of Object.entries(parts.files ?? {})) {
				writeFileSync(path.join(local, name), text);
				await workspace.put(name);
			}
			const out: string[] = [];
			const err: string[] = [];
			const child = workspace.start({
				args: parts.args ?? [],
				env: parts.env ?? {},
				cpus: parts.cpus ?? null,
				graceMs: parts.graceMs ?? 5_000,
				onStdout: (line) => void out.push(line),
				onStderr: (line) => void err.push(line),
			});
			const said = async (line: string) => {
				await expect.poll(() => out, { timeout: 30_000 }).toContain(line);
			};
			return { made, child, out, err, workspace, local, said };
		}

		/** What of ours runs on the host, beside the connection itself. */
		const running = () =>
			h1
				.processes()
				.filter(({ name }) => !["sshd", "cat"].includes(name))
				.map(({ command }) => command);
		/** Files below ~/.cache/mqbench on the host. */
		const cached = () => h1.run("cd ~ && find .cache/mqbench -type f").split("\n").filter(Boolean);
		const workspaces = () => h1.run("ls ~/.cache/mqbench/runs").split("\n").filter(Boolean);

		describe("a host", () => {
			const own = (more?: string) => () =>
				connectOwner(overSsh(sshHost("root@h1")), {
					options: { world: world(more), binaries: real },
				});
			machineTest(own());
			describe("whose network ends", { tags: "long" }, () => {
				cutTest(own(SOON), () => {
					h1.cut();
					return h1.mend;
				});
			});
		});

		describe("prepare", () => {
			test("says what the host is, and brings the programs there once", async () => {
				const facts = await client("exit 0").prepare();
				expect(facts.machine).toMatch(/^linux \S+, \S+, \d+ cores?, (.+, )?\d+(\.\d+)?[KMGT]i?B$/);
				expect(facts.cores).toBeGreaterThan(0);
				// As reported by this kernel, which is the host's; its process table is its own.
				const memory = Number(
					/^MemTotal:\s+(\d+)/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1],
				);
				expect(facts.machine).toContain(formatBytes(memory * 1024));
				expect(facts.identity).toMatch(/^[0-9a-f-]{36} pid:\[\d+\]$/);
				expect(facts.identity).not.toBe(ownIdentity());
				const first = client("exit 1 # once");
				await first.prepare();
				const before = h1.run("stat -c '%n %i %a' ~/.cache/mqbench/bin/*/*");
				expect(before).toMatch(/pushed-[0-9a-f]{16}\/k6 \d+ 700\n/);
				expect(before).toMatch(/pushed-[0-9a-f]{16}\/agent \d+ 700\n/);
				await first.prepare();
				await client("exit 1 # once").prepare();
				expect(h1.run("stat -c '%n %i %a' ~/.cache/mqbench/bin/*/*")).toBe(before);
			});
		});

		describe("a run there", () => {
			test("has the workspace as folder and home, what it is given, and nothing of the user's", async () => {
				const { child, out, workspace } = await started(
					'pwd; echo "$@"; cat plan.json; env | grep -v -e ^PWD -e ^SHLVL -e ^_= -e ^OLDPWD -e ^PATH | sort',
					{
						args: ["run", "it's", "script.js"],
						env: { NATS_URL: `nats://a:${SECRET}@host` },
						files: { "plan.json": '{"a":"b c"}\n' },
					},
				);
				expect(await child.ended).toEqual({ code: 0, signal: null });
				const [folder] = out;
				expect(folder).toMatch(/^\/root\/\.cache\/mqbench\/runs\/mqbench\+h1\+[^@]+@\d+@\w{6}$/);
				expect(out.slice(1)).toEqual([
					"run it's script.js",
					'{"a":"b c"}',
					`HOME=${folder}`,
					`NATS_URL=nats://a:${SECRET}@host`,
				]);
				expect(child.pid).toBeNull();
				await workspace.remove();
				expect(h1.run(`[ -e ${folder} ] || echo gone`)).toBe("gone\n");
			});

			test("is not disturbed by what the host's shell says first", { tags: "long" }, async () => {
				h1.run("printf 'printf Welcome; echo to you >&2\\n' >~/.bashrc");
				try {
					const { child, made, workspace, local, out } = await started(
						"echo whole >client-1.hlog; echo up; exit 5",
						{ files: { "plan.json": "{}" } },
					);
					expect(await child.ended).toEqual({ code: 5, signal: null });
					expect(out.join("\n")).toContain("up");
					expect(await workspace.fetch("client-1.hlog")).toBe(true);
					expect(readFileSync(path.join(local, "client-1.hlog"), "utf8")).toBe("whole\n");
					expect((await made.clock()).boundNs).toBeGreaterThan(0);
				} finally {
					h1.run("rm ~/.bashrc");
				}
			});

			test("shows no secret to those who look at processes, here or there, and writes none down", async () => {
				const { child, said } = await started('echo "up $NATS_URL"; read -r line; exit 0', {
					env: { NATS_URL: SECRET },
				});
				await said(`up ${SECRET}`);
				const all = [...running(), ...commandLines()];
				expect(all.length).toBeGreaterThan(3);
				expect(all.filter((line) => line.includes(SECRET))).toEqual([]);
				expect(h1.run(`grep -rl ${SECRET} ~/.cache || true`)).toBe("");
				child.say("end");
				await child.ended;
			});

			test("hears lines and signals, once each", async () => {
				const { child, out, said } = await started(
					'trap \'echo INT\' INT; echo up; while [ ! -e done ]; do read -r line && echo "got $line"; [ "$line" = end ] && exit 6; done',
				);
				await said("up");
				child.say('{"t0UnixNs":"17"}');
				await said('got {"t0UnixNs":"17"}');
				child.signal("SIGINT");
				await said("INT");
				child.say("signal TERM");
				child.say("end");
				expect(await child.ended).toEqual({ code: 6, signal: null });
				expect(out.filter((line) => line === "INT")).toHaveLength(1);
				expect(out).toContain("got signal TERM");
				child.say("late");
			});

			test("is interrupted when it is abandoned, killed after the grace, and killed at once by kill", async () => {
				const polite = await started(
					"trap 'echo bye; exit 3' INT; echo up; while :; do sleep 0.05; done",
				);
				await polite.said("up");
				polite.child.abandon();
				expect(await polite.child.ended).toEqual({ code: 3, signal: null });
				const deaf = "trap '' INT TERM; sleep 100 & echo up; wait; sleep 100";
				const stubborn = await started(deaf, { graceMs: 100 });
				await stubborn.said("up");
				stubborn.child.abandon();
				expect(await stubborn.child.ended).toEqual({ code: null, signal: "SIGKILL" });
				const frozen = await started(deaf);
				await frozen.said("up");
				h1.run("pkill -STOP agent || killall -STOP agent");
				frozen.child.kill();
				expect(await frozen.child.ended).toEqual({ code: null, signal: "SIGKILL" });
				await expect.poll(running).toEqual([]);
			});

			test("runs on the CPUs that it is told, and says which it cannot have", {
				tags: "long",
			}, async () => {
				const grep = "grep Cpus_allowed_list /proc/self/status";
				const one = await started(grep, { cpus: "0" });
				expect(await one.child.ended).toEqual({ code: 0, signal: null });
				expect(one.out).toEqual(["Cpus_allowed_list:\t0"]);
				const none = await started(grep, { cpus: "1023" });
				expect(await none.child.ended).toEqual({ code: 127, signal: null });
				expect(none.err[0]).toMatch(
					/^level=error msg="pin: the CPUs 1023 cannot be had: taskset: /,
				);
			});

			test("brings its results home, parts of them as well, and says what there is not", async () => {
				const { child, workspace, local } = await started(
					"printf 'a\\0b\\nc' >client-1.hlog; echo half >client-1.jsonl.part; head -c 3000000 /dev/urandom >big; sha256sum <big; sleep 1.2",
				);
				await child.ended;
				expect(await workspace.fetch("client-1.hlog")).toBe(true);
				expect(readFileSync(path.join(local, "client-1.hlog"), "latin1")).toBe("a\0b\nc");
				expect(await workspace.fetch("client-1.jsonl")).toBe(false);
				expect(await workspace.fetch("client-1.jsonl.part")).toBe(true);
				expect(await workspace.fetch("big")).toBe(true);
				const sum = execFileSync("sha256sum", ["big"], { cwd: local, encoding: "utf8" });
				expect(sum.slice(0, 64)).toBe(h1.run("sha256sum ~/.cache/mqbench/runs/*/big").slice(0, 64));
				await workspace.remove();
				expect(readdirSync(local).sort()).toEqual([
					"big",
					"client-1.hlog",
					"client-1.jsonl.part",
					"resources-1.jsonl",
				]);
			});
		});

		test("the clock is this machine's own, as exactly as the bound says", async () => {
			const made = client("exit 0");
			expect(made.sameClock).toBe(false);
			await made.prepare();
			for (let i = 0; i < 3; i++) {
				const { offsetNs, boundNs } = await made.clock();
				expect(Math.abs(offsetNs)).toBeLessThanOrEqual(boundNs);
				expect(boundNs).toBeGreaterThan(0);
				// Half a round trip between two processes of a busy machine.
				expect(boundNs).toBeLessThan(100e6);
			}
		});

		describe("a connection that is lost", () => {
			test("ends k6 there and the wait for it here; afterwards the host can be used again", {
				tags: "long",
			}, async () => {
				let later = 0;
				const { child, workspace, made, said, local } = await started(
					"trap 'exit 0' INT; echo half >client-1.jsonl.part; echo up; while :; do echo tick; sleep 0.2; done",
					{
						options: SOON,
						world: { clock: { nowMs: Date.now, monotonicMs: () => performance.now() + later } },
					},
				);
				await said("up");
				h1.cut();
				try {
					expect(await child.ended).toEqual({ code: null, signal: null });
					await expect(workspace.fetch("client-1.jsonl.part")).rejects.toThrow(
						/^root@h1: (ssh gets no answer from it|the connection to it was lost)\. /,
					);
					// At once, and not after another 2 s of waiting each.
					const began = performance.now();
					for (let i = 0; i < 10; i++) await expect(made.clock()).rejects.toThrow("root@h1: ");
					expect(performance.now() - began).toBeLessThan(15_000);
					await expect.poll(running, { timeout: 30_000, interval: 200 }).toEqual([]);
				} finally {
					h1.mend();
				}
				later = 60_000;
				expect(await workspace.fetch("client-1.jsonl.part")).toBe(true);
				expect(readFileSync(path.join(local, "client-1.jsonl.part"), "utf8")).toBe("half\n");
				await made.close();
				expect(workspaces()).toEqual([]);
			});

			test("is told where nothing could be started any more", { tags: "long" }, async () => {
				const { child, workspace } = await started("exit 0");
				await child.ended;
				for (const pid of hosts.masters()) process.kill(pid, "SIGKILL");
				await vi.waitFor(async () => {
					const dead = workspace.start({
						args: [],
						env: {},
						cpus: null,
						graceMs: 100,
						onStdout: () => {},
						onStderr: () => {},
					});
					expect(await dead.ended).toEqual({ code: null, signal: null });
				});
			});
		});

		test("a host of another processor gets programs for it, and one that cannot run them is one sentence", {
			tags: "long",
		}, async () => {
			h1.run(
				"printf '#!/bin/sh\\ncase $1 in -s) echo Linux;; -m) echo riscv64;; *) echo 6.1;; esac\\n' >~/fake && chmod +x ~/fake && mount --bind ~/fake $(readlink -f /bin/uname)",
			);
			onTestFinished(() => void h1.run("umount $(readlink -f /bin/uname)"));
			const agent = path.join(testFolder(), "agent");
			writeFileSync(agent, "\x7fELF of another kind");
			const asked: string[] = [];
			const made = client("exit 0", {
				async on(...what) {
					asked.push(what.join(" for "));
					return { ...real, agent };
				},
			});
			await expect(made.prepare()).rejects.toThrow(
				/^root@h1: cannot make the load: the programs do not run there \(exit code \d+: .*\)/,
			);
			expect(asked).toEqual(["linux/riscv64 for root@h1"]);
		});

		describe("a host whose key is kept in a file of its own", () => {
			const known = () => path.join(testFolder(), "known hosts of 100%");
			const own = (knownHosts: string, setUp = false) =>
				client("exit 0", { host: { knownHosts, setUp } });

			test("is taken at the first contact, and written there", { tags: "long" }, async () => {
				const file = known();
				await own(file).prepare();
				const [kind = "", key = ""] = readFileSync(
					path.join(h1.home, "..", "host_key.pub"),
					"utf8",
				).split(" ");
				expect(readFileSync(file, "utf8")).toContain(`${kind} ${key}`);
				expect(
					execFileSync("ssh-keygen", ["-F", h1.address, "-f", file], { encoding: "utf8" }),
				).toContain(key);
				const before = readFileSync(file, "utf8");
				await own(file).prepare();
				expect(readFileSync(file, "utf8")).toBe(before);
			});

			test("is refused when it has another key than at the first contact, with the file", async () => {
				const file = known();
				const key = readFileSync(path.join(h1.home, "..", "..", "key.pub"), "utf8");
				writeFileSync(file, `${h1.address} ${key}`);
				// Also where much is waited for: this does not pass.
				await expect(own(file, true).prepare()).rejects.toMatchObject({
					code: "client-unreachable",
					message: `root@h1: its host key differs from the one that ssh knows. If the host was reinstalled, remove the old key (ssh-keygen -f '${file}' -R h1) and try again`,
				});
				expect(readFileSync(file, "utf8")).toBe(`${h1.address} ${key}`);
			});
		});

		describe("a host whose key mqbench has made", () => {
			const given = (line: string, setUp = true) => {
				const file = path.join(testFolder(), "known_hosts");
				writeFileSync(file, line);
				const made = client("exit 0", { host: { knownHosts: file, hostKeyKnown: true, setUp } });
				return { file, made };
			};
			const keyIn = (...names: string[]) =>
				`* ${readFileSync(path.join(h1.home, "..", ...names), "utf8")}`;

			test("is known whatever its address, and nothing is taken at the first contact", {
				tags: "long",
			}, async () => {
				const folder = testFolder();
				const [key, known] = ["host_ed25519", "known_hosts"].map((name) =>
					path.join(folder, name),
				) as [string, string];
				await makeHostKey(key, known, "rig-1");
				const line = readFileSync(known, "utf8");
				const own = h1.run(`cat ${path.join(h1.home, "..", "host_key")}`);
				onTestFinished(() => h1.takeHostKey(own));
				h1.takeHostKey(readFileSync(key, "utf8"));
				const { file, made } = given(line, false);
				await made.prepare();
				await made.close();
				expect(readFileSync(file, "utf8")).toBe(line);
			});

			test("is refused at once with another key, also while it may boot, and nobody is told to accept it", async () => {
				const { made } = given(keyIn("..", "key.pub"));
				await expect(made.prepare()).rejects.toMatchObject({
					code: "client-unreachable",
					message:
						"root@h1: its host key is not the one that mqbench gave it, so another machine answers there, its image does not take the key (no cloud-init), or the file of the key was changed. Nothing was sent to it. Take the rig down and stand it up again; for an image of your own (aws.ami) use one with cloud-init",
				});
			});
		});

		test("close leaves the programs and nothing else", async () => {
			const { child, made } = await started("exit 0");
			await child.ended;
			await made.close();
			await made.close();
			await expect.poll(() => h1.processes(), { timeout: 30_000 }).toEqual([]);
			expect(workspaces()).toEqual([]);
			for (const file of cached())
				expect(file).toMatch(/^\.cache\/mqbench\/bin\/pushed-[0-9a-f]{16}\/(k6|agent|\.sums)$/);
		});

		test("a client that is closed while it connects has no connection", {
			tags: "long",
		}, async () => {
			const made = client("exit 0");
			const preparing = made.prepare();
			await made.close();
			await expect(preparing).rejects.toMatchObject({ code: "interrupted" });
			await expect.poll(() => h1.processes(), { timeout: 30_000 }).toEqual([]);
		});

		describe("what is in the way is one sentence", () => {
			const cases: [string, () => Parameters<typeof client>[1], RegExp][] = [
				[
					"nobody is there",
					() => ({
						to: `root@${hosts.gateway.replace(/1$/, "99")}`,
						options: "-o ConnectTimeout=1",
					}),
					/^root@10\.\S+\.99: ssh gets no answer from it\. Is it up, and does a firewall let port 22 through\? By hand: ssh root@10\.\S+\.99 true$/,
				],
				[
					"no sshd on that port",
					() => ({ to: `root@${h1.address}:2222` }),
					/^root@10\.\S+:2222: nothing accepts SSH connections there \(connection refused\)\. Is sshd up, and its port right\? By hand: ssh -p 2222 root@10\.\S+ true$/,
				],
				[
					"no such host",
					() => ({ to: "nowhere.invalid" }),
					/^nowhere\.invalid: ssh finds no host of that name\. Correct clients, or the name in ssh's configuration$/,
				],
				[
					"an unknown host key",
					() => ({ options: "-o UserKnownHostsFile=/dev/null" }),
					/^root@h1: ssh asks about the host key\. Connect once by hand: ssh root@h1$/,
				],
				[
					"a user who is not let in",
					() => ({ options: "-o PubkeyAuthentication=no" }),
					/^root@h1: the login was refused \(permission denied\)\. mqbench uses no passwords: put a key into ssh's agent or configuration\. By hand: ssh root@h1 true$/,
				],
				[
					"no ssh here",
					() => ({ world: { env: { PATH: "/nowhere" } } }),
					/^root@h1: ssh is not on PATH\. Install it \(package openssh-client of your distribution\)$/,
				],
			];
			test.each(cases)("%s", async (_, parts, sentence) => {
				await expect(client("exit 0", parts()).prepare()).rejects.toThrow(sentence);
			});

			/** What is put over something of the host's, and the sentence that comes of it. */
			const unfit: [string, string, string, RegExp][] = [
				[
					"a user without a shell",
					"sed 's#^root:.*#root:x:0:0:root:/root:/bin/false#' /etc/passwd >~/passwd && mount --bind ~/passwd /etc/passwd",
					"umount /etc/passwd",
					/^root@h1: cannot make the load: no shell runs commands there\. Name a user who has sh\.$/,
				],
				[
					"no sha256sum",
					"mount --bind /dev/null $(readlink -f /usr/bin/sha256sum)",
					"umount $(readlink -f /usr/bin/sha256sum)",
					/^root@h1: cannot make the load: sha256sum, which checks copies, is missing\. Install it \(package coreutils of its distribution\)\.$/,
				],
				[
					"a full disk",
					"mkdir -p ~/.cache && mount -t tmpfs -o size=100k tmpfs ~/.cache",
					"umount ~/.cache",
					/^root@h1: cannot make the load: the disk of ~\/\.cache\/mqbench is full\. Free 100 MB there\.$/,
				],
				[
					"a file system without programs",
					"mkdir -p ~/.cache && mount -t tmpfs -o noexec tmpfs ~/.cache",
					"umount ~/.cache",
					/^root@h1: cannot make the load: the programs do not run there \(exit code 126: .*Permission denied\)\. Is its file system mounted with noexec\? Name a user whose home allows programs\.$/,
				],
				[
					"a home that cannot be written",
					"mkdir -p ~/.cache && mount -t tmpfs -o ro tmpfs ~/.cache",
					"umount ~/.cache",
					/^root@h1: cannot make the load: ~\/\.cache\/mqbench cannot be written there \(.*Read-only file system\)\. Give that user a home to write to, or name another user\.$/,
				],
			];
			test.each(unfit)("%s", { tags: "long" }, async (_, make, undo, sentence) => {
				h1.run(make);
				try {
					await expect(client("exit 0").prepare()).rejects.toThrow(sentence);
				} finally {
					h1.run(undo);
				}
			});
		});
	},
);

test("a host is read as ssh names it", () => {
	const rest = { identity: null, knownHosts: null, hostKeyKnown: false, setUp: false };
	const parts = { user: "bench", host: "10.0.0.11", port: 2222 };
	expect(sshHost("bench@10.0.0.11:2222")).toEqual({ ...parts, ...rest });
	expect(sshHost("h1")).toEqual({ user: null, host: "h1", port: null, ...rest });
});
