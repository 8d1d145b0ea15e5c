import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { fakeDocker, info, noEngine, skipWithoutEngine } from "../docker/engine.fake.ts";
import { realBinaries } from "../programs/real.fake.ts";
import type { Client, ClientProcess } from "../rig.ts";
import { testFolder } from "../test-folder.fake.ts";
import { dockerClients, runArguments } from "./docker.ts";

const binaries = await realBinaries();

describe("the command of a client in a container", () => {
	const ALL = { network: "net", image: "mqbench-client:1", user: "1000:1000", remapped: false };
	const RUN = {
		name: "mqbench-x-client-1-1",
		labels: { a: "b" },
		folder: "/runs/1",
		files: [],
		index: 2,
		command: { args: ["run", "script.js"], cpus: null, graceMs: 10_000 },
	};

	test("has the run's folder, and neither environment nor standard streams but our own", () => {
		expect(runArguments(ALL, RUN).join(" ")).toBe(
			"run --rm --interactive --pull never --entrypoint agent --label a=b --network net --name mqbench-x-client-1-1 --log-driver none --security-opt label=disable --user 1000:1000 --mount type=bind,source=/runs/1,target=/mqbench --workdir /mqbench mqbench-client:1 supervise -env -control -sample resources-2.jsonl -grace 10000ms -- k6 run script.js",
		);
	});

	test("has CPUs and files that are asked for, and the user's rights", () => {
		const command = { ...RUN.command, cpus: "0-1" };
		const files = ["/home/me/payload"];
		const line = runArguments({ ...ALL, user: null, remapped: true }, { ...RUN, command, files });
		expect(line.join(" ")).toMatch(
			/--cpuset-cpus 0-1 .*--mount type=bind,source=\/home\/me\/payload,target=\/home\/me\/payload,readonly --userns host /,
		);
		// Without root's rights root there is the user.
		expect(line).not.toContain("--user");
	});
});

/** A client of an engine like this machine's, which has the image, and runs containers so. */
async function prepared(run: string, parts = {}): Promise<Client> {
	const { world } = fakeDocker(
		`${info({ Architecture: process.arch, ...parts })}\ncase "$*" in "image inspect"*) echo '{"Id":"1"}';; run*) ${run}; exit 125;; esac`,
	);
	const [client] = dockerClients(1, null, world, binaries) as [Client];
	onTestFinished(() => client.close());
	await client.prepare();
	return client;
}

describe("what containers cannot do is one sentence", () => {
	test("a platform without programs", async () => {
		await expect(prepared("true", { Architecture: "s390x" })).rejects.toThrow(
			/^clients: docker: it is linux\/s390x, and mqbench has no programs for that/,
		);
	});

	test.each([
		[
			`echo 'invalid argument "type=bind" for "--mount" flag: bad' >&2; echo "See 'docker run --help'." >&2`,
			'docker: invalid argument \\"type=bind\\" for \\"--mount\\" flag: bad"',
		],
		["true", 'docker: it said nothing"'],
		["echo docker: Error response from daemon: no such image. >&2", 'docker: no such image"'],
	])("a container that docker does not start, after %s", async (answer, why) => {
		const { child, out } = await started(await prepared(answer), ["version"]);
		expect((await child.ended).code).toBe(125);
		expect(out.at(-1)).toBe(`level=error msg="${why}`);
	});

	test("CPUs to which the engine would not hold it", async () => {
		const client = await prepared("true", { CPUSet: false });
		await expect(started(client, ["version"], { cpus: "0" })).rejects.toThrow(
			"Docker could not start clients: it cannot hold a container to pin",
		);
	});
});

