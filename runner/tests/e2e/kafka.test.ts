import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { alive } from "../../../infra/processes.fake.ts";
import { addsUp, measured, measuring, signal } from "./mqbench.ts";

// Without Java or Maven this says so and skips, but never in CI.
const missing = ["mvn", "java"].filter(
	(command) => spawnSync(command, ["-version"]).error !== undefined,
);
const KAFKA = { system: "{ broker: kafka, acks: all }" };

describe.skipIf(missing.length > 0 && process.env.CI !== "true")(
	`a run on Kafka${missing.length > 0 ? ` (missing: ${missing.join(", ")})` : ""}`,
	() => {
		test("a work-queue of two partitions keeps the order of each key", {
			tags: "long",
		}, async () => {
			const { run } = await measured(
				{
					pattern: "work-queue",
					consumers: "2",
					partitions: "2",
					keys: "{ distribution: random, count: 20 }",
					order: "per-key",
				},
				{ ...KAFKA, sla: "[p50 < 10s, lost == 0, duplicated == 0, reordered == 0]" },
			);
			expect(run).toMatchObject({ acked: 500, received: 500, lost: 0, reordered: 0 });
		});

		test("killed in mid-run: the run ends, every message is accounted for, and it does not pass", {
			tags: "long",
		}, async () => {
			const made = await measuring(
				{ rate: "300/s", duration: "4s", drain: "3s", timeout: "2s" },
				{ ...KAFKA, sla: "[p50 < 2s, lost == 0]" },
				// Beside other work a JVM takes half a minute to start.
				{ ms: 60_000 },
			);
			signal(made.children, "java", "SIGKILL");
			expect((await made.mqbench.ended).code).toBe(3);
			expect(alive(made.children)).toEqual([]);
			addsUp(made.run);
			expect(made.run.why).toMatch(/^kafka: the broker ended by itself \(SIGKILL\)/);
			expect((made.run.failed ?? 0) + (made.run.unknown ?? 0)).toBeGreaterThan(100);
		});
	},
);
