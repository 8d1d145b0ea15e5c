import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import { resultOf, run, temporaryFolder } from "./mqbench.ts";

const installed = findOnPath("rabbitmq-server", process.env) !== null;
if (!installed && process.env.CI === "true")
	throw new Error("CI needs a rabbitmq-server: apt-get install rabbitmq-server");

/** One short run on a rabbitmq-server of its own; limits that a busy machine cannot breach. */
async function measure(system: string, workload: string) {
	const folder = temporaryFolder();
	const file = path.join(folder, "scenario.yaml");
	writeFileSync(
		file,
		[
			"name: rabbitmq",
			"system:",
			`  { broker: rabbitmq, ${system} }`,
			`workload: { ${workload}, message: 256B, warmup: 500ms, duration: 1s }`,
			"sla:",
			"  - lost == 0",
			"  - p50 < 25s",
		].join("\n"),
	);
	const out = path.join(folder, "out");
	const ended = await run([file, "--out", out]);
	expect(ended).toMatchObject({ code: 0, signal: null });
	const result = resultOf(out);
	expect(result.verdict).toBe("pass");
	const [one] = result.runs;
	if (!one) throw new Error("there is no run");
	return one;
}

describe.skipIf(!installed)("a run on a rabbitmq-server of its own", () => {
	test("round trip on transient queues", async () => {
		const one = await measure("durability: memory", "pattern: round-trip, rate: 500/s");
		expect(one).toMatchObject({
			intended: 500,
			sent: 500,
			acked: 500,
			received: 500,
			lost: 0,
			duplicated: 0,
			reordered: 0,
		});
		expect(one.metrics.ack?.count).toBe(500);
	});

	test("work queue on a quorum queue, shared by two consumers", async () => {
		const one = await measure(
			"durability: fsync, prefetch: 10",
			"pattern: work-queue, rate: 200/s, consumers: 2",
		);
		expect(one).toMatchObject({
			intended: 200,
			acked: 200,
			received: 200,
			duplicated: 0,
			redelivered: 0,
			// Two consumers share the queue: there is no order to keep.
			reordered: null,
		});
	});

	test("fan-out to four subscribers by pattern", async () => {
		const one = await measure(
			"durability: memory",
			"pattern: fan-out, rate: 200/s, producers: 3, topics: 3, subscriptions: 4, wildcard: true",
		);
		expect(one).toMatchObject({ intended: 200, acked: 200, received: 800, lost: 0, duplicated: 0 });
	});
});
