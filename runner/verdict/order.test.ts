import { expect, test } from "vitest";
import { type Any, counters, judged } from "./judged.fake.ts";
import { orderUnit } from "./tally.ts";

const reordered = (plan: object) =>
	judged("healthy", {
		plan: (p: Any) => {
			Object.assign(p, plan);
			p.sla = [
				{
					kind: "tally",
					text: "reordered == 0",
					tally: "reordered",
					op: "==",
					limit: 0,
					abort: false,
				},
			];
		},
		lines: (all) => {
			counters(all, "warmup").reordered = 1;
			counters(all, "window").reordered = 2;
			return undefined;
		},
	}).judgements[0];

test.each([
	[
		"by key",
		{ keys: { distribution: "zipf", count: 10, seed: 1 } },
		"3 reordered (by producer and key) in warm-up and window (1 of them in the warm-up); the SLA asks for exactly 0",
	],
	[
		"by partition",
		{ partitions: 4 },
		"3 reordered (by producer and partition) in warm-up and window (1 of them in the warm-up); the SLA asks for exactly 0",
	],
	[
		"on one topic",
		{},
		"3 reordered in warm-up and window (1 of them in the warm-up); the SLA asks for exactly 0",
	],
])("what was overtaken is counted %s, and the gate says so", (_, plan, why) => {
	expect(reordered(plan)).toMatchObject({ verdict: "fail", why });
});

test("keys decide before partitions, and each subscriber has an order of its own", () => {
	const of = { pattern: "fan-out" as const, partitions: 4, keys: {} };
	expect(orderUnit(of)).toBe("by producer and key, at each subscriber");
});
