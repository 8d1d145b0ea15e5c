import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { Run } from "../../model/result.ts";
import { addsUp, flat, measured, resultOf, run } from "./mqbench.ts";

/** T0 of a run's client 0. */
function t0Of(results: string, { folder }: Run): bigint {
	const [first = ""] = readFileSync(path.join(results, folder, "client-0.jsonl"), "utf8").split(
		"\n",
	);
	return BigInt(JSON.parse(first).t0UnixNs);
}

test("loads of one run have one T0, books of their own that add up with a fault, and a reader gets each message of the past once", async () => {
	const { result, results, out, code } = await measured(
		{ duration: "5s", warmup: "1s", connections: "2", topics: "2", rate: "1000/s", drain: "3s" },
		{
			system: "{ broker: nats, mode: jetstream }",
			clients: "2",
			background: [
				"{ bulk: { rate: 200/s, message: 8KiB, pattern: work-queue, consumers: 2, connections: 2, start: 1s, end: 4s, sla: [p50 < 2s] }",
				"replay: { pattern: catch-up, start: 3s, sla: [lost == 0, duplicated == 0] } }",
			].join(", "),
			faults: "[{ at: 2s, action: pause, for: 300ms }]",
			sla: "[p50 < 2s, lost == 0, { expect: failed == 0, load: bulk }]",
		},
	);
	const [main, bulk, replay] = result.runs as [Run, Run, Run];
	expect(result.runs.map((one) => one.beside?.load)).toEqual([undefined, "bulk", "replay"]);
	for (const one of result.runs) {
		addsUp(one);
		expect(one, one.case).toMatchObject({ state: "complete", lost: 0, verdict: "pass" });
	}
	expect(main).toMatchObject({ intended: 5000, warmup: { intended: 1000 } });
	expect(bulk).toMatchObject({ intended: 600, warmup: { intended: 0 } });
	const { intended, sent, acked, failed, unknown } = main;
	expect(replay).toMatchObject({ intended, sent, acked, failed, unknown, duplicated: 0 });
	expect(replay.received).toBe(acked);
	expect(replay.warmup.received).toBe(main.warmup.acked);
	// To the nanosecond: the two clocks are one.
	expect(t0Of(results, bulk) - t0Of(results, main)).toBe(2_000_000_000n);
	expect(t0Of(results, replay)).toBe(t0Of(results, main));
	expect(main.phases.map(({ name, intended }) => [name, intended])).toEqual([
		["before bulk, replay", 1000],
		["beside bulk", 2000],
		["beside bulk, replay", 1000],
		["beside replay", 1000],
	]);
	expect(result.gates.map(({ case: of, sla }) => [of, sla])).toEqual([
		[main.case, "p50 < 2s"],
		[main.case, "lost == 0"],
		[`${main.case}, bulk`, "failed == 0"],
		[`${main.case}, bulk`, "p50 < 2s"],
		[`${main.case}, bulk`, "lost == 0 (delivery: at-least-once)"],
		[`${main.case}, replay`, "lost == 0"],
		[`${main.case}, replay`, "duplicated == 0"],
	]);
	expect(flat(out)).toContain("it had caught up");
	expect((await run(["report", results])).code).toBe(code);
	expect(resultOf(results).runs).toEqual(result.runs);
});
