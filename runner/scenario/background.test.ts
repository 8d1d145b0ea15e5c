import { describe, expect, test } from "vitest";
import type { Plan } from "../model/plan.ts";
import { derivePlan } from "../plan/derive.ts";
import { floors } from "../plan/floor.ts";
import { messagesBefore } from "../plan/offset.ts";
import { plansOf } from "../plan/plans.fake.ts";
import { loadScenario } from "./load.ts";
import { shorten } from "./quick.ts";

const plans = (
	background: string,
	rest = "",
	workload = "rate: 1000/s, duration: 60s, warmup: 5s",
) =>
	plansOf(`system: nats
workload: { message: 256B, ${workload} }
background: ${background}
${rest}`);

const S = 1e9;

describe("churn", () => {
	const churn = (rest: string) =>
		plansOf(`system: nats\nworkload: { message: 256B, rate: 1000/s, duration: 60s }\n${rest}`);

	test("is a load of new connections in background, with SLA lines like any", () => {
		const written = churn(
			"background: { churn: { pattern: connect, rate: 50/s, hold: 1000, message: 64B } }\nsla: [{ expect: p99 < 20ms, load: churn }]",
		);
		expect(
			churn("churn: { connect: 50/s, hold: 1000 }\nsla: [{ expect: p99 < 20ms, load: churn }]"),
		).toEqual(written);
		expect(written[1]).toMatchObject({
			pattern: "connect",
			hold: 1000,
			case: "256B 1000/s, churn",
		});
		expect(written[1]?.sla).toHaveLength(1);
		expect(churn("churn: { connect: 50/s }")[1]).toMatchObject({ hold: 0, inFlight: 1000 });
	});

	test("stands beside other loads", () => {
		const all = churn(
			"background: { bulk: { rate: 5/s, message: 1KiB } }\nchurn: { connect: 50/s }",
		);
		expect(all.map(({ beside }) => beside?.load)).toEqual([undefined, "bulk", "churn"]);
	});
});

