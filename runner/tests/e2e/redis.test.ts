import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort, resultOf, run, scenario, temporaryFolder, until } from "./mqbench.ts";

/** A second at a rate. */
const second = (rate: string, pattern: string) =>
	`pattern: ${pattern}, rate: ${rate}, warmup: 0s, duration: 1s`;

describe("a run on redis-server", () => {
	test("pub/sub: a round trip", async () => {
		const { code, one } = await measure("pubsub", second("500/s", "round-trip"));
		expect(code).toBe(0);
		expect(one).toMatchObject({
			verdict: "pass",
			sent: 500,
			acked: null,
			received: 500,
			lost: 0,
			duplicated: 0,
			reordered: 0,
			clientDropped: 0,
		});
		expect(one?.metrics.response?.count).toBe(500);
	});

	test("pub/sub: every subscriber gets every message", async () => {
		const { code, one } = await measure(
			"pubsub",
			`${second("200/s", "fan-out")}, subscriptions: 3`,
		);
		expect(code).toBe(0);
		expect(one).toMatchObject({ sent: 200, received: 600, lost: 0 });
	});

	test("streams: two consumers share the work, and nothing is delivered again", async () => {
		const { code, one, system } = await measure(
			"streams, durability: fsync",
			`${second("200/s", "work-queue")}, consumers: 2`,
			"p50 < 10s, lost == 0, duplicated == 0, redelivered == 0",
		);
		expect(code).toBe(0);
		expect(one).toMatchObject({ acked: 200, received: 200, lost: 0 });
		expect(one?.metrics.ack?.count).toBe(200);
		expect(system).toMatch(/^redis-server \d/);
	});

	test("lists: as many messages as inFlight lets through", async () => {
		const { code, one } = await measure(
			"lists",
			"pattern: work-queue, messages: 5000, inFlight: 100, warmup: 100 messages",
			"service p50 < 10s, lost == 0",
		);
		expect(code).toBe(0);
		expect(one).toMatchObject({ acked: 5000, received: 5000, lost: 0 });
		expect(one?.metrics.response).toBeNull();
		expect(one?.throughput.received).toBeGreaterThan(0);
	});
});

describe("what a mode of Redis cannot do is refused before anything starts", () => {
	test.each([
		["pubsub", "publish", "it acknowledges nothing"],
		["pubsub", "work-queue", "every subscriber gets every message"],
		["lists", "fan-out", "each message of a list goes to one consumer"],
	])("%s: %s", async (mode, pattern, why) => {
		const { code, err } = await measure(mode, second("100/s", pattern));
		expect(code).toBe(2);
		expect(err).toContain(why);
	});
});

test("a channel that the server refuses ends the run at once, with what to do about it", async () => {
	const port = await freePort();
	const server = spawn(
		"redis-server",
		[
			"--port",
			`${port}`,
			"--bind",
			"127.0.0.1",
			"--save",
			"",
			"--user",
			"default",
			"on",
			"nopass",
			"~*",
			"resetchannels",
			"+@all",
		],
		{ cwd: temporaryFolder() },
	);
	onTestFinished(() => void server.kill());
	let said = "";
	server.stdout.on("data", (text) => {
		said += text;
	});
	await until(() => said.includes("Ready to accept"), "redis-server is up");
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const began = Date.now();
	const { code, out: terminal } = await run([
		scenario(folder, {}, { system: "redis" }),
		"--url",
		`redis://127.0.0.1:${port}`,
		"--out",
		out,
	]);
	expect(code).toBe(3);
	expect(Date.now() - began).toBeLessThan(25_000);
	expect(resultOf(out).runs[0]?.why).toContain("NOPERM");
	expect(terminal.replaceAll(/\s+/g, " ")).toContain(
		"What to do: give this user the right to create, write and read topics",
	);
});

// --- internal ---

/** Runs a short scenario on redis-server; `mode` may be followed by other options of the system. */
async function measure(mode: string, load: string, sla = "p50 < 10s, lost == 0") {
	const folder = temporaryFolder();
	const file = path.join(folder, "scenario.yaml");
	writeFileSync(
		file,
		[
			"name: e2e-redis",
			`system: { broker: redis, mode: ${mode} }`,
			`workload: { message: 256B, ${load} }`,
			`sla: [${sla}]`,
			"",
		].join("\n"),
	);
	const out = path.join(folder, "out");
	const ended = await run([file, "--out", out]);
	const result = ended.code === 2 ? undefined : resultOf(out);
	return {
		code: ended.code,
		err: ended.err,
		one: result?.runs[0],
		system: result?.environment?.systems.redis?.broker,
	};
}
