import { expect, test } from "vitest";
import { type Crossing, makeArrival } from "./arrival.ts";

type Given = Parameters<typeof makeArrival>[0];

const queue: Given = { pattern: "work-queue", acks: false, subscriptions: 1, faults: [] };
const FAULT: Given["faults"][number] = {
	atNs: 1,
	of: "brokers",
	count: null,
	action: "kill",
	forNs: 1,
	node: 1,
	delayNs: null,
};

const counts = (parts: Partial<Crossing>): Crossing => ({
	sent: 100,
	acked: null,
	failed: 0,
	unanswered: 0,
	received: 100,
	paced: true,
	...parts,
});

function arrived(plan: Given, ...clients: (Crossing | null)[]): boolean {
	const has = makeArrival(plan);
	expect(has(clients)).toBe(false);
	return has(clients);
}

test.each<[string, Given, (Crossing | null)[], boolean]>([
	["receipts of all together", queue, [counts({ received: 20 }), counts({ received: 180 })], true],
	["one missing", queue, [counts({ received: 20 }), counts({ received: 179 })], false],
	[
		"one more than were sent: another one may still be missing",
		queue,
		[counts({ received: 21 }), counts({ received: 180 })],
		false,
	],
	["a client that still sends", queue, [counts({}), counts({ paced: false })], false],
	["a client that has told nothing", queue, [counts({}), null], false],
	[
		"messages that failed are not waited for",
		queue,
		[counts({ failed: 3, received: 97 }), counts({})],
		true,
	],
	[
		"acknowledged ones are, where there are acknowledgements",
		{ ...queue, acks: true },
		[counts({ acked: 90, failed: 10, received: 90 }), counts({ acked: 100 })],
		true,
	],
	[
		"not while one is unanswered: it may become one that was acknowledged",
		{ ...queue, acks: true },
		[counts({ acked: 99, unanswered: 1, received: 99 }), counts({ acked: 100 })],
		false,
	],
	[
		"a copy for each subscriber",
		{ ...queue, pattern: "fan-out", subscriptions: 3 },
		[counts({ received: 400 }), counts({ received: 200 })],
		true,
	],
	[
		"a copy for each subscriber, one of them missing",
		{ ...queue, pattern: "fan-out", subscriptions: 3 },
		[counts({ received: 399 }), counts({ received: 200 })],
		false,
	],
	[
		"a queue after a fault: two members may have the same message",
		{ ...queue, faults: [FAULT] },
		[counts({}), counts({})],
		false,
	],
	[
		"subscribers after a fault: each knows its own",
		{ ...queue, pattern: "fan-out", faults: [FAULT] },
		[counts({}), counts({})],
		true,
	],
])("%s", (_, plan, clients, is) => {
	expect(arrived(plan, ...clients)).toBe(is);
});

test("whatever changes within the second puts it off", () => {
	const has = makeArrival(queue);
	const all = [counts({}), counts({})];
	const moved = [counts({ received: 99 }), counts({ received: 101 })];
	expect([all, moved, all, all].map((one) => has(one))).toEqual([false, false, false, true]);
});
