import { expect, test } from "vitest";
import { Plan } from "../model/plan.ts";
import { START_LEAD_NS } from "./expand.ts";
import { floors } from "./floor.ts";
import { messagesBefore } from "./offset.ts";
import { planOf, plansOf } from "./plans.fake.ts";

const plans = plansOf(`systems: { nats: nats, noop: noop }
repeat: 2
workload: { rate: 3000/s, message: 256B, duration: 10s, connections: 3, inFlight: 5 }
cases: [{ rate: 10/s }, { rate: 7/3s }]
sla: [p99 < 1ms]
`);

const LOAD = "rate: 3000/s, duration: 10s, connections: 6";
const floorOf = (clients: number, more = "", system = "nats") =>
	floors([planOf(`${LOAD}${more}`, `system: ${system}\nclients: ${clients}`)])[0] as Plan;

test("each case has one floor, whatever its systems and repeats; noop itself needs none", () => {
	expect(floors(plans).map((floor) => [floor.index, floor.case])).toEqual([
		[1, plans[0]?.case],
		[2, plans[2]?.case],
	]);
	expect(floors(plans.filter((plan) => plan.broker === "noop"))).toEqual([]);
});

test("a floor has the load of its case, on noop, without limits of any kind", () => {
	for (const floor of floors(plans)) {
		Plan.parse(floor);
		const like = plans.find((plan) => plan.case === floor.case);
		const own = { system: "noop", broker: "noop", inFlight: null, sla: [], limits: [] };
		expect(floor).toMatchObject({ ...own, connections: 3, message: like?.message });
		const { schedule } = floor;
		expect(schedule.rate).toEqual(like?.schedule.rate);
		const endNs = schedule.warmupNs + schedule.durationNs;
		expect(schedule.messages).toBe(messagesBefore(schedule, endNs));
	}
});

test("a floor is measured on the clients of its case, and lasts until all of them have begun", () => {
	const [alone, three] = [floorOf(1), floorOf(3)];
	expect(three.client).toEqual({ index: 0, count: 3 });
	expect(three.heartbeat.slotsPerSecond).toBe(300);
	expect(three.heartbeat.durationNs - alone.heartbeat.durationNs).toBe(START_LEAD_NS);
});

test("one client elsewhere is told when to begin: its floor lasts that much longer", () => {
	const plan = planOf(LOAD);
	const [here, there] = [floors([plan]), floors([plan], { alone: false })];
	// What a run has beyond its schedule.
	const { heartbeat, schedule } = plan;
	const marginNs = heartbeat.durationNs - schedule.warmupNs - schedule.durationNs;
	expect(there[0]?.heartbeat.durationNs).toBe(3.5e9 + marginNs);
	expect(here[0]?.heartbeat.durationNs).toBe(4e9);
});

test("where messages cross from client to client, each connection's floor receives what it sends", () => {
	const queue = ", pattern: work-queue, producers: 6, consumers: 3";
	const jetstream = "{ broker: nats, mode: jetstream }";
	const { topics, ...three } = floorOf(3, queue, jetstream);
	expect(three).toMatchObject({ pattern: "round-trip", consumers: 0, consumerConnections: 0 });
	expect(topics.map((topic) => topic.slice(-2))).toEqual(["-0", "-1", "-2", "-3", "-4", "-5"]);
	expect(floorOf(1, queue, jetstream)).toMatchObject({
		pattern: "work-queue",
		topics: [expect.anything()],
	});
});
