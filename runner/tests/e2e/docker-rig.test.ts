import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RigFile } from "../../scenario/rig-file.ts";
import { haveImage } from "./images.ts";
import { filesOf, resultOf, run, scenario, start, temporaryFolder, until } from "./mqbench.ts";
import { Nats } from "./own-nats.ts";

const engine = spawnSync("docker", ["version"]).status === 0;

/** Everything in the engine that belongs to a rig: containers, networks, volumes. */
function leftOf(id: string): string[] {
	const label = `label=mqbench.rig=${id}`;
	const list = (...args: string[]) =>
		execFileSync("docker", [...args, "--quiet", "--filter", label], { encoding: "utf8" })
			.split("\n")
			.filter((line) => line !== "");
	return [...list("container", "ls", "--all"), ...list("network", "ls"), ...list("volume", "ls")];
}

describe.skipIf(!engine && process.env.CI !== "true")("a rig of containers", () => {
	test("outlives its command, is measured on and disturbed, and is gone after mqbench down", {
		timeout: 240_000,
	}, async () => {
		await haveImage("nats");
		const folder = temporaryFolder();
		const file = scenario(
			folder,
			{ duration: "3s", warmup: "1s" },
			{
				target: "docker",
				system: "{ broker: nats, mode: jetstream, durability: os }",
				faults: "[{ at: 1s, action: pause, for: 400ms }]",
				sla: "[lost == 0]",
			},
		);
		const up = await run(["up", file], { cwd: folder });
		expect(up.out + up.err).not.toMatch(/^ +at .*:\d+:\d+\)?$/m);
		expect(up.code).toBe(0);
		expect(up.out).toMatch(/They stay up until: mqbench down rig\.json\n$/);
		const text = readFileSync(path.join(folder, "rig.json"), "utf8");
		const rig = RigFile.parse(JSON.parse(text));
		onTestFinished(() => {
			for (const id of leftOf(rig.id)) spawnSync("docker", ["rm", "--force", "--volumes", id]);
		});
		expect(statSync(path.join(folder, "rig.json")).mode & 0o777).toBe(0o600);
		expect(rig).toMatchObject({
			target: "docker",
			brokers: [{ system: "nats", level: "os", messageBytes: 256 }],
		});
		expect(rig.brokers[0]?.containers).toHaveLength(1);
		expect(leftOf(rig.id).length).toBeGreaterThan(1);
		const nats = await Nats.connect(rig.brokers[0]?.url ?? "");

		const out = path.join(folder, "out");
		const ended = await run([file, "--rig", "rig.json", "--out", out], { cwd: folder });
		expect([0, 4]).toContain(ended.code);
		const [result] = resultOf(out).runs;
		expect(result).toMatchObject({
			state: "complete",
			sent: 1500,
			lost: 0,
			load: { target: "docker" },
			notes: expect.arrayContaining([expect.stringContaining(`belongs to the rig ${rig.id}`)]),
			failover: [{ action: "pause", error: null }],
		});
		// The fault really reached the container: some of what was due in it waited.
		expect(result?.metrics.response?.max ?? 0).toBeGreaterThan(300e6);
		// The stream of the run is gone, the container is the same, and goes on.
		expect(await nats.inventory()).toEqual({});

		const down = await run(["down", "rig.json"], { cwd: folder });
		expect(down).toMatchObject({ code: 0, err: "" });
		expect(down.out).toBe(`The rig ${rig.id} is down; nothing of it is left.\n`);
		expect(leftOf(rig.id)).toEqual([]);
		expect(existsSync(path.join(folder, "rig.json"))).toBe(false);

		// Once more, with the file of a rig that is gone.
		writeFileSync(path.join(folder, "rig.json"), text);
		const late = await run([file, "--rig", "rig.json"], { cwd: folder });
		expect(late.code).toBe(3);
		expect(late.err).toMatch(
			/^nats: .* the rig e2e-\w+ .*mqbench down takes away what is left of .*, mqbench up stands a new one up\.$/m,
		);
		expect((await run(["down", "rig.json"], { cwd: folder })).code).toBe(0);
		expect(filesOf(folder)).not.toContain("rig.json");
	});

	test("whose scenario asks for another broker is not measured with it", {
		timeout: 180_000,
	}, async () => {
		await haveImage("nats");
		const folder = temporaryFolder();
		const file = scenario(
			folder,
			{},
			{ target: "docker", system: "{ broker: nats, memory: 256MiB }" },
		);
		const up = await run(["up", file], { cwd: folder });
		expect(up.code, up.err).toBe(0);
		onTestFinished(() => run(["down", "rig.json"], { cwd: folder }).then(() => {}));
		const other = await run(
			[file, "--rig", "rig.json", "--set", "system.memory=64MiB", "--set", "system.cpus=0.5"],
			{ cwd: folder },
		);
		expect(other.code).toBe(2);
		expect(other.err).toMatch(
			/nats: the scenario asks for another broker than the rig e2e-\w+ has: cpus 0\.5 \(the rig: not given\), memory 64MiB \(the rig: 256MiB\)\. /,
		);
		const same = await run([file, "--rig", "rig.json", "--out", "out"], { cwd: folder });
		expect([0, 4], same.err).toContain(same.code);
		expect(same.out).toContain("topology: 1 container, 256MiB");
	});

	test.each([
		["kill -9", ["SIGKILL"]],
		["Ctrl-C twice", ["SIGINT", "SIGINT"]],
	] as const)(
		"that is not up yet goes with its command: %s",
		{ timeout: 180_000 },
		async (_, signals) => {
			await haveImage("nats");
			const folder = temporaryFolder();
			const name = `killed${process.pid}`;
			const file = scenario(
				folder,
				{},
				{
					target: "docker",
					// It never gets so far as to say that it is up.
					system: `{ broker: nats, mode: jetstream, nodes: 3 }`,
				},
			);
			const text = readFileSync(file, "utf8");
			writeFileSync(file, text.replace(/^name: .*$/m, `name: ${name}`));
			const left = () =>
				execFileSync("docker", ["ps", "--all", "--quiet", "--filter", `name=mqbench-${name}`])
					.toString()
					.concat(
						execFileSync("docker", [
							"network",
							"ls",
							"--quiet",
							"--filter",
							`name=mqbench-${name}`,
						]).toString(),
						execFileSync("docker", [
							"volume",
							"ls",
							"--quiet",
							"--filter",
							`name=mqbench-${name}`,
						]).toString(),
					);
			const up = start(["up", file], { cwd: folder });
			await until(() => left() !== "", "something of it is there", 60_000);
			for (const signal of signals) up.signal(signal);
			await up.ended;
			expect(existsSync(path.join(folder, "rig.json"))).toBe(false);
			await until(() => left() === "", "nothing is left", 40_000);
			// What the engine was asked for just before may come late: it is gone as well.
			await new Promise((resolve) => setTimeout(resolve, 3_000));
			await until(() => left() === "", "nothing is left", 40_000);
		},
	);
});
