import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Host, type Hosts, hostsMissing, makeHosts } from "../clients/hosts.fake.ts";
import { realBinaries, realWorld } from "../programs/real.fake.ts";
import { sshHost } from "./host.ts";
import { openSetUp, type SetUpOptions } from "./set-up.ts";

const { agent } = await realBinaries();
const missing = hostsMissing();

describe.skipIf(missing !== null)(
	`a host that is being set up${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let hosts: Hosts;
		let h1: Host;
		beforeAll(async () => {
			hosts = await makeHosts(1);
			h1 = hosts.all[0] as Host;
			h1.run("mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/mqbench");
		}, 180_000);
		afterAll(() => hosts?.close());
		beforeEach(() => void h1.run("rm -f /var/lib/mqbench/*"));

		const state = (text: string) => h1.run(`echo '${text}' >/var/lib/mqbench/state`);

		/** Fifty times as fast as the real one: a wait of 10 s is one of 200 ms. */
		const clock = { nowMs: Date.now, monotonicMs: () => performance.now() * 50 };

		async function opened(
			parts: Partial<SetUpOptions> & { setUp?: boolean } = {},
			stop = new AbortController().signal,
			host = "h1",
		): Promise<string[]> {
			const said: string[] = [];
			const link = await openSetUp(
				{ ...sshHost(host), setUp: parts.setUp ?? true, broker: "mine" },
				{
					agent,
					world: {
						cwd: realWorld.cwd,
						env: { ...process.env, MQBENCH_SSH_OPTIONS: `-o ConnectTimeout=1 ${hosts.sshOptions}` },
						clock,
					},
					say: (line) => void said.push(line),
					pollMs: 50,
					...parts,
				},
				stop,
			);
			onTestFinished(() => link.close());
			expect(link.alive()).toBe(true);
			return said;
		}

		test("is waited for until it is ready, and its steps are said", async () => {
			state("running: packages");
			const said: string[] = [];
			await opened({
				say(line) {
					said.push(line);
					state(line.includes("packages") ? "running: disk" : "ready");
				},
			});
			expect(said[0]).toMatch(/^ {2}h1: being set up: packages \(\d+ s\)$/);
			expect(said[1]).toMatch(/^ {2}h1: being set up: disk \(\d+ s\)$/);
		}, 180_000);

		test("is not waited for where nobody sets it up", async () => {
			expect(await opened({ setUp: false })).toEqual([]);
		}, 180_000);

		const cases: [string, string, Partial<SetUpOptions>, RegExp][] = [
			[
				"a step that failed",
				"failed: packages: E: Unable to locate package redis.",
				{},
				/^h1: it is not set up: the step packages failed \(E: Unable to locate package redis\)\. Its log is \/var\/lib\/mqbench\/set-up\.log there \(ssh h1\)\.$/,
			],
			[
				"a step that takes too long",
				"running: disk",
				{ setUpMs: 5_000 },
				/^h1: it is not set up: it is still in the step disk after 5 s\. Its log is /,
			],
			[
				"a host that nobody sets up",
				"",
				{ setUpMs: 5_000 },
				/^h1: it is not set up: no set-up script started there within 5 s\. Was it made by npx mqbench up\? /,
			],
		];
		test.each(cases)(
			"%s is one sentence",
			async (_, text, parts, sentence) => {
				if (text !== "") state(text);
				await expect(opened(parts)).rejects.toThrow(sentence);
			},
			30_000,
		);

		test("that is not up yet is tried again, until it has had its time", async () => {
			state("ready");
			h1.cut();
			onTestFinished(() => h1.mend());
			const said: string[] = [];
			await opened({
				say(line) {
					said.push(line);
					h1.mend();
				},
			});
			expect(said[0]).toMatch(/^ {2}h1: not up yet: ssh gets no answer from it \(\d+ s\)$/);
			h1.cut();
			await expect(opened({ bootMs: 5_000 })).rejects.toThrow(
				/^h1 \(host of mine\): ssh gets no answer from it\. /,
			);
		}, 180_000);

		test("Ctrl-C does not wait for it", async () => {
			state("running: packages");
			const stop = new AbortController();
			setTimeout(() => stop.abort("SIGINT"), 500);
			await expect(opened({}, stop.signal)).rejects.toMatchObject({ code: "interrupted" });
		}, 180_000);
	},
);
