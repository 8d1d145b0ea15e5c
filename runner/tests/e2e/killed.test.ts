import { expect, test } from "vitest";
import { alive } from "../../../infra/processes.fake.ts";
import { addsUp, gone, measuring, signal } from "./mqbench.ts";

test("a broker killed in mid-run: the run ends, counts what was lost and failed, and does not pass", async () => {
	const began = Date.now();
	const made = await measuring({ duration: "3s", drain: "100s" }, { sla: "[p50 < 2s, lost == 0]" });
	const { mqbench, children } = made;
	signal(children, "nats-server", "SIGKILL");
	const ended = await mqbench.ended;
	// 3 s and what k6 adds: there is no drain for a broker that is gone. Far below the minutes of a client library's own patience.
	expect(Date.now() - began).toBeLessThan(30_000);
	expect(ended.code).toBe(3);
	expect(alive(children)).toEqual([]);
	expect(made.result.verdict).toBe("error");
	const { run } = made;
	addsUp(run);
	expect(run.intended).toBe(1500);
	// It was received, or what became of it is counted.
	expect((run.received ?? 0) + (run.lost ?? 0) + (run.failed ?? 0)).toBe(run.sent);
	expect(run.received).toBeGreaterThan(100);
	expect(run.failed).toBeGreaterThan(100);
	expect(run.why).toMatch(
		/^nats: the broker ended by itself \(SIGKILL\), \d\.\ds after the first message was due$/,
	);
	expect(ended.out + ended.err).toContain("the broker ended by itself");
});

test("k6 killed in mid-run: exit 3, and what it had written is shown", {
	tags: "long",
}, async () => {
	const made = await measuring({ duration: "20s" });
	signal(made.children, "k6", "SIGKILL");
	const ended = await made.mqbench.ended;
	expect(ended.code).toBe(3);
	expect(ended.err).toContain("k6 ended with SIGKILL");
	expect(alive(made.children)).toEqual([]);
	expect(made.result.verdict).toBe("error");
	expect(made.run.state).toBe("crashed");
	expect(made.runFile).toMatchObject({ k6Exit: null, k6Signal: "SIGKILL" });
});

test("agent killed in mid-run takes its command with it", { tags: "long" }, async () => {
	const { mqbench, children } = await measuring({ duration: "20s" });
	for (const child of children) if (child.name === "agent") process.kill(child.pid, "SIGKILL");
	expect((await mqbench.ended).code).toBe(3);
	await gone(children);
});
