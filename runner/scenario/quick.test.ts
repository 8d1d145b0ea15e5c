import { describe, expect, test } from "vitest";
import type { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "./load.ts";
import { shorten } from "./quick.ts";

/** The one plan of a workload that --quick has shortened. */
function quick(workload: string, head = "system: noop"): Plan {
	const plans = expand(
		shorten(
			loadScenario(
				"s.yaml",
				`${head}\nworkload: { ${workload.includes("message:") ? "" : "message: 1KiB, "}${workload} }\n`,
			),
		),
		{ runId: "r" },
	);
	expect(plans.length).toBe(1);
	const [plan] = plans;
	if (!plan) throw new Error("no plan");
	return plan;
}

describe("--quick", () => {
	test("leaves 3s of the window and 1s of the warm-up, and marks the plan", () => {
		const plan = quick("rate: 100/s, duration: 30s");
		expect(plan).toMatchObject({
			quick: true,
			case: "1KiB 100/s",
			schedule: { warmupNs: 1e9, durationNs: 3e9, messages: 400 },
		});
	});

	test.each(["", "warmup: steady, "])("waits for no steady latency: %s", (written) => {
		const { schedule } = quick(`${written}rate: 100/s, duration: 30s`, "system: kafka");
		expect(schedule).toMatchObject({ warmupNs: 1e9, steady: null });
	});

	test("makes nothing longer", () => {
		const { schedule } = quick("rate: 100/s, warmup: 200ms, duration: 2s");
		expect(schedule).toMatchObject({ warmupNs: 0.2e9, durationNs: 2e9 });
	});

	test("leaves a slow rate one message", () => {
		const { schedule } = quick("rate: 6/min, warmup: 0, duration: 5min");
		expect(schedule).toMatchObject({ durationNs: 10e9, messages: 1 });
	});

	test("makes each case once, and is not strict", () => {
		const plan = quick("rate: 100/s, duration: 30s", "system: noop\nrepeat: 3\nstrict: true");
		expect(plan).toMatchObject({ repeats: 1, strict: false });
	});

	test("leaves a closed load 2000 messages, and as many in flight as it says", () => {
		const { schedule, inFlight } = quick("messages: 1000000, inFlight: 5000, duration: 10min");
		expect(schedule).toMatchObject({ durationNs: 10e9, warmupMessages: 200, messages: 2200 });
		expect(inFlight).toBe(5000);
	});

	test("leaves every producer of a closed load a message", () => {
		const { schedule } = quick("messages: 1000000, warmup: 0, producers: 3000, connections: 10");
		expect(schedule.messages).toBe(3000);
	});

	test("keeps what a closed load has of a warm-up when that is less", () => {
		const { schedule } = quick("messages: 5000, warmup: 0, duration: 5s");
		expect(schedule).toMatchObject({ warmupMessages: 0, durationNs: 5e9 });
	});

	test("shrinks steps in their proportions, to whole seconds of 1 at least", () => {
		const { phases } = quick(
			"steps: [{ rate: 100/s, duration: 10s }, { rate: 200/s, duration: 10s }, { rate: 300/s, duration: 60s }]",
		);
		expect(phases.map(({ fromNs, toNs }) => [fromNs, toNs])).toEqual([
			[0, 1e9],
			[1e9, 2e9],
			[2e9, 4e9],
		]);
	});

	test("shrinks stages, and those that nothing is due in for long less", () => {
		const { schedule } = quick(
			"rate: 100/s, warmup: 0, stages: [{ duration: 10s, target: 200/s }, { duration: 50s, target: 1/s }]",
		);
		expect(schedule.pieces.map(({ durationNs }) => durationNs)).toEqual([1e9, 2e9]);
	});

	test("leaves steps and stages alone that are short already", () => {
		const { phases } = quick(
			"steps: [{ rate: 100/s, duration: 1s }, { rate: 200/s, duration: 2s }]",
		);
		expect(phases.at(-1)?.toNs).toBe(3e9);
	});

	test("lets a second's worth pile up, and leaves a second to drain it", () => {
		const plan = quick(
			"pattern: backlog, rate: 5000/s, backlog: 50000, duration: 40s",
			"system: { broker: nats, mode: jetstream }",
		);
		expect(plan.backlog).toEqual({ pauseNs: 2e9, resumeNs: 3e9, messages: 3750 });
		expect(plan.schedule).toMatchObject({ warmupNs: 1e9, durationNs: 3e9 });
	});

	test("keeps a backlog that is short already", () => {
		const plan = quick(
			"pattern: backlog, rate: 100/s, backlog: 50, duration: 3s",
			"system: { broker: nats, mode: jetstream }",
		);
		expect(plan.backlog?.messages).toBe(50);
		expect(plan.schedule.durationNs).toBe(3e9);
	});

	test("moves faults with the window", () => {
		const { faults } = quick(
			"rate: 100/s, duration: 30s",
			"system: nats\nfaults: [{ at: 10s, action: pause, for: 1s }, { at: 20s, action: pause, for: 2s }]",
		);
		// The window begins after 1s of warm-up.
		expect(faults.map(({ atNs, forNs }) => [atNs, forNs])).toEqual([
			[2e9, 0.1e9],
			[3e9, 0.2e9],
		]);
	});

	test("searches nothing: one run at the rate where the search would begin", () => {
		const plan = quick("rate: 100/s, find: max-rate", "system: noop\nsla: [p99 < 10ms]");
		expect(plan.search).toBeNull();
		expect(plan.schedule).toMatchObject({ durationNs: 3e9, messages: 400 });
	});
});
