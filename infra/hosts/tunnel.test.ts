import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { realBinaries, realWorld } from "../binaries/real.fake.ts";
import { type Host, type Hosts, hostsMissing, makeHosts } from "../clients/hosts.fake.ts";
import type { Link } from "../remote/link.ts";
import { sshHost } from "../ssh/host.ts";
import { openLink } from "../ssh/link.ts";
import { overSsh } from "../ssh/over-ssh.ts";
import { bring, bundleOf } from "./bring.ts";
import { openTunnel, type Tunnel } from "./tunnel.ts";

const { agent } = await realBinaries();
const missing = hostsMissing();

describe.skipIf(missing !== null)(
	`a tunnel${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let hosts: Hosts;
		let h1: Host;
		let link: Link;
		let there: string;
		beforeAll(async () => {
			hosts = await makeHosts(1);
			h1 = hosts.all[0] as Host;
			// As careful people have it, and with a greeting.
			h1.run("echo 'echo Welcome to h1' >~/.bashrc");
			const stop = new AbortController().signal;
			link = await openLink(
				sshHost("h1"),
				{
					agent,
					cwd: realWorld.cwd,
					env: { ...process.env, MQBENCH_SSH_OPTIONS: hosts.sshOptions },
				},
				stop,
			);
			there = await bring(overSsh(sshHost("h1")), link, await bundleOf("agent", agent), {
				say: () => {},
				stop,
			});
		}, 180_000);
		afterAll(async () => {
			await link?.close();
			hosts?.close();
		});

		async function opened(target: string): Promise<Tunnel> {
			const tunnel = await openTunnel(link, there, target);
			onTestFinished(() => tunnel.close());
			return tunnel;
		}

		/** A connection through it: what has come so far, and all of it. */
		function read({ address }: Tunnel): { got(): string; readonly all: Promise<string> } {
			let got = "";
			const all = new Promise<string>((resolve) => {
				connect({ host: "127.0.0.1", port: Number(address.split(":")[1]) })
					.setEncoding("utf8")
					.on("data", (text) => {
						got += text;
					})
					.on("error", () => {})
					.on("close", () => resolve(got));
			});
			return { got: () => got, all };
		}
		const dials = () => h1.processes().filter(({ command }) => command.includes("tunnel")).length;

		test("reaches what listens there alone, and passes on nothing else", async () => {
			const tunnel = await opened(`${h1.address}:22`);
			expect(tunnel.address).toMatch(/^127\.0\.0\.1:\d+$/);
			const both = [read(tunnel), read(tunnel)];
			for (const one of both)
				await expect.poll(one.got, { timeout: 30_000 }).toMatch(/^SSH-2\.0-[^\n]*\n$/);
			expect(dials()).toBe(2);
			await tunnel.close();
			for (const one of both) expect(await one.all).toBe(one.got());
			await expect.poll(dials, { timeout: 30_000 }).toBe(0);
			expect(tunnel.trouble()).toBe("");
		}, 180_000);

		test("says why nothing comes through", async () => {
			const tunnel = await opened(`${h1.address}:4222`);
			expect(await read(tunnel).all).toBe("");
			expect(tunnel.trouble()).toMatch(/connection refused$/);
		}, 180_000);
	},
);
