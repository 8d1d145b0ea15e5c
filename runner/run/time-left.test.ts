import { describe, expect, test } from "vitest";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { makeTimeLeft } from "./time-left.ts";

const plansOf = (workload: string) =>
	expand(
		loadScenario(
			"scenario.yaml",
			`system: nats\nrepeat: 3\nworkload: {message: 256B, ${workload}}\n`,
		),
		{ runId: "test" },
	);

const left = () => {
	let ms = 0;
	return {
		made: makeTimeLeft(() => ms),
		later: (by: number) => {
			ms += by;
		},
	};
};

describe("the time of the runs that follow", () => {
	test("is their schedules', and from the second run on what runs take beside", () => {
		const { made, later } = left();
		const plans = plansOf("rate: 100/s, warmup: 5s, duration: 10s");
		made.ahead(plans);
		expect(made.after()).toBe(45e9);
		for (const [i, plan] of plans.entries()) {
			made.begin(plan);
			// 15 s of schedule, and 4 s in which a broker starts and stops.
			expect(made.after()).toBe([30e9, 19e9, 0][i]);
			later(19_000);
		}
	});

	test("of closed loads is not known", () => {
		const { made } = left();
		made.ahead(plansOf("messages: 1000"));
		expect(made.after()).toBeNull();
	});

	test("of a search nobody knows", () => {
		const { made } = left();
		const [plan] = plansOf("rate: 100/s, duration: 10s");
		if (!plan) throw new Error("another scenario");
		made.begin({ ...plan, search: { role: "probe", of: "x" } });
		expect(made.after()).toBeNull();
	});
});
