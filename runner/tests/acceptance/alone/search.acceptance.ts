import { expect, test } from "vitest";
import { measured } from "../../e2e/mqbench.ts";

test("a search on a real broker runs to its end, and does not take its consumers' limit for the broker's", async () => {
	// One consumer with 10 ms of work carries 100/s at most: 60/s leaves room, and at 120/s the queue grows whatever the broker does.
	const { result } = await measured(
		{
			pattern: "work-queue",
			rate: "60/s",
			work: "10ms",
			warmup: "1s",
			duration: "",
			drain: "10s",
			find: "max-rate",
		},
		{
			system: "{ broker: nats, mode: jetstream, durability: memory, prefetch: 1 }",
			sla: "[p99 < 5s]",
		},
		{ exit: [0, 4, 6, 99] },
	);
	expect(result.searches).toMatchObject([
		{ lo: 60, hi: null, limitedBy: "generator", confirmed: true },
	]);
	const beyond = result.runs.filter((one) => one.case.includes("120/s"));
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
