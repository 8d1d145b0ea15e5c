import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { realBinaries } from "../programs/real.fake.ts";
import type { Client, ClientProcess } from "../rig.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { localClients } from "./local.ts";

const { agent } = await realBinaries();

/** So many clients whose k6 is a piece of shell. */
function clients(count: number, body: string): Client[] {
	return localClients(count, fakeWorld({ env: { PATH: "/usr/bin:/bin", K6_VUS: "50" } }), {
		agent,
		k6: script(path.join(testFolder(), "k6"), body),
	});
}

/** Starts it in a folder of its own, and keeps its output. */
async function started(
	body: string,
	parts: { args?: string[]; env?: Record<string, string>; cpus?: string } = {},
): Promise<{ child: ClientProcess; out: string[]; folder: string }> {
	const folder = testFolder();
	const [client] = clients(1, body) as [Client];
	const workspace = await client.workspace(folder);
	const out: string[] = [];
	const child = workspace.start({
		args: parts.args ?? [],
		env: parts.env ?? {},
		cpus: parts.cpus ?? null,
		graceMs: 5_000,
		onStdout: (line) => void out.push(line),
		onStderr: (line) => void out.push(`stderr: ${line}`),
	});
	onTestFinished(() => child.kill());
	return { child, out, folder };
}

describe("clients on this machine", () => {
	test("are told apart by number, and are of this machine and its clock", async () => {
		const three = clients(3, "exit 0");
		expect(three.map(({ name }) => name)).toEqual(["process 0", "process 1", "process 2"]);
		expect(three.map(({ index }) => index)).toEqual([0, 1, 2]);
		const [only] = clients(1, "exit 0") as [Client];
		expect(only).toMatchObject({ name: "this machine", kind: "local", sameClock: true });
		expect(await only.clock()).toEqual({ offsetNs: 0, boundNs: 0 });
		const facts = await only.prepare();
		expect(facts).toMatchObject({ cores: os.availableParallelism(), kernel: os.release() });
		expect(facts.machine).toMatch(/^(linux|darwin) (amd64|arm64), \S+, \d+ cores?$/);
	});

	test("measure how long it takes to connect, or say why it cannot be", async () => {
		const server = createServer().listen(0, "127.0.0.1");
		await once(server, "listening");
		const { port } = server.address() as AddressInfo;
		const [only] = clients(1, "exit 0") as [Client];
		const ping = await only.ping?.(`127.0.0.1:${port}`);
		expect(ping?.connects).toBe(20);
		expect(ping?.minNs).toBeGreaterThan(0);
		expect(ping?.p50Ns).toBeGreaterThanOrEqual(ping?.minNs ?? 0);
		expect(ping?.maxNs).toBeGreaterThanOrEqual(ping?.p50Ns ?? 0);
		server.close();
		await once(server, "close");
		await expect(only.ping?.(`127.0.0.1:${port}`)).rejects.toThrow(
			`connect to 127.0.0.1:${port}: connection refused`,
		);
	});

	test("run k6 in the run's folder, with what they are given and nothing of the user's", async () => {
		const { child, out, folder } = await started(
			'pwd; echo "$@"; env | grep -v -e ^PWD -e ^SHLVL -e ^_= -e ^OLDPWD | sort',
			{ args: ["run", "script.js"], env: { NATS_URL: "nats://a:b@host" } },
		);
		expect(await child.ended).toEqual({ code: 0, signal: null });
		expect(out).toEqual([
			folder,
			"run script.js",
			`HOME=${folder}`,
			"NATS_URL=nats://a:b@host",
			"PATH=/usr/bin:/bin",
			"TZ=UTC",
		]);
	});

	test("run it on the CPUs that they are told", async () => {
		const { child, out } = await started("grep Cpus_allowed_list /proc/self/status", { cpus: "0" });
		await child.ended;
		expect(out).toEqual(["Cpus_allowed_list:\t0"]);
	});

	test("say whether a result is there, where it is already", async () => {
		const folder = testFolder();
		const [client] = clients(1, "exit 0") as [Client];
		const workspace = await client.workspace(folder);
		writeFileSync(path.join(folder, "plan.json"), "{}");
		await workspace.put("plan.json");
		expect(await workspace.fetch("plan.json")).toBe(true);
		expect(await workspace.fetch("client-0.hlog")).toBe(false);
		await expect(workspace.put("script.js")).rejects.toThrow("ENOENT");
		await workspace.remove();
		expect(await workspace.fetch("plan.json")).toBe(true);
		await client.close();
		await client.close();
	});
});