describe("a load beside another", () => {
	test("has a plan of its own, that follows the run's and names it", () => {
		const all = plans(
			"{ bulk: { rate: 500/s, message: 64KiB, pattern: work-queue }, chat: { rate: 10/s, message: 48B } }",
			"repeat: 2",
		);
		expect(
			all.map((plan) => [plan.index, plan.case, plan.repeat, plan.loads, plan.beside]),
		).toEqual(
			[1, 2].flatMap((repeat) => {
				const index = 3 * repeat - 2;
				return [
					[index, "256B 1000/s", repeat, 3, null],
					[index + 1, "256B 1000/s, bulk", repeat, 3, { index, load: "bulk", startNs: 0 }],
					[index + 2, "256B 1000/s, chat", repeat, 3, { index, load: "chat", startNs: 0 }],
				];
			}),
		);
		expect(all[1]).toMatchObject({ pattern: "work-queue", message: { bytes: 65_536 } });
	});

	test("waits as long for its last messages, unless it says how long", () => {
		const [, a, b] = plans(
			"{ a: { rate: 1/s, message: 48B }, b: { rate: 1/s, message: 48B, drain: 7s } }",
			"",
			"rate: 1000/s, duration: 60s, drain: 3s",
		);
		expect([a?.drainNs, a?.timeoutNs, b?.drainNs]).toEqual([3 * S, 3 * S, 7 * S]);
	});

	test("shares no topic and no run number with the others", () => {
		const all = plans("{ bulk: { rate: 500/s, message: 1KiB, topics: 2, producers: 2 } }");
		const topics = all.flatMap((plan) => plan.topics);
		expect(new Set(topics).size).toBe(topics.length);
		expect(new Set(all.map(({ runNumber }) => runNumber)).size).toBe(all.length);
	});

	test.each([
		// As long as the main load, with its warm-up; from its start, which counts from the main load's window, to its end, without one.
		["rate: 500/s", [0, 5, 60, 32_500]],
		["rate: 500/s, start: 20s, end: 50s", [25, 0, 30, 15_000]],
		// The duration of a closed load is a limit.
		["messages: 1000", [0, 0, 65, 1100]],
		["messages: 1000, start: 20s", [25, 0, 40, 1100]],
	])(
		"%s: begins after, warms up for and lasts so many seconds, and sends so many messages: %j",
		(load, expected) => {
			const [, { schedule, beside }] = plans(`{ bulk: { message: 1KiB, ${load} } }`) as [
				Plan,
				Plan,
			];
			const { warmupNs, durationNs, messages } = schedule;
			const seconds = [beside?.startNs ?? -S, warmupNs, durationNs].map((ns) => ns / S);
			expect([...seconds, messages]).toEqual(expected);
			if (warmupNs === 0 && schedule.kind === "constant")
				expect(messagesBefore(schedule, 0)).toBe(0);
		},
	);

	test.each([
		[
			"{ a: { rate: 1/s, message: 48B, start: 20s, end: 50s } }",
			["before a", "beside a", "after a"],
			[0, 20, 50, 60],
		],
		["{ a: { rate: 1/s, message: 48B, start: 20s } }", ["before a", "beside a"], [0, 20, 60]],
		["{ a: { rate: 1/s, message: 48B, duration: 20s } }", ["beside a", "after a"], [0, 20, 60]],
		[
			"{ a: { rate: 1/s, message: 48B, start: 10s, duration: 20s }, b: { rate: 1/s, message: 48B, start: 20s, end: 40s } }",
			["before a, b", "beside a", "beside a, b", "beside b", "after a, b"],
			[0, 10, 20, 30, 40, 60],
		],
		["{ a: { rate: 1/s, message: 48B } }", [], []],
	])("%s divides the main load's window", (background, names, edges) => {
		const phases = plans(background)[0]?.phases ?? [];
		expect(phases.map(({ name }) => name)).toEqual(names);
		const from = phases.map(({ fromNs }) => fromNs / S);
		const to = phases.map(({ toNs }) => toNs / S);
		expect([from, to]).toEqual([edges.slice(0, -1), edges.slice(1)]);
	});

	test("leaves the steps of the main load as they are", () => {
		const steps = "steps: [{ rate: 100/s, duration: 10s }, { rate: 200/s, duration: 10s }]";
		const [main] = plans("{ a: { rate: 1/s, message: 48B, start: 5s } }", "", steps);
		expect(main?.phases.map(({ name }) => name)).toEqual(["step 1: 100/s", "step 2: 200/s"]);
	});

	test("keeps every k6 going until the last load has ended and drained", () => {
		const all = plans("{ bulk: { rate: 500/s, message: 1KiB, duration: 5s, drain: 60s } }");
		expect(new Set(all.map(({ heartbeat }) => JSON.stringify(heartbeat))).size).toBe(1);
		// 65 s of load, 2 s of margin, 3 s until T0; the longest drain and 30 s.
		expect(all[0]?.heartbeat).toMatchObject({ durationNs: 70 * S, gracefulStopNs: 90 * S });
	});

	test("has the faults after its start, by its own T0", () => {
		const [main, bulk] = plans(
			"{ bulk: { rate: 500/s, message: 1KiB, start: 20s } }",
			`faults:
  - { at: 10s, action: pause, for: 1s }
  - { at: 30s, action: pause, for: 1s }`,
		);
		expect(main?.faults.map(({ atNs }) => atNs)).toEqual([15 * S, 35 * S]);
		expect(bulk?.faults.map(({ atNs }) => atNs)).toEqual([10 * S]);
	});

	test("has only SLA lines of its own, and the main load none of them", () => {
		const all = plansOf(`system: nats
workload: { rate: 1000/s, duration: 60s }
cases: [{ message: 256B }, { message: 1KiB }]
background: { bulk: { rate: 500/s, message: 1KiB, sla: [lost == 0] } }
sla:
  - p99 < 10ms
  - { expect: p99 < 50ms, load: bulk }
  - { expect: max < 1s, load: bulk, case: 1KiB }
`);
		expect(all.map((plan) => [plan.case, plan.sla.map(({ text }) => text)])).toEqual([
			["256B", ["p99 < 10ms"]],
			["256B, bulk", ["p99 < 50ms", "lost == 0"]],
			["1KiB", ["p99 < 10ms"]],
			["1KiB, bulk", ["p99 < 50ms", "max < 1s", "lost == 0"]],
		]);
	});

	test("is not chosen by --only: its run is", () => {
		const text = `systems: { a: nats, b: nats }
workload: { rate: 1000/s, message: 256B, duration: 60s }
background: { bulk: { rate: 500/s, message: 1KiB } }`;
		expect(plansOf(text, "b/*").map((plan) => `${plan.system}/${plan.case}`)).toEqual([
			"b/256B 1000/s",
			"b/256B 1000/s, bulk",
		]);
		expect(() => plansOf(text, "b/*bulk")).toThrow("matches no run");
	});

	test("shrinks with the main load in --quick", () => {
		const scenario = loadScenario(
			"s.yaml",
			`system: nats
workload: { rate: 1000/s, message: 256B, duration: 60s }
background: { bulk: { rate: 500/s, message: 1KiB, start: 20s, end: 40s }, chat: { rate: 10/s, message: 48B } }`,
		);
		const [main] = shorten(scenario).cases;
		expect(main?.background.map(({ startNs, schedule }) => [startNs, schedule.durationNs])).toEqual(
			[
				[2 * S, 2 * S],
				[0, 3 * S],
			],
		);
		expect(main?.phases.map(({ name, toNs }) => [name, toNs])).toEqual([
			["beside chat", S],
			["beside bulk, chat", 3 * S],
		]);
	});
});

