import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { resultOf, run, temporaryFolder } from "../../e2e/mqbench.ts";

/** One consumer with 10 ms of work carries 100/s at most: 60/s leaves room, and at 120/s the queue grows whatever the broker does. */
const SCENARIO = `name: bound
system: { broker: nats, mode: jetstream, durability: memory, prefetch: 1 }
workload: { pattern: work-queue, rate: 60/s, message: 256B, work: 10ms, warmup: 1s, drain: 10s, find: max-rate }
sla: [p99 < 5s]
`;

test("a search on a real broker runs to its end, and does not take its consumers' limit for the broker's", async () => {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const file = path.join(folder, "bound.yaml");
	writeFileSync(file, SCENARIO);
	await run([file, "--no-floor", "--out", out]);
	const { searches, runs } = resultOf(out);
	expect(searches).toMatchObject([{ lo: 60, hi: null, limitedBy: "generator", confirmed: true }]);
	const beyond = runs.filter((one) => one.case.includes("120/s"));
	expect(beyond.length).toBe(2);
	for (const { verdict, validity } of beyond) {
		expect(verdict).toBe("invalid");
		expect(validity.find(({ check }) => check === "consumers")).toMatchObject({
			status: "invalid",
			code: "work-beyond",
			remedy: "write consumers: 2",
		});
	}
}, 1_200_000);
