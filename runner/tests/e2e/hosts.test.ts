import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type Host,
	type Hosts,
	hostsMissing,
	makeHosts,
} from "../../../infra/clients/hosts.fake.ts";
import { ResourceLine } from "../../model/resource-file.ts";
import { measured, measuring, type Words } from "./mqbench.ts";
import { ownNats, type Tapped, wiretap } from "./own-nats.ts";

const missing = hostsMissing();

describe.skipIf(missing !== null)(
	`three hosts over SSH${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let hosts: Hosts;
		beforeAll(async () => {
			hosts = await makeHosts(3);
		});
		afterAll(() => hosts?.close());

		const CLIENTS = { clients: "[root@h1, root@h2, root@h3]" };
		const env = (more = "") => ({ MQBENCH_SSH_OPTIONS: `${more} ${hosts.sshOptions}`.trim() });
		const nats = async (config = "") => (await ownNats(`host: ${hosts.gateway}\n${config}`)).url;
		const existing = (url: string, top: Words = CLIENTS): Words => ({
			...top,
			target: "existing",
			system: `{ broker: nats, url: "${url}" }`,
		});
		/** A run of 30 s on all three, which measures. */
		const underWay = async (parts: { env?: Words; url?: string } = {}) =>
			measuring({ duration: "30s", connections: "6" }, existing(parts.url ?? (await nats())), {
				env: { ...env(), ...parts.env },
				at: 2,
				ms: 40_000,
			});
		const allEmpty = async () => {
			for (const one of hosts.all) await expectEmpty(one);
		};

		/** chronyc on each host, as it speaks where chrony knows the clock to 1 us, which may grow to 2. */
		const keepTime = () => {
			const line =
				"A9FEA97B,169.254.169.123,4,$(date +%s).000000000,-0.000000100,0.0,0.0,-1.0,0.0,0.0,0.000000800,0.000000500,1.0,Normal";
			for (const one of hosts.all)
				one.run(`mount -t tmpfs tmpfs /usr/local/bin
printf '%s\\n' '#!/bin/sh' 'echo "${line}"' >/usr/local/bin/chronyc
chmod +x /usr/local/bin/chronyc`);
		};

		describe.each<[string, Words, number, "probes" | "chrony", string[]]>([
			["round-trip", {}, 1, "probes", []],
			["fan-out", { topics: "2", subscriptions: "3" }, 3, "chrony", ["long"]],
		])("in a %s", (pattern, workload, copies, source, tags) => {
			test("send exactly the messages that one process here sends, and their results are added up", {
				tags,
			}, async () => {
				if (source === "chrony") keepTime();
				const url = await nats();
				const tapped = async (clients: Words) => {
					const tap = await wiretap(url);
					// None of these numbers goes into three.
					const load = { pattern, rate: "997/s", connections: "5", producers: "7", ...workload };
					const made = await measured(load, existing(url, clients), { env: env() });
					return { ...made, run: made.run, messages: sorted(await tap.end()) };
				};
				const one = await tapped({});
				const three = await tapped(CLIENTS);
				expect(three.messages).toHaveLength(997);
				expect(three.messages).toEqual(one.messages);

				expect(three.err).toMatch(
					/The load comes from root@h1 \(linux \S+, \S+, \d+ cores?, .*\); root@h2 \(.*\); root@h3 \(.*\)\./,
				);
				const { run } = three;
				expect(run).toMatchObject({
					intended: 997,
					notOffered: 0,
					sent: 997,
					failed: 0,
					received: 997 * copies,
					lost: 0,
					duplicated: 0,
					metrics: { response: { count: 997 * copies } },
					notes: [],
					clients: ["root@h1", "root@h2", "root@h3"].map((name) => ({ name, kind: "ssh" })),
					network: [0, 1, 2].map((client) => ({ client, node: 1, error: null, connects: 20 })),
				});
				expect(run.startSkewNs).toBeGreaterThanOrEqual(0);
				expect(run.startSkewNs).toBeLessThan(5e9);
				expect(run.clients.reduce((sum, { sent }) => sum + (sent ?? 0), 0)).toBe(997);
				for (const { clock, firstClaimNs, error, k6Exit } of run.clients) {
					expect({ error, k6Exit }).toEqual({ error: null, k6Exit: 0 });
					expect(firstClaimNs).toBeLessThan(0);
					// It is the same clock, and found to be as exactly as the bound of the probes says.
					expect(clock?.source).toBe(source);
					expect(clock?.boundNs).toBeGreaterThan(0);
					expect(Math.abs(clock?.beforeNs ?? Infinity)).toBeLessThanOrEqual(
						clock?.probedNs ?? clock?.boundNs ?? 0,
					);
					if (source === "chrony") expect(clock?.boundNs).toBeLessThanOrEqual(2003);
				}
				for (const { minNs, p50Ns, maxNs } of run.network) {
					expect(minNs).toBeGreaterThan(0);
					expect(p50Ns).toBeGreaterThanOrEqual(minNs ?? 0);
					expect(maxNs).toBeGreaterThanOrEqual(p50Ns ?? 0);
				}
				// A process here has no network before it that anybody asked for.
				expect(one.run.network).toEqual([]);
				const bounds = run.clients.map(({ clock }) => clock?.boundNs ?? 0).sort((a, b) => b - a);
				expect(run.clockBoundNs).toBe(copies > 1 ? (bounds[0] ?? 0) + (bounds[1] ?? 0) : null);
				for (const line of readFileSync(three.ofRun("resources-2.jsonl"), "utf8")
					.trim()
					.split("\n"))
					expect(ResourceLine.parse(JSON.parse(line)).generator?.rssBytes).toBeGreaterThan(1e6);
				await allEmpty();
			});
		});

		test("one of which loses its network are named, the run is INVALID, and k6 ends there by itself", {
			tags: "long",
		}, async () => {
			const made = await underWay({
				env: env("-o ServerAliveInterval=1 -o ServerAliveCountMax=3 -o ConnectTimeout=2"),
			});
			const [h1, h2, h3] = hosts.all as [Host, Host, Host];
			h3.cut();
			try {
				const { code, err } = await made.mqbench.ended;
				expect(code, err).toBe(4);
				expect(err).toMatch(/client 2 \(root@h3\): the connection to it was lost/);
				expect(made.result.verdict).toBe("invalid");
				expect(JSON.stringify(made.run.validity)).toContain("root@h3");
				expect(made.run.clients[2]).toMatchObject({ k6Exit: null, k6Signal: null });
				// What the others have measured is there.
				expect(made.run.metrics.response?.count).toBeGreaterThan(100);
				await expect.poll(() => k6sOn(h3), { timeout: 30_000, interval: 200 }).toEqual([]);
			} finally {
				h3.mend();
			}
			for (const one of [h1, h2]) await expectEmpty(one);
		});

		test("that Ctrl-C stops give what they have measured, and are left as they were", {
			tags: "long",
		}, async () => {
			const secret = "hunter2-of-the-hosts";
			const url = await nats(`authorization { user: bench, password: ${secret} }`);
			const made = await underWay({
				// biome-ignore lint/suspicious/noTemplateCurlyInString: the scenario's own variable.
				url: url.replace("://", "://bench:${HOSTS_PASSWORD}@"),
				env: { HOSTS_PASSWORD: secret },
			});
			for (const one of hosts.all) {
				expect(k6sOn(one)).toHaveLength(1);
				expect(one.processes().filter(({ command }) => command.includes(secret))).toEqual([]);
				expect(one.run(`grep -rl ${secret} ~ || true`)).toBe("");
			}
			made.mqbench.signal("SIGINT");
			const { code, err } = await made.mqbench.ended;
			expect(code, err).toBe(130);
			expect(made.result).toMatchObject({ verdict: "interrupted", interruptedBy: "SIGINT" });
			expect(made.run.metrics.response?.count).toBeGreaterThan(500);
			expect(made.run.lost).toBe(0);
			for (const { error, sent } of made.run.clients) {
				expect(error).toBeNull();
				expect(sent).toBeGreaterThan(0);
			}
			await allEmpty();
		});

		test("are left by themselves when mqbench is killed, and tidied up by the next one", {
			tags: "long",
		}, async () => {
			const { mqbench } = await underWay();
			mqbench.signal("SIGKILL");
			await mqbench.ended;
			for (const one of hosts.all)
				await expect.poll(() => one.processes(), { timeout: 20_000, interval: 200 }).toEqual([]);
			expect(runsOn(hosts.all[0] as Host)).toHaveLength(1);
			await measured({ connections: "6" }, existing(await nats()), { env: env() });
			await allEmpty();
			// What the killed one has left here, for its connections.
			const left = readdirSync(tmpdir());
			expect(left.filter((name) => name.startsWith(`mqbench-${mqbench.pid}-`))).toEqual([]);
		});

		test.each(["zeromq", "nanomsg"])(
			"are connected to each other by %s, which has no server: every message gets from one host to another",
			{ tags: "long" },
			async (broker) => {
				const { run } = await measured(
					{ pattern: "work-queue", consumers: "6", connections: "6" },
					{ ...CLIENTS, target: "existing", system: broker },
					{ env: env(), exit: [0, 4] },
				);
				expect(run).toMatchObject({
					intended: 500,
					notOffered: 0,
					sent: 500,
					failed: 0,
					received: 500,
					lost: 0,
					duplicated: 0,
					errors: [],
				});
			},
		);
	},
);

// --- internal ---

const k6sOn = (host: Host) => host.processes().filter(({ name }) => name === "k6");

const runsOn = (host: Host) => host.run("ls ~/.cache/mqbench/runs").split("\n").filter(Boolean);

/** No process, and nothing but the programs. */
async function expectEmpty(host: Host): Promise<void> {
	await expect.poll(() => host.processes(), { timeout: 30_000 }).toEqual([]);
	expect(runsOn(host)).toEqual([]);
}

/** Three send in another order than one: both are put in the same. */
function sorted(messages: readonly Tapped[]): Tapped[] {
	return messages.toSorted((a, b) => a.producer - b.producer || a.sequence - b.sequence);
}
