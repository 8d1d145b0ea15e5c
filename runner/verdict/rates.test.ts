import { describe, expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import { achievedText, ratesOf } from "./rates.ts";

const stored = collect(firstRun(fixture("repeats")));

/** The stored run as a closed loop of 1000 acknowledged messages, with these times. */
function closed(totals: object, window: object = {}) {
	if (!stored.totals || !stored.counters.window) throw new Error("another fixture");
	return ratesOf({
		...stored,
		plan: { ...stored.plan, schedule: { ...stored.plan.schedule, kind: "closed", rate: null } },
		counters: {
			...stored.counters,
			window: {
				...stored.counters.window,
				sent: 1000,
				acked: 1000,
				failed: 0,
				unknown: 0,
				received: 990,
				...window,
			},
		},
		totals: {
			...stored.totals,
			firstSendNs: 1e9,
			lastAckNs: 3e9,
			firstReceiveNs: 1.5e9,
			lastReceiveNs: 3.5e9,
			...totals,
		},
	});
}

test("a generator that could not keep up says which rate it achieved", () => {
	if (!stored.totals) throw new Error("another fixture");
	const seconds = stored.plan.schedule.durationNs / 1e9;
	const late = { ...stored, totals: { ...stored.totals, sentInWindow: 400 * seconds } };
	expect(achievedText(late)).toBe(" (it achieved 400/s of 500/s)");
	for (const other of [stored, { ...late, state: "aborted" as const }, { ...stored, totals: null }])
		expect(achievedText(other)).toBe("");
});

describe("rates of a closed loop", () => {
	test.each([
		["acknowledged: from the first send call to the last ack", {}, {}, 500, 495],
		[
			"not acknowledged: to the last receipt, less those that failed",
			{ lastAckNs: null },
			{ acked: null, failed: 100 },
			900 / 2.5,
			495,
		],
		[
			"only published: nothing received",
			{ firstReceiveNs: null, lastReceiveNs: null },
			{ received: null },
			500,
			null,
		],
		["of one receipt: no time between first and last", { lastReceiveNs: 1.5e9 }, {}, 500, null],
		[
			"of nothing",
			{ firstSendNs: null, lastAckNs: null, firstReceiveNs: null, lastReceiveNs: null },
			{},
			null,
			null,
		],
	])("%s", (_, totals, window, sent, received) => {
		const found = closed(totals, window);
		expect(found.sent).toBe(sent);
		expect(found.received).toBe(received);
		expect(found.achieved).toBeNull();
		expect(found.sentHow === null).toBe(sent === null);
		expect(found.receivedHow === null).toBe(received === null);
	});
});
