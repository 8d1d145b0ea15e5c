import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { ownerText } from "../owner.ts";
import { testFolder } from "../test-folder.fake.ts";
import { below, pulumiProcesses } from "./pulumi-process.ts";

function scene(script: string, file?: string) {
	const folder = testFolder();
	const program = path.join(folder, "pulumi");
	writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
	const pid = file ?? path.join(folder, "pulumi.pid");
	return {
		folder,
		pid,
		processes: pulumiProcesses({ program, env: { PATH: process.env.PATH ?? "" }, file: pid }),
	};
}

test("a Pulumi of which nothing can be written down is watched to its end all the same", async () => {
	const folder = testFolder();
	const { processes } = scene("sleep 0.3; echo done", path.join(folder, "none", "pulumi.pid"));
	await expect(processes.run(["destroy"], folder, {})).resolves.toMatchObject({
		code: 0,
		stdout: "done\n",
	});
});

describe("a Pulumi of an mqbench that is gone", () => {
	/** One that runs, and is nobody's. */
	function running() {
		const found = scene("true");
		const child = spawn("sleep", ["60"]);
		onTestFinished(() => void child.kill("SIGKILL"));
		writeFileSync(found.pid, ownerText(child.pid ?? -1));
		return { ...found, child };
	}

	test("is waited for, once it is said", async () => {
		const { processes, child, pid } = running();
		const said: string[] = [];
		const settled = processes.settled((line) => said.push(line), new AbortController().signal);
		setTimeout(() => child.kill("SIGKILL"), 400);
		await settled;
		expect(said).toEqual([
			`The Pulumi of an mqbench that was killed still runs (process ${child.pid}): waiting for it to end.`,
		]);
		expect(existsSync(pid)).toBe(false);
	});

	test("is not waited for after Ctrl-C, and goes on", async () => {
		const { processes, child, pid } = running();
		const stop = new AbortController();
		const settled = processes.settled(() => stop.abort("SIGINT"), stop.signal);
		await expect(settled).rejects.toMatchObject({ code: "interrupted" });
		expect(child.exitCode ?? child.signalCode).toBe(null);
		// Whoever comes next waits for it.
		expect(existsSync(pid)).toBe(true);
	});
});

test("what a process has started is found without /proc, too, in sessions of their own as well", async () => {
	const child = spawn("sh", ["-c", "setsid sleep 61 & sleep 62 & wait"]);
	onTestFinished(async () => {
		for (const pid of await below(child.pid ?? -1)) process.kill(pid, "SIGKILL");
		child.kill("SIGKILL");
	});
	let found: number[] = [];
	for (let i = 0; i < 100 && found.length < 2; i++) {
		await sleep(50);
		found = await below(child.pid ?? -1);
	}
	expect(found).toHaveLength(2);
	expect(found).not.toContain(child.pid);
	expect(await below(found[0] ?? -1)).toEqual([]);
});
