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
			{ generatorPid: pid, brokerPids: [] },
			0,
		);
		expect(generator).not.toBeNull();
		spawn("pkill", ["-P", String(pid)]);
	});
	await sleep(300);
	const before = readResources({ generatorPid: pid, brokerPids: [] }, 0);
	const began = performance.now();
	await sleep(1500);
	const after = readResources({ generatorPid: pid, brokerPids: [] }, 0);
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
		{ generatorPid: null, brokerPids: [2 ** 22 + 1] },
		0,
	);
	expect(broker).toEqual({
		cpuNs: null,
		rssBytes: null,
		readBytes: null,
		writeBytes: null,
	});
});

test("a broker's nodes are summed up", () => {
	const one = readResources(
		{ generatorPid: null, brokerPids: [process.pid] },
		0,
	);
	const two = readResources(
		{ generatorPid: null, brokerPids: [process.pid, process.ppid] },
		0,
	);
	expect(two.broker?.rssBytes).toBeGreaterThan(one.broker?.rssBytes ?? 0);
});

test("what a child has used does not disappear when it ends", async () => {
	const child = spawn(
		"sh",
		[
			"-c",
			"sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; sleep 100",
		],
		{ detached: true },
	);
	const pid = child.pid ?? -1;
	onTestFinished(() => void process.kill(-pid, "SIGKILL"));
	const used = () =>
		readResources({ generatorPid: pid, brokerPids: [] }, 0).generator?.cpuNs ??
		0;
	let last = 0;
	const falls: number[] = [];
	for (let i = 0; i < 20; i++) {
		await sleep(50);
		const now = used();
		if (now < last) falls.push(last - now);
		last = now;
	}
	expect(falls).toEqual([]);
	expect(last).toBeGreaterThan(0);
});

test("the file has a valid line for the begin and for the end", () => {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-test-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const file = path.join(folder, "resources.jsonl");
	sampleResources(
		file,
		{ generatorPid: process.pid, brokerPids: [] },
		Date.now,
	).stop();
	const lines = readFileSync(file, "utf8").trim().split("\n");
	expect(lines).toHaveLength(2);
	for (const line of lines) ResourceLine.parse(JSON.parse(line));
});
