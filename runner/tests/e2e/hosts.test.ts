import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type Host,
	type Hosts,
	hostsMissing,
	makeHosts,
} from "../../../infra/clients/hosts.fake.ts";
import { ResourceLine } from "../../model/resource-file.ts";
import { type Mqbench, resultOf, run, scenario, start, temporaryFolder } from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";
import { type Tapped, wiretap } from "./wiretap.ts";

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
		/** None of these numbers goes into three. */
		const UNEVEN = { rate: "997/s", connections: "5", producers: "7" };
		const env = (more = "") => ({ MQBENCH_SSH_OPTIONS: `${more} ${hosts.sshOptions}`.trim() });
		const host = (name: string) => {
			const found = hosts.all.find((one) => one.name === name);
			if (!found) throw new Error(`no ${name}`);
			return found;
		};
		const nats = async (config = "") => (await ownNats(`host: ${hosts.gateway}\n${config}`)).url;

		/** Starts a run of 30 s on all three, and returns when it measures. */
		async function measuring(
			parts: { env?: Record<string, string>; url?: string } = {},
		): Promise<{ mqbench: Mqbench; out: string }> {
			const url = parts.url ?? (await nats());
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const file = scenario(
				folder,
				{ duration: "30s", connections: "6" },
				{ ...CLIENTS, target: "existing", system: `{ broker: nats, url: "${url}" }` },
			);
			const mqbench = start([file, "--out", out], { env: { ...env(), ...parts.env } });
			await mqbench.says(/ {2}2s\/30s/, 40_000);
			return { mqbench, out };
		}

		/**
		 * chronyc on each host, as it speaks where chrony knows the clock to 1 us, which may grow to 2; on the first one so many times: mqbench
		 * asks when it comes, before the run and after it.
		 */
		const keepTime = (times: number) => {
			const line =
				"A9FEA97B,169.254.169.123,4,$(date +%s).000000000,-0.000000100,0.0,0.0,-1.0,0.0,0.0,0.000000800,0.000000500,1.0,Normal";
			for (const one of hosts.all) {
				const most = one.name === "h1" ? times : 9;
				one.run(`mount -t tmpfs tmpfs /usr/local/bin
cat >/usr/local/bin/chronyc <<'end'
#!/bin/sh
echo >>/usr/local/bin/asked
[ "$(wc -l </usr/local/bin/asked)" -gt ${most} ] || echo "${line}"
end
chmod +x /usr/local/bin/chronyc`);
			}
		};

		describe.each<[string, Record<string, string>, number, string, number, string[]]>([
			["round-trip", {}, 1, "probes", 2, []],
			["fan-out", { topics: "2", subscriptions: "3" }, 3, "chrony", 9, ["long"]],
		])("in a %s", (pattern, workload, copies, source, times, tags) => {
			test("send exactly the messages that one process here sends, and their results are added up", {
				tags,
			}, async () => {
				keepTime(times);
				const url = await nats();
				const measured = async (clients: Record<string, string>) => {
					const tap = await wiretap(url);
					const folder = temporaryFolder();
					const out = path.join(folder, "out");
					const file = scenario(
						folder,
						{ pattern, ...UNEVEN, ...workload },
						{ ...clients, target: "existing", system: `{ broker: nats, url: "${url}" }` },
					);
					const { code, err } = await run([file, "--out", out], { env: env() });
					expect(code, err).toBe(0);
					return { messages: sorted(await tap.end()), out, err };
				};
				const one = await measured({});
				const three = await measured(CLIENTS);
				expect(three.messages).toHaveLength(997);
				expect(three.messages).toEqual(one.messages);

				expect(three.err).toMatch(
					/The load comes from root@h1 \(linux \S+, \S+, \d+ cores?, .*\); root@h2 \(.*\); root@h3 \(.*\)\./,
				);
				const [result] = resultOf(three.out).runs;
				expect(result).toMatchObject({
					intended: 997,
					notOffered: 0,
					sent: 997,
					failed: 0,
					received: 997 * copies,
					lost: 0,
					duplicated: 0,
					metrics: { response: { count: 997 * copies } },
				});
				if (!result) throw new Error("no run");
				expect(result.notes).toEqual(
					source === "chrony" ? [] : [expect.stringContaining("chrony is not believed")],
				);
				expect(result.startSkewNs).toBeGreaterThanOrEqual(0);
				expect(result.startSkewNs).toBeLessThan(5e9);
				expect(result.clients.map(({ name, kind }) => [name, kind])).toEqual([
					["root@h1", "ssh"],
					["root@h2", "ssh"],
					["root@h3", "ssh"],
				]);
				const sent = result.clients.map((client) => client.sent ?? 0);
				expect(sent.reduce((a, b) => a + b, 0)).toBe(997);
				for (const { clock, firstClaimNs, error, k6Exit } of result.clients) {
					expect({ error, k6Exit }).toEqual({ error: null, k6Exit: 0 });
					expect(firstClaimNs).toBeLessThan(0);
					// It is the same clock, and found to be as exactly as the bound of the probes says.
					expect(clock?.source).toBe(source);
					expect(clock?.boundNs).toBeGreaterThan(0);
					expect(Math.abs(clock?.beforeNs ?? Infinity)).toBeLessThanOrEqual(
						clock?.probedNs ?? clock?.boundNs ?? 0,
					);
					if (source !== "chrony") continue;
					expect(clock?.beforeNs).toBe(result.clients[0]?.clock?.beforeNs);
					expect(clock?.boundNs).toBeGreaterThanOrEqual(1000);
					expect(clock?.boundNs).toBeLessThanOrEqual(2003);
				}
				expect(result.network.map(({ client, node, error }) => [client, node, error])).toEqual(
					[0, 1, 2].map((client) => [client, 1, null]),
				);
				for (const { connects, minNs, p50Ns, maxNs } of result.network) {
					expect(connects).toBe(20);
					expect(minNs).toBeGreaterThan(0);
					expect(p50Ns).toBeGreaterThanOrEqual(minNs ?? 0);
					expect(maxNs).toBeGreaterThanOrEqual(p50Ns ?? 0);
				}
				// A process here has no network before it that anybody asked for.
				expect(resultOf(one.out).runs[0]?.network).toEqual([]);
				const bounds = result.clients.map(({ clock }) => clock?.boundNs ?? 0).sort((a, b) => b - a);
				expect(result.clockBoundNs).toBe(copies > 1 ? (bounds[0] ?? 0) + (bounds[1] ?? 0) : null);
				const folder = path.join(three.out, result.folder);
				expect(readdirSync(folder).filter((name) => name.startsWith("resources-"))).toEqual(
					[0, 1, 2].map((i) => `resources-${i}.jsonl`),
				);
				for (const line of readFileSync(path.join(folder, "resources-2.jsonl"), "utf8")
					.trim()
					.split("\n"))
					expect(ResourceLine.parse(JSON.parse(line)).generator?.rssBytes).toBeGreaterThan(1e6);
				for (const one of hosts.all) await expectEmpty(one);
			});
		});

		test("one of which loses its k6 are named, and the run is INVALID", {
			tags: "long",
		}, async () => {
			const { mqbench, out } = await measuring();
			host("h2").run("pkill -KILL -x k6");
			const { code, err } = await mqbench.ended;
			expect(code, err).toBe(4);
			expect(err).toMatch(/client 1 \(root@h2\): k6 ended with SIGKILL/);
			const { verdict, runs } = resultOf(out);
			expect(verdict).toBe("invalid");
			expect(JSON.stringify(runs[0]?.validity)).toMatch(/root@h2.*k6 ended with SIGKILL/);
			expect(runs[0]?.clients.map(({ error }) => error !== null)).toEqual([false, true, false]);
			for (const one of hosts.all) await expectEmpty(one);
		});

		test("one of which loses its network are named, the run is INVALID, and k6 ends there by itself", {
			tags: "long",
		}, async () => {
			const { mqbench, out } = await measuring({
				env: env("-o ServerAliveInterval=1 -o ServerAliveCountMax=3 -o ConnectTimeout=2"),
			});
			const h3 = host("h3");
			h3.cut();
			try {
				const { code, err } = await mqbench.ended;
				expect(code, err).toBe(4);
				expect(err).toMatch(/client 2 \(root@h3\): the connection to it was lost/);
				const { verdict, runs } = resultOf(out);
				expect(verdict).toBe("invalid");
				expect(JSON.stringify(runs[0]?.validity)).toContain("root@h3");
				expect(runs[0]?.clients[2]).toMatchObject({ k6Exit: null, k6Signal: null });
				// What the others have measured is there.
				expect(runs[0]?.metrics.response?.count).toBeGreaterThan(100);
				await expect.poll(() => k6sOn(h3), { timeout: 30_000, interval: 200 }).toEqual([]);
			} finally {
				h3.mend();
			}
			for (const name of ["h1", "h2"]) await expectEmpty(host(name));
		});

		test("that Ctrl-C stops give what they have measured, and are left as they were", {
			tags: "long",
		}, async () => {
			const secret = "s3cr3t-of-the-hosts";
			await nats();
			const url = (
				await ownNats(`host: ${hosts.gateway}\nauthorization { user: bench, password: ${secret} }`)
			).url;
			const { mqbench, out } = await measuring({
				// biome-ignore lint/suspicious/noTemplateCurlyInString: the scenario's own variable.
				url: url.replace("://", "://bench:${HOSTS_PASSWORD}@"),
				env: { HOSTS_PASSWORD: secret },
			});
			for (const one of hosts.all) {
				expect(k6sOn(one)).toHaveLength(1);
				expect(one.processes().filter(({ command }) => command.includes(secret))).toEqual([]);
				expect(one.run(`grep -rl ${secret} ~ || true`)).toBe("");
			}
			mqbench.signal("SIGINT");
			const { code, err } = await mqbench.ended;
			expect(code, err).toBe(130);
			const result = resultOf(out);
			expect(result).toMatchObject({ verdict: "interrupted", interruptedBy: "SIGINT" });
			const [first] = result.runs;
			expect(first?.metrics.response?.count).toBeGreaterThan(500);
			expect(first?.lost).toBe(0);
			for (const { error, sent } of first?.clients ?? []) {
				expect(error).toBeNull();
				expect(sent).toBeGreaterThan(0);
			}
			for (const one of hosts.all) await expectEmpty(one);
		});

		test("are left by themselves when mqbench is killed, and tidied up by the next one", {
			tags: "long",
		}, async () => {
			const { mqbench } = await measuring();
			mqbench.signal("SIGKILL");
			await mqbench.ended;
			for (const one of hosts.all)
				await expect.poll(() => one.processes(), { timeout: 20_000, interval: 200 }).toEqual([]);
			expect(runsOn(host("h1"))).toHaveLength(1);
			const folder = temporaryFolder();
			const url = await nats();
			const { code, err } = await run(
				[
					scenario(
						folder,
						{ connections: "6" },
						{ ...CLIENTS, target: "existing", system: `{ broker: nats, url: "${url}" }` },
					),
					"--out",
					path.join(folder, "out"),
				],
				{ env: env() },
			);
			expect(code, err).toBe(0);
			for (const one of hosts.all) await expectEmpty(one);
			// What the killed one has left here, for its connections.
			const left = readdirSync(tmpdir());
			expect(left.filter((name) => name.startsWith(`mqbench-${mqbench.pid}-`))).toEqual([]);
		});

		test.each(["zeromq", "nanomsg"])(
			"are connected to each other by %s, which has no server: every message gets from one host to another",
			{ tags: "long" },
			async (broker) => {
				const folder = temporaryFolder();
				const out = path.join(folder, "out");
				const file = scenario(
					folder,
					{ pattern: "work-queue", consumers: "6", rate: "500/s", connections: "6" },
					{ ...CLIENTS, target: "existing", system: broker },
				);
				const { code, err } = await run([file, "--out", out], { env: env() });
				expect([0, 4], err).toContain(code);
				const [one] = resultOf(out).runs;
				expect(one).toMatchObject({
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

		test("one of which cannot be reached make no run: it is named", { tags: "long" }, async () => {
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const { code, err } = await run(
				[
					scenario(
						folder,
						{ connections: "6" },
						{
							clients: "[root@h1, root@nowhere.invalid]",
							target: "existing",
							system: `{ broker: nats, url: "${await nats()}" }`,
						},
					),
					"--out",
					out,
				],
				{ env: env() },
			);
			expect(code).toBe(3);
			expect(err).toContain(
				"root@nowhere.invalid: ssh finds no host of that name. Correct clients, or the name in ssh's configuration",
			);
			expect(readdirSync(folder)).toEqual(["scenario.yaml"]);
			await expectEmpty(host("h1"));
		});
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

function sorted(messages: readonly Tapped[]): Tapped[] {
	return messages.toSorted((a, b) => a.producer - b.producer || a.sequence - b.sequence);
}
