import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alive, descendants } from "../../../infra/processes.fake.ts";
import { ResourceLine } from "../../model/resource-file.ts";
import { RunFile } from "../../model/run-file.ts";
import { filesOf, resultOf, run, scenario, start, temporaryFolder, until } from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";
import { type Tapped, wiretap } from "./wiretap.ts";

const THREE = { clients: "3" };
const ON_SIX = { connections: "6" };

describe("three clients on this machine", () => {
	describe.each([
		{ pattern: "round-trip", workload: {}, copies: 1, tags: [] },
		{ pattern: "fan-out", workload: { subscriptions: "4" }, copies: 4, tags: ["long"] },
	])("share the messages of a $pattern", ({ pattern, workload, copies, tags }) => {
		test("all counts add up, each leaves its files, and none of what they use together falls as one ends", {
			tags,
		}, async () => {
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const file = scenario(folder, { pattern, rate: "1000/s", ...ON_SIX, ...workload }, THREE);
			const { code, err } = await run([file, "--out", out]);
			expect(code, err).toBe(0);
			expect(err).toContain("3 clients");
			expect(err).toMatch(new RegExp(`${copies} 000 of ${copies} 000 messages have a response`));
			const [one] = resultOf(out).runs;
			expect(one).toMatchObject({
				intended: 1000,
				notOffered: 0,
				sent: 1000,
				failed: 0,
				received: 1000 * copies,
				lost: 0,
				duplicated: 0,
				metrics: { response: { count: 1000 * copies } },
			});
			const files = filesOf(path.join(out, one?.folder ?? ""));
			for (const client of [0, 1, 2])
				expect(files).toEqual(
					expect.arrayContaining([`client-${client}.hlog`, `client-${client}.jsonl`]),
				);
			const ran = runFile(out);
			expect(ran.error).toBeNull();
			expect(ran.clients).toHaveLength(3);
			for (const client of ran.clients) {
				expect(client).toMatchObject({ k6Exit: 0, clock: null, error: null });
				// Long before T0, which is a second ahead of them.
				expect(client.firstClaimNs).toBeLessThan(0);
			}
			const samples = readFileSync(path.join(out, one?.folder ?? "", "resources.jsonl"), "utf8")
				.trim()
				.split("\n")
				.map((line) => ResourceLine.parse(JSON.parse(line)));
			const cpu = samples.flatMap(({ generator }) => generator?.cpuNs ?? []);
			expect(cpu).toEqual(cpu.toSorted((a, b) => a - b));
			expect(cpu.at(-1)).toBeGreaterThan(0);
		});
	});
});

test("a client that is killed is named, the others end at once, and the run is INVALID", {
	tags: "long",
}, async () => {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const mqbench = start([scenario(folder, { duration: "30s", ...ON_SIX }, THREE), "--out", out]);
	await mqbench.says(/ {2}1s\/30s/);
	const began = Date.now();
	const children = descendants(mqbench.pid);
	const [victim] = children.filter(({ name }) => name === "k6");
	if (!victim) throw new Error("no k6");
	process.kill(victim.pid, "SIGKILL");
	const { code, err } = await mqbench.ended;
	expect(code, err).toBe(4);
	// Not after the 30 s of the load, and those of the drain.
	expect(Date.now() - began).toBeLessThan(25_000);
	expect(err).toMatch(/client \d \(.*\): k6 ended with SIGKILL/);
	const { clients, error } = runFile(out);
	expect(error).toBeNull();
	expect(clients.filter((one) => one.k6Signal === "SIGKILL")).toHaveLength(1);
	expect(clients.filter((one) => one.error !== null)).toHaveLength(1);
	const result = resultOf(out);
	expect(result.verdict).toBe("invalid");
	expect(JSON.stringify(result.runs[0]?.validity)).toMatch(/client \d .*k6 ended with SIGKILL/);
	// What the others have measured is there.
	expect(result.runs[0]?.metrics.response?.count).toBeGreaterThan(100);
	expect(alive(children)).toEqual([]);
});

test("Ctrl-C keeps what all three have measured, and leaves no process", {
	tags: "long",
}, async () => {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const mqbench = start([scenario(folder, { duration: "30s", ...ON_SIX }, THREE), "--out", out]);
	await mqbench.says(/ {2}2s\/30s/);
	const children = descendants(mqbench.pid);
	expect(children.filter(({ name }) => name === "k6")).toHaveLength(3);
	mqbench.signal("SIGINT");
	const { code, err } = await mqbench.ended;
	expect(code, err).toBe(130);
	expect(alive(children)).toEqual([]);
	const result = resultOf(out);
	expect(result).toMatchObject({ verdict: "interrupted", interruptedBy: "SIGINT" });
	const [one] = result.runs;
	expect(one?.metrics.response?.count).toBeGreaterThan(800);
	expect(one?.lost).toBe(0);
	const files = filesOf(path.join(out, one?.folder ?? "")).join("\n");
	for (const client of [0, 1, 2]) expect(files).toContain(`client-${client}.hlog`);
	// All were told to, and did: none of them failed.
	for (const client of runFile(out).clients) expect(client.error).toBeNull();
});

test("kill -9 of mqbench ends all three, and leaves files that report can read", {
	tags: "long",
}, async () => {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const mqbench = start([scenario(folder, { duration: "30s", ...ON_SIX }, THREE), "--out", out]);
	await mqbench.says(/ {2}1s\/30s/);
	const children = descendants(mqbench.pid);
	mqbench.signal("SIGKILL");
	await until(() => alive(children).length === 0, "all are gone");
	const { out: said } = await run(["report", out]);
	expect(said).toMatch(/3 clients/);
});

describe("on the wire", () => {
	test.each([
		["round-trip", {}],
		["fan-out", { topics: "2", subscriptions: "3" }],
	])(
		"three clients send exactly the messages that one sends, in a %s",
		{ tags: "long" },
		async (pattern, workload) => {
			const url = (await ownNats()).url;
			const messages = async (clients: number) => {
				const tap = await wiretap(url);
				const folder = temporaryFolder();
				const file = scenario(
					folder,
					{
						pattern,
						// None of these numbers goes into three.
						rate: "997/s",
						connections: "5",
						producers: "7",
						...workload,
					},
					{ target: "existing", clients: `${clients}`, system: `{ broker: nats, url: "${url}" }` },
				);
				const { code, err } = await run([file, "--out", path.join(folder, "out")]);
				expect(code, err).toBe(0);
				return sorted(await tap.end());
			};
			// Three send in another order than one: both are put in the same.
			const one = await messages(1);
			const three = await messages(3);
			expect(one).toHaveLength(997);
			expect(three).toHaveLength(997);
			expect(three).toEqual(one);
		},
	);
});

// --- internal ---

function runFile(out: string): RunFile {
	const [one] = resultOf(out).runs;
	return RunFile.parse(
		JSON.parse(readFileSync(path.join(out, one?.folder ?? "", "run.json"), "utf8")),
	);
}

function sorted(messages: readonly Tapped[]): Tapped[] {
	return messages.toSorted((a, b) => a.producer - b.producer || a.sequence - b.sequence);
}
