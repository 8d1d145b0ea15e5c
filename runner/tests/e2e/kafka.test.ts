import { expect, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import { measured } from "./mqbench.ts";

// Without Java or Maven this says so and skips, but never in CI.
const missing = ["mvn", "java"].filter((name) => findOnPath(name, process.env) === null);

test.skipIf(missing.length > 0 && process.env.CI !== "true")(
	`a work-queue of two partitions on Kafka keeps the order of each key${missing.length > 0 ? ` (missing: ${missing.join(", ")})` : ""}`,
	{ tags: "long" },
	async () => {
		const { run } = await measured(
			{
				pattern: "work-queue",
				consumers: "2",
				partitions: "2",
				keys: "{ distribution: random, count: 20 }",
				order: "per-key",
				message: "{ 256B: 80%, 4KiB: 15%, 2MiB: 5% }",
				rate: "200/s",
				duration: "2500ms",
			},
			{
				system: "{ broker: kafka, acks: all }",
				sla: "[p50 < 10s, lost == 0, duplicated == 0, reordered == 0]",
			},
		);
		expect(run).toMatchObject({ acked: 500, received: 500, lost: 0, reordered: 0, foreign: 0 });
		expect(run.sizes?.reduce((all, { count }) => all + count, 0)).toBe(500);
	},
);
