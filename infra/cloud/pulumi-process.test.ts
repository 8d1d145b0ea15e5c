import { spawn } from "node:child_process";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { script, testFolder } from "../test-folder.fake.ts";
import { below, endHolders, PulumiFailed, pulumiProcesses } from "./pulumi-process.ts";

test("what Pulumi says is told as it comes, and whole in the end", async () => {
	const folder = testFolder();
	const program = path.join(folder, "pulumi");
	script(program, "echo one; sleep 0.5; printf größer; echo no >&2");
	const told: string[] = [];
	const processes = pulumiProcesses({ program, env: { PATH: process.env.PATH ?? "" }, folder });
	await expect(processes.run(["destroy"], folder, {}, (text) => told.push(text))).resolves.toEqual({
		code: 0,
		stdout: "one\ngrößer",
		stderr: "no\n",
	});
	expect(told).toEqual(["one\n", "größer"]);
});

describe("a Pulumi that has locked the stack", () => {
	const locked = (host: string, pid: number) =>
		new PulumiFailed({
			stdout: "",
			stderr: `error: the stack is currently locked by 1 lock(s).\n  file://x: created by me@${host} (pid ${pid}) at 2026-01-02T03:04:05Z\n`,
			code: 255,
		});
	/** Runs until it gets SIGINT; then it ends in order. */
	function running(name: string, trap: string) {
		const program = path.join(testFolder(), name);
		script(program, `trap '${trap}' INT\necho up\nwhile :; do sleep 0.1; done`);
		const child = spawn(program, { stdio: ["ignore", "pipe", "ignore"] });
		onTestFinished(() => void child.kill("SIGKILL"));
		return { child, up: new Promise((resolve) => child.stdout.once("data", resolve)) };
	}

	test("and lives is asked once to end, and waited for", async () => {
		const { child, up } = running("pulumi", "sleep 0.5; exit 3");
		await up;
		const said: string[] = [];
		await endHolders(locked(hostname(), child.pid ?? -1), (line) => said.push(line), 30_000);
		expect(child.exitCode).toBe(3);
		expect(said).toEqual([
			`Another Pulumi works on the rig (process ${child.pid}): it is asked to end.`,
		]);
	});

	test("and does not end is killed", async () => {
		const { child, up } = running("pulumi", ":");
		await up;
		await endHolders(locked(hostname(), child.pid ?? -1), () => {}, 300);
		expect(child.signalCode).toBe("SIGKILL");
	});

	test("and is gone is no other program that has its number", async () => {
		const { child, up } = running("other", "exit 3");
		await up;
		await endHolders(locked(hostname(), child.pid ?? -1), () => {}, 0);
		await endHolders(locked(hostname(), 4_000_000), () => {}, 0);
		expect(child.exitCode ?? child.signalCode).toBe(null);
	});

	test("and is on another machine keeps the lock", async () => {
		const failed = locked("elsewhere", process.pid);
		await expect(endHolders(failed, () => {}, 0)).rejects.toBe(failed);
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
