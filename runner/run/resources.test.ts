import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ResourceLine } from "./resource-file.ts";
import { readResources, sampleResources } from "./resources.ts";

test("a process that burns a core shows a CPU second per second, its children included", async () => {
	const child = spawn("sh", ["-c", "sh -c 'while :; do :; done' & wait"]);
	const pid = child.pid ?? -1;
	onTestFinished(() => {
		const { generator } = readResources(
			{ generatorPid: pid, brokerPid: null },
			0,
		);
		expect(generator).not.toBeNull();
		spawn("pkill", ["-P", String(pid)]);
	});
	await sleep(300);
	const before = readResources({ generatorPid: pid, brokerPid: null }, 0);
	const began = performance.now();
	await sleep(1500);
	const after = readResources({ generatorPid: pid, brokerPid: null }, 0);
	const share =
		((after.generator?.cpuNs ?? 0) - (before.generator?.cpuNs ?? 0)) /
		((performance.now() - began) * 1e6);
	// On a busy machine it gets less than a core; a parent alone would show nothing.
	expect(share).toBeGreaterThan(0.2);
	expect(share).toBeLessThan(1.2);
	expect(after.generator?.rssBytes).toBeGreaterThan(100_000);
	expect(after.machine.cpuNs).toBeGreaterThan(before.machine.cpuNs ?? 0);
	expect(after.broker).toBeNull();
});

test("a process that is not there has used nothing that could be read", () => {
	const { broker } = readResources(
		{ generatorPid: null, brokerPid: 2 ** 22 + 1 },
		0,
	);
	expect(broker).toEqual({
		cpuNs: null,
		rssBytes: null,
		readBytes: null,
		writeBytes: null,
	});
});

test("the file has a valid line for the begin and for the end", () => {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-test-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const file = path.join(folder, "resources.jsonl");
	sampleResources(
		file,
		{ generatorPid: process.pid, brokerPid: null },
		Date.now,
	).stop();
	const lines = readFileSync(file, "utf8").trim().split("\n");
	expect(lines).toHaveLength(2);
	for (const line of lines) ResourceLine.parse(JSON.parse(line));
});
