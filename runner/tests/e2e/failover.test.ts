import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alive, descendants } from "../../../infra/processes.fake.ts";
import { failoverOf } from "./failover.fake.ts";
import { resultOf, run, scenario, start, temporaryFolder, until } from "./mqbench.ts";

/** Under 500/s the leader of a stream is killed, and comes back after a second. */
function failover(
	system: string,
	workload: Readonly<Record<string, string>>,
	faults: string,
	sla = "[lost == 0]",
) {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const file = scenario(folder, workload, { system, faults, sla });
	return { file, out };
}

describe("the leader of a JetStream of three nodes, killed under load,", () => {
	test("and never coming back is still away at the end where there is one copy", {
		tags: "long",
	}, async () => {
		const { file, out } = failover(
			"{ broker: nats, mode: jetstream, nodes: 3, replicas: 1 }",
			{ duration: "4s", drain: "2s" },
			"[{ at: 2s, action: kill, node: leader }]",
			"[lost == 0, recovered(p99 < 1s) <= 1s]",
		);
		await run([file, "--out", out]);
		const { runs, gates } = resultOf(out);
		const [one] = runs;
		const { fault, card } = failoverOf(out);
		expect(fault).toMatchObject({ leader: true, endedNs: null, error: null });
		expect(card).toMatchObject({ unavailableStill: true, recoveredNs: null, sla: "p99 < 1s" });
		expect(gates.find(({ tally }) => tally?.name === "recovered")).toMatchObject({
			verdict: "fail",
			measured: expect.stringMatching(/^> /),
			tally: { value: null },
		});
		// Half of the messages were due after it; fewer where a busy machine kills it late.
		expect((one?.failed ?? 0) + (one?.unknown ?? 0)).toBeGreaterThan(100);
		expect(one?.acked).toBeGreaterThan(800);
	});
});

describe("mqbench that ends in mid-fault", () => {
	/** A run whose broker is killed, or paused, after a second: for a minute. */
	async function inFault(action: "kill" | "pause") {
		const { file, out } = failover(
			"nats",
			{ duration: "60s" },
			`[{ at: 1s, action: ${action}, for: 60s }]`,
		);
		const mqbench = start([file, "--out", out]);
		const said = { kill: "(SIGKILL)", pause: "(SIGSTOP)" }[action];
		await mqbench.says(/ {2}1s\//);
		await until(() => logOf(out).includes(said), said);
		return { mqbench, out, children: descendants(mqbench.pid) };
	}

	test.each(["kill", "pause"] as const)(
		"by kill -9 leaves no process (%s)",
		{ tags: "long" },
		async (action) => {
			const { mqbench, children } = await inFault(action);
			expect(children.length).toBeGreaterThanOrEqual(2);
			process.kill(mqbench.pid, "SIGKILL");
			await mqbench.ended;
			// Agent waits for its grace before it kills what does not end: a process that is stopped.
			await until(() => alive(children).length === 0, "all are gone", 40_000);
		},
	);

	describe.each<{ action: "kill" | "pause"; tags: string[] }>([
		{ action: "kill", tags: [] },
		{ action: "pause", tags: ["long"] },
	])("by Ctrl-C ($action)", ({ action, tags }) => {
		test("keeps what was measured, and says that the fault lasted to the end", {
			tags,
		}, async () => {
			const { mqbench, out, children } = await inFault(action);
			mqbench.signal("SIGINT");
			const { code, out: said } = await mqbench.ended;
			expect(code).toBe(130);
			expect(alive(children)).toEqual([]);
			const { fault } = failoverOf(out);
			expect(fault).toMatchObject({ action, endedNs: null, error: null });
			expect(said).toMatch(new RegExp(`${action} +\\S+ +to the end`));
		});
	});
});

test("a fault that cannot be done makes the run invalid, and says why", {
	tags: "long",
}, async () => {
	const { file, out } = failover(
		"nats",
		{ duration: "3s", drain: "2s" },
		"[{ at: 1s, action: kill, for: 1s }]",
	);
	const mqbench = start([file, "--out", out]);
	await until(() => logOf(out).includes("(SIGKILL)"), "the broker is killed");
	// It cannot read its configuration when it is started again.
	const conf = /Using configuration file: (\S+)/.exec(logOf(out))?.[1] ?? "";
	writeFileSync(conf, "this is no configuration {");
	const { code } = await mqbench.ended;
	expect(code).toBe(4);
	const result = resultOf(out);
	expect(result.verdict).toBe("invalid");
	expect(result.runs[0]?.validity).toContainEqual(
		expect.objectContaining({ check: "faults", status: "invalid" }),
	);
	expect(failoverOf(out).fault.error).toMatch(
		/^node 1 was started again and ended: exit code 1, last words: /,
	);
});

// --- internal ---

function logOf(out: string): string {
	try {
		const folder = path.join(out, "runs", "01-nats-256B-500-s-1");
		return readFileSync(path.join(folder, "broker.log"), "utf8");
	} catch {
		return "";
	}
}
