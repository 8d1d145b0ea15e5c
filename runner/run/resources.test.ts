import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ResourceLine } from "../model/resource-file.ts";
import { type LastSeen, readResources, sampleResources } from "./resources.ts";

test("the CPU time of a process is what it says itself, its children included", async () => {
	// The shell stays its parent. It burns half a second by its own clock, then waits.
	const burner =
		"while (process.cpuUsage().user < 500_000); const { user, system } = process.cpuUsage(); console.log(user + system); setInterval(() => {}, 1000)";
	const child = spawn("sh", ["-c", `"$0" -e "$1" & wait`, process.execPath, burner]);
	const pid = child.pid ?? -1;
	onTestFinished(() => void spawn("pkill", ["-P", String(pid)]));
	const before = readResources({ generatorPids: [], brokerPids: [] }, 0);
	const [said] = (await once(child.stdout, "data")) as [Buffer];
	const after = readResources({ generatorPids: [pid], brokerPids: [] }, 0);
	const ns = after.generator?.cpuNs ?? 0;
	// The system counts in hundredths of a second, and a little goes on after the output.
	expect(ns / 1e9).toBeGreaterThan(Number(said) / 1e6 - 0.05);
	expect(ns / 1e9).toBeLessThan(Number(said) / 1e6 + 0.5);
	expect(after.generator?.rssBytes).toBeGreaterThan(100_000);
	expect(after.machine.cpuNs).toBeGreaterThan(before.machine.cpuNs ?? 0);
	expect(after.broker).toBeNull();
});

test("a machine's CPU time is its cores times the clock, and its idle time is not more", async () => {
	const sample = () => readResources({ generatorPids: [], brokerPids: [] }, Date.now());
	const before = sample();
	await sleep(1200);
	const after = sample();
	const grown = (name: "cpuNs" | "idleNs") =>
		(after.machine[name] ?? Number.NaN) - (before.machine[name] ?? Number.NaN);
	const there = (after.unixMs - before.unixMs) * 1e6 * cpus().length;
	expect(grown("cpuNs") / there).toBeCloseTo(1, 1);
	expect(grown("idleNs")).toBeLessThan(1.05 * grown("cpuNs"));
});

test("a process that is not there has used nothing that could be read", () => {
	const { broker } = readResources({ generatorPids: [], brokerPids: [2 ** 22 + 1] }, 0);
	expect(new Set(Object.values(broker ?? {}))).toEqual(new Set([null]));
});

test("several processes are summed up, and without any there is none", () => {
	const used = (pids: number[]) => readResources({ generatorPids: [], brokerPids: pids }, 0).broker;
	const both = used([process.pid, process.ppid]);
	expect(both?.rssBytes).toBeGreaterThan(used([process.pid])?.rssBytes ?? Infinity);
	expect(used([])).toBeNull();
});

test("what goes over the network is counted, and what stays on the machine is not", async () => {
	const counted = () => readResources({ generatorPids: [], brokerPids: [] }, 0).network;
	const now = counted();
	if (now === null) throw new Error("no /proc/net/dev");
	// The kernel's figures from another file; other processes use the network during the test.
	const names = readdirSync("/sys/class/net").filter((name) => name !== "lo");
	const real = names.filter((name) => existsSync(`/sys/class/net/${name}/device`));
	const sum = (counter: string) =>
		(real.length > 0 ? real : names)
			.map((name) => Number(readFileSync(`/sys/class/net/${name}/statistics/${counter}`, "utf8")))
			.reduce((a, b) => a + b, 0);
	expect(sum("rx_bytes") - now.rxBytes).toBeGreaterThanOrEqual(0);
	expect(sum("rx_bytes") - now.rxBytes).toBeLessThan(1e8);
	expect(sum("tx_bytes") - now.txBytes).toBeGreaterThanOrEqual(0);
	expect(sum("tx_bytes") - now.txBytes).toBeLessThan(1e8);
	const server = createServer((socket) => void socket.resume());
	onTestFinished(() => void server.close());
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
	await new Promise<void>((done) => socket.end(Buffer.alloc(200_000_000), () => done()));
	expect((counted()?.txBytes ?? 0) - now.txBytes).toBeLessThan(2e8);
});

test("how long threads waited for a core is known, of all of a process's threads", async () => {
	const burner = `const { Worker } = require("node:worker_threads");
		let left = ${8 * cpus().length};
		for (let i = left; i > 0; i--) new Worker("for (const end = Date.now() + 300; Date.now() < end; );require('node:worker_threads').parentPort.on('message', () => {}).postMessage(0)", { eval: true })
			.on("message", () => { if (--left === 0) console.log(); });`;
	const child = spawn(process.execPath, ["-e", burner]);
	onTestFinished(() => void child.kill("SIGKILL"));
	await once(child.stdout, "data");
	const { generator } = readResources({ generatorPids: [child.pid ?? -1], brokerPids: [] }, 0);
	expect(generator?.waitNs).toBeGreaterThan(generator?.cpuNs ?? Infinity);
});

test("what a child has used does not disappear when it ends", async () => {
	const child = spawn(
		"sh",
		["-c", "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; sleep 100"],
		{ detached: true },
	);
	const pid = child.pid ?? -1;
	onTestFinished(() => void process.kill(-pid, "SIGKILL"));
	const used = () =>
		readResources({ generatorPids: [pid], brokerPids: [] }, 0).generator?.cpuNs ?? 0;
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

test("of two processes that make the load one may end before the other: their sum does not fall", async () => {
	const burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
	const [first, second] = [`${burn}; read x`, `${burn}; sleep 100`].map((body) =>
		spawn("sh", ["-c", body], { stdio: ["pipe", "ignore", "ignore"] }),
	);
	if (!first?.pid || !second?.pid) throw new Error("no sh");
	onTestFinished(() => void second.kill("SIGKILL"));
	const sampled = { generatorPids: [first.pid, second.pid], brokerPids: [] };
	const seen: LastSeen = new Map();
	const sample = () => readResources(sampled, 0, seen).generator;
	const own = (pid: number) => readResources({ generatorPids: [pid], brokerPids: [] }, 0).generator;
	// A tick of /proc is 10 ms, and each has used some.
	for (const pid of sampled.generatorPids)
		await expect.poll(() => own(pid)?.cpuNs).toBeGreaterThan(0);
	const both = sample();
	const ended = new Promise((resolve) => first.once("close", resolve));
	first.stdin?.end();
	await ended;
	const after = sample();
	expect(after?.cpuNs).toBeGreaterThanOrEqual(both?.cpuNs ?? Infinity);
	expect(after?.rssBytes).toBe(own(second.pid)?.rssBytes);
	const over = new Promise((resolve) => second.once("close", resolve));
	second.kill("SIGKILL");
	await over;
	expect(sample()?.cpuNs).toBeNull();
});

test("the file has a valid line for the begin and for the end", () => {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-test-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const file = path.join(folder, "resources.jsonl");
	sampleResources(file, () => ({ generatorPids: [process.pid], brokerPids: [] }), Date.now).stop();
	const lines = readFileSync(file, "utf8").trim().split("\n");
	expect(lines).toHaveLength(2);
	for (const line of lines) ResourceLine.parse(JSON.parse(line));
});