describe("a catch-up", () => {
	const all = plansOf(`systems: { js: { broker: nats, mode: jetstream }, kafka: kafka }
clients: 2
workload: { rate: 1000/s, message: 256B, duration: 60s, pattern: work-queue, consumers: 4, connections: 4, topics: 2 }
background: { replay: { pattern: catch-up, start: 20s, consumerConnections: 2 } }
faults: [{ at: 10s, action: pause, for: 1s }, { at: 30s, action: pause, for: 1s }]
`);

	test.each(["js", "kafka"])(
		"has the topics, messages and T0 of the main load on %s, and one client",
		(system) => {
			const [main, replay] = all.filter((plan) => plan.system === system) as [Plan, Plan];
			const { topics, runNumber, schedule, message, producers, partitions, faults } = main;
			expect(replay).toMatchObject({
				topics,
				runNumber,
				schedule,
				message,
				producers,
				partitions,
				faults,
				pattern: "catch-up",
				beside: { index: main.index, load: "replay", startNs: 25 * S },
				client: { index: 0, count: 1 },
				consumers: 0,
				consumerConnections: 2,
				ledger: false,
				limits: [],
			});
			expect(main).toMatchObject({ ledger: true, client: { count: 2 } });
			expect(main.phases.map(({ name }) => name)).toEqual(["before replay", "beside replay"]);
			expect(replay.heartbeat.durationNs).toBe(main.heartbeat.durationNs);
			expect(replay.sla.map(({ text }) => text)).toContain("lost == 0 (delivery: at-least-once)");
		},
	);

	test("keeps the main load's messages when both are derived", () => {
		const [main, replay] = all as [Plan, Plan];
		const again = derivePlan(main, { index: 7 });
		const { beside } = replay;
		const other = derivePlan(replay, { index: 8, beside: beside && { ...beside, index: 7 } });
		expect(other).toMatchObject({ topics: again.topics, runNumber: again.runNumber });
		expect(again.topics).not.toEqual(main.topics);
	});

	test.each([
		"",
		"pattern: backlog, backlog: 5000, ",
		"steps: [{ rate: 10/s, duration: 30s }, { rate: 20/s, duration: 30s }], ",
	])("has the main load's schedule in --quick, too: %s", (load) => {
		const times = load.startsWith("steps") ? "" : "rate: 1000/s, duration: 60s, ";
		const scenario = loadScenario(
			"s.yaml",
			`system: { broker: nats, mode: jetstream }
workload: { ${load}${times}message: 256B }
background: { replay: { pattern: catch-up, start: 20s } }`,
		);
		const [main] = shorten(scenario).cases;
		const [replay] = main?.background ?? [];
		expect(replay?.schedule).toEqual(main?.schedule);
		const { warmupNs = 0, durationNs = 0 } = main?.schedule ?? {};
		expect(replay?.startNs).toBeLessThan(warmupNs + durationNs);
	});

	test("has no floor, because it sends nothing", () => {
		expect(floors(all).map((plan) => plan.case)).toEqual(["256B 1000/s"]);
	});
});