describe.skipIf(skipWithoutEngine)(
	`clients in containers${noEngine && ` (${noEngine})`}`,
	{ timeout: 180_000 },
	() => {
		beforeAll(() => {
			expect(noEngine, "CI needs a Docker engine").toBe("");
		});

		test("are of this machine and its clock, run the very k6 of this machine, and write what is the user's", async () => {
			const [client, other] = clients(2);
			const facts = await client.prepare();
			expect(client).toMatchObject({ name: "container 0", kind: "docker", sameClock: true });
			expect(other?.name).toBe("container 1");
			expect(facts.machine).toMatch(/^linux (amd64|arm64), \S+, \d+ cores?$/);
			expect(await client.clock()).toEqual({ offsetNs: 0, boundNs: 0 });
			const { child, out, folder } = await started(client, ["version"]);
			expect(await child.ended).toEqual({ code: 0, signal: null });
			const here = spawnSync(binaries.k6, ["version"], { encoding: "utf8" });
			expect(`${out.join("\n")}\n`).toBe(here.stdout);
			const samples = path.join(folder, "resources-0.jsonl");
			expect(statSync(samples).uid).toBe(process.getuid?.());
			expect(JSON.parse(readFileSync(samples, "utf8").split("\n")[0] ?? "")).toMatchObject({
				machine: { cpuNs: expect.any(Number) },
			});
		});

		test("get their environment where nobody else sees it, and read files by their own paths", async () => {
			const [client] = clients(1);
			await client.prepare();
			const payload = path.join(testFolder(), "payload");
			writeFileSync(payload, "from this machine");
			const { child, out } = await started(
				client,
				["run", "--quiet", "--vus=1", "--iterations=1", "script.js"],
				{
					env: { NATS_URL: "nats://me:secret@host", SOME_FILE: payload },
					script: `const text = open(__ENV.SOME_FILE); export default () => { console.log(__ENV.NATS_URL, text, __ENV.HOME, __ENV.K6_VUS); }`,
				},
			);
			await child.ended;
			expect(out.join("\n")).toContain(
				"nats://me:secret@host from this machine /mqbench undefined",
			);
		});

		test("take signals and words, and end when they are abandoned or killed", async () => {
			const [client] = clients(1);
			await client.prepare();
			const forever = {
				script:
					"export const options = { vus: 1, duration: '100s', gracefulStop: '0s' }; export default () => { console.log('up'); while (true) {} }",
			};
			const args = ["run", "--quiet", "script.js"];
			for (const end of [
				(child: ClientProcess) => child.signal("SIGINT"),
				(child: ClientProcess) => child.abandon(),
				(child: ClientProcess) => child.kill(),
			]) {
				const { child, out } = await started(client, args, forever);
				await expect.poll(() => out.join(), { timeout: 20_000 }).toContain("up");
				end(child);
				const { code, signal } = await child.ended;
				expect([code, signal]).not.toEqual([0, null]);
			}
			await client.close();
			const { stdout } = spawnSync("docker", ["ps", "-a", "--format", "{{.Names}}"], {
				encoding: "utf8",
			});
			expect(stdout).not.toContain("-client-1-");
		});
	},
);

// --- internal ---

function clients(count: number): [Client, ...Client[]] {
	const all = dockerClients(count, null, fakeWorld({ env: process.env }), binaries);
	onTestFinished(async () => {
		await Promise.all(all.map((client) => client.close()));
	});
	return all as [Client, ...Client[]];
}

/** Starts k6 in a container, with a script, and keeps its output. */
async function started(
	client: Client,
	args: string[],
	parts: { env?: Record<string, string>; script?: string; cpus?: string } = {},
): Promise<{ child: ClientProcess; out: string[]; folder: string }> {
	const folder = testFolder();
	writeFileSync(path.join(folder, "plan.json"), '{"message":{"file":null},"driverOptions":{}}');
	writeFileSync(path.join(folder, "script.js"), parts.script ?? "");
	const workspace = await client.workspace(folder);
	const out: string[] = [];
	const child = workspace.start({
		args,
		env: { K6_AUTO_EXTENSION_RESOLUTION: "false", ...parts.env },
		cpus: parts.cpus ?? null,
		graceMs: 2_000,
		onStdout: (line) => void out.push(line),
		onStderr: (line) => void out.push(line),
	});
	onTestFinished(() => child.kill());
	return { child, out, folder };
}
