import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alive, descendants } from "../../../infra/processes.fake.ts";
import { failoverOf } from "./failover.fake.ts";
import { gone, measured, measuring, until } from "./mqbench.ts";

test("the leader of a JetStream of three nodes, killed under load and never coming back, is still away at the end where there is one copy", {
	tags: "long",
}, async () => {
	const { run, result, results } = await measured(
		{ duration: "4s", drain: "2s" },
		{
			system: "{ broker: nats, mode: jetstream, nodes: 3, replicas: 1 }",
			faults: "[{ at: 2s, action: kill, node: leader }]",
			sla: "[lost == 0, recovered(p99 < 1s) <= 1s]",
		},
		{ exit: [4, 6, 99] },
	);
	const { fault, card } = failoverOf(results);
	expect(fault).toMatchObject({ leader: true, endedNs: null, error: null });
	expect(card).toMatchObject({ unavailableStill: true, recoveredNs: null, sla: "p99 < 1s" });
	expect(result.gates.find(({ tally }) => tally?.name === "recovered")).toMatchObject({
		verdict: "fail",
		measured: expect.stringMatching(/^> /),
		tally: { value: null },
	});
	// Half of the messages were due after it; fewer where a busy machine kills it late.
	expect((run.failed ?? 0) + (run.unknown ?? 0)).toBeGreaterThan(100);
	expect(run.acked).toBeGreaterThan(800);
});

test("a consumer of two clients is killed, comes back, and two more join: nothing is lost, and it is told what it cost", {
	tags: "long",
}, async () => {
	const { run, out } = await measured(
		{
			pattern: "work-queue",
			consumers: "4",
			producers: "2",
			connections: "2",
			duration: "4s",
			drain: "4s",
		},
		{
			clients: "2",
			system: "{ broker: nats, mode: jetstream, ackWait: 1s }",
			faults:
				"[{ at: 1s, of: consumers, action: kill, count: 50%, for: 500ms }, { at: 2s, of: consumers, action: join, count: 2 }]",
			sla: "[lost == 0, served < 10s]",
		},
		// A busy machine makes the generator late.
		{ exit: [0, 4] },
	);
	expect(run).toMatchObject({ lost: 0, failed: 0, received: run.acked });
	const [killed, joined] = run.failover;
	expect(killed).toMatchObject({ of: "consumers", action: "kill", count: 2, error: null });
	expect(killed?.calledNs).toBeGreaterThanOrEqual(1e9);
	expect(killed?.endedNs).toBeGreaterThanOrEqual(1.5e9);
	expect(killed?.servedNs).toBeLessThan(10e9);
	expect(joined).toMatchObject({ action: "join", count: 2, error: null, endedNs: null });
	expect(out).toMatch(/kill of 2 consumers/);
});

describe("mqbench that ends in mid-fault", () => {
	/** A run whose broker is killed, or paused, after a second: for a minute. */
	async function inFault(action: "kill" | "pause") {
		const faults = `[{ at: 1s, action: ${action}, for: 60s }]`;
		const made = await measuring({ duration: "60s" }, { faults, sla: "[lost == 0]" });
		const said = { kill: "(SIGKILL)", pause: "(SIGSTOP)" }[action];
		await until(() => logOf(made.results).includes(said), said);
		return Object.assign(made, { children: descendants(made.mqbench.pid) });
	}

	test("by kill -9 leaves no process, not even one that is paused", { tags: "long" }, async () => {
		const { mqbench, children } = await inFault("pause");
		expect(children.length).toBeGreaterThanOrEqual(2);
		mqbench.signal("SIGKILL");
		await mqbench.ended;
		// Agent waits for its grace before it kills what does not end: a process that is stopped.
		await gone(children, 40_000);
	});

	test("by Ctrl-C keeps what was measured, and says that the fault lasted to the end", async () => {
		const { mqbench, results, children } = await inFault("kill");
		mqbench.signal("SIGINT");
		const { code, out } = await mqbench.ended;
		expect(code).toBe(130);
		expect(alive(children)).toEqual([]);
		const { fault } = failoverOf(results);
		expect(fault).toMatchObject({ action: "kill", endedNs: null, error: null });
		expect(out).toMatch(/kill +\S+ +to the end/);
	});
});

// --- internal ---

function logOf(results: string): string {
	try {
		return readFileSync(path.join(results, "runs/01-nats-256B-500-s-1/broker.log"), "utf8");
	} catch {
		return "";
	}
}
