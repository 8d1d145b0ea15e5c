import { expect, test } from "vitest";
import { Plan } from "../model/plan.ts";
import { loadScenario } from "../scenario/load.ts";
import { expand, START_LEAD_NS } from "./expand.ts";
import { floors } from "./floor.ts";
import { messagesBefore } from "./offset.ts";

const plans = expand(
	loadScenario(
		"scenario.yaml",
		`systems: { nats: nats, noop: noop }
repeat: 2
workload: { rate: 3000/s, message: 256B, duration: 10s, connections: 3, inFlight: 5 }
cases: [{ rate: 10/s }, { rate: 7/3s }]
sla: [p99 < 1ms]
`,
	),
	{ runId: "test" },
);

test("each case has one floor, whatever its systems and repeats", () => {
	expect(floors(plans).map((floor) => [floor.index, floor.case])).toEqual([
		[1, plans[0]?.case],
		[2, plans[2]?.case],
	]);
});

test("a floor has the load of its case, on noop, without limits of any kind", () => {
	for (const floor of floors(plans)) {
		Plan.parse(floor);
		const like = plans.find((plan) => plan.case === floor.case);
		expect(floor).toMatchObject({
			system: "noop",
			broker: "noop",
			inFlight: null,
			sla: [],
			limits: [],
			connections: 3,
		});
		expect(floor.schedule.rate).toEqual(like?.schedule.rate);
		expect(floor.message).toEqual(like?.message);
		expect(floor.schedule.messages).toBe(
			messagesBefore(floor.schedule, floor.schedule.warmupNs + floor.schedule.durationNs),
		);
	}
});

test("a floor is measured on the clients of its case, and lasts until all of them have begun", () => {
	const of = (clients: number, workload: string) => {
		const made = expand(
			loadScenario(
				"scenario.yaml",
				`system: nats\nclients: ${clients}\nworkload: { rate: 3000/s, message: 256B, duration: 10s, connections: 6, ${workload} }\n`,
			),
			{ runId: "test" },
		);
		const [floor] = floors(made);
		if (!floor) throw new Error("no floor");
		return floor;
	};
	const [alone, three] = [of(1, ""), of(3, "")];
	expect(three.client).toEqual({ index: 0, count: 3 });
	expect(three.heartbeat.slotsPerSecond).toBe(300);
	expect(three.heartbeat.durationNs - alone.heartbeat.durationNs).toBe(START_LEAD_NS);
	// Noop takes no message from one client to another.
	const queue = "pattern: work-queue, consumers: 3";
	expect(of(1, queue).pattern).toBe("work-queue");
	expect(of(3, queue)).toMatchObject({
		pattern: "round-trip",
		consumers: 0,
		consumerConnections: 0,
	});
});

test("one client elsewhere is told when to begin: its floor lasts that much longer", () => {
	const made = expand(
		loadScenario(
			"scenario.yaml",
			"system: nats\nworkload: { rate: 3000/s, message: 256B, duration: 10s }\n",
		),
		{ runId: "test" },
	);
	const [here, there] = [floors(made), floors(made, { alone: false })];
	// What a run of its own has beyond its schedule.
	const { heartbeat, schedule } = made[0] as Plan;
	const marginNs = heartbeat.durationNs - schedule.warmupNs - schedule.durationNs;
	expect(there[0]?.heartbeat.durationNs).toBe(3.5e9 + marginNs);
	expect(here[0]?.heartbeat.durationNs).toBe(4e9);
});

test("noop itself is its floor", () => {
	expect(floors(plans.filter((plan) => plan.broker === "noop"))).toEqual([]);
});

test("where messages cross from client to client, each connection's floor receives what it sends", () => {
	const of = (clients: number) =>
		floors(
			expand(
				loadScenario(
					"scenario.yaml",
					`system: { broker: nats, mode: jetstream }\nclients: ${clients}\nworkload: { pattern: work-queue, rate: 300/s, message: 256B, duration: 10s, producers: 6, connections: 3, consumers: 3 }\n`,
				),
				{ runId: "test" },
			),
		)[0];
	expect(of(3)).toMatchObject({
		pattern: "round-trip",
		consumers: 0,
		consumerConnections: 0,
		topics: [
			expect.stringMatching(/-0$/),
			expect.stringMatching(/-1$/),
			expect.stringMatching(/-2$/),
		],
	});
	expect(of(1)?.topics).toHaveLength(1);
});
