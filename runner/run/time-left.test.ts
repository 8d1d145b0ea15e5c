import { expect, test } from "vitest";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { timeAfter } from "./time-left.ts";

const plansOf = (workload: string) =>
	expand(
		loadScenario(
			"scenario.yaml",
			`system: nats\nrepeat: 3\nworkload: {message: 256B, ${workload}}\n`,
		),
		{ runId: "test" },
	);

test("the time of the runs that follow is their schedules', and what brokers take to start and stop", () => {
	const [first = null, ...others] = plansOf("rate: 100/s, warmup: 5s, duration: 10s");
	expect(timeAfter(first, others)).toBe(2 * 20e9);
	expect(timeAfter(first, [])).toBe(0);
});

test("of closed loads and of a search it is not known", () => {
	expect(timeAfter(null, plansOf("messages: 1000"))).toBeNull();
	const [plan] = plansOf("rate: 100/s, duration: 10s");
	if (!plan) throw new Error("another scenario");
	expect(timeAfter({ ...plan, search: { role: "probe", of: "x" } }, [])).toBeNull();
});
