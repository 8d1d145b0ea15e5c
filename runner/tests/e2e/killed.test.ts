import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { alive, descendant, descendants } from "../../../infra/processes.fake.ts";
import { type Mqbench, resultOf, scenario, start, temporaryFolder, until } from "./mqbench.ts";

test("a broker killed in mid-run: the run ends, counts what was lost and failed, and does not pass", async () => {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const file = scenario(
		folder,
		{ duration: "3s", drain: "100s" },
		{ sla: "[p50 < 2s, lost == 0]" },
	);
	const began = Date.now();
	const mqbench = await measuring([file, "--out", out]);
	const children = descendants(mqbench.pid);
	kill(mqbench, "nats-server");
	const ended = await mqbench.ended;
	// 3 s and what k6 adds: nobody waits for the drain of a broker that is gone. Far below the minutes of a client library's own patience.
	expect(Date.now() - began).toBeLessThan(30_000);
	expect(ended.code).toBe(3);
	expect(alive(children)).toEqual([]);

	const result = resultOf(out);
	expect(result.verdict).toBe("error");
	const [one] = result.runs;
	if (!one) throw new Error("there is no run");
	const { intended, sent, failed, received, lost, notOffered } = one;
	expect(intended).toBe(1500);
	// No message disappears: it was received, or its fate is counted.
	expect((sent ?? 0) + (notOffered ?? 0)).toBe(intended);
	expect((received ?? 0) + (lost ?? 0) + (failed ?? 0)).toBe(sent);
	expect(received).toBeGreaterThan(100);
	expect(failed).toBeGreaterThan(100);
	expect(one.why).toMatch(
		/^nats: the broker ended by itself \(SIGKILL\), \d\.\ds after the first message was due$/,
	);
	expect(ended.out + ended.err).toContain("the broker ended by itself");
});

test("k6 killed in mid-run: exit 3, and what it had written is shown", {
	tags: "long",
}, async () => {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const file = scenario(folder, { duration: "20s" });
	const mqbench = await measuring([file, "--out", out]);
	const children = descendants(mqbench.pid);
	kill(mqbench, "k6");
	const ended = await mqbench.ended;
	expect(ended.code).toBe(3);
	expect(ended.err).toContain("k6 ended with SIGKILL");
	expect(alive(children)).toEqual([]);
	const result = resultOf(out);
	expect(result.verdict).toBe("error");
	expect(result.runs[0]?.state).toBe("crashed");
	const run = path.join(out, result.runs[0]?.folder ?? "", "run.json");
	expect(JSON.parse(readFileSync(run, "utf8"))).toMatchObject({
		k6Exit: null,
		k6Signal: "SIGKILL",
	});
});

test("agent killed in mid-run takes its command with it", { tags: "long" }, async () => {
	const folder = temporaryFolder();
	const file = scenario(folder, { duration: "20s" });
	const mqbench = await measuring([file, "--out", path.join(folder, "out")]);
	const children = descendants(mqbench.pid);
	for (const child of children) if (child.name === "agent") process.kill(child.pid, "SIGKILL");
	expect((await mqbench.ended).code).toBe(3);
	await until(() => alive(children).length === 0, "no process is left");
});

// --- internal ---

/** Starts a run, and returns when it measures. */
async function measuring(args: string[]): Promise<Mqbench> {
	const mqbench = start(args);
	await mqbench.says(/ {2}1s\/\d+s/);
	return mqbench;
}

function kill(mqbench: Mqbench, name: string): void {
	const found = descendant(mqbench.pid, name);
	if (!found) throw new Error(`${name} does not run`);
	process.kill(found.pid, "SIGKILL");
}
