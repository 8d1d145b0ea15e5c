import { describe, expect, test } from "vitest";
import { tickOf } from "./fleet.fake.ts";
import { mergeProgress } from "./merge-progress.ts";
import type { Tick } from "./progress-line.ts";

const tick = (at: number, parts: Partial<Tick> = {}): Tick =>
	tickOf({ at, sent: 10, received: 9, over: [0, 0], ...parts });

function merged(clients = 3) {
	const ticks: Tick[] = [];
	return { ...mergeProgress(clients, (one) => void ticks.push(one)), ticks };
}

describe("a second of several clients", () => {
	test("is told once all have told of it, in the order of time", () => {
		const { tick: tell, ticks } = merged();
		tell(0, tick(1));
		tell(1, tick(1));
		expect(ticks).toEqual([]);
		tell(2, tick(1));
		for (const i of [2, 1, 0]) tell(i, tick(2));
		expect(ticks.map(({ at }) => at)).toEqual([1, 2]);
	});

	test("has the sums of what was counted, and of percentiles the worst", () => {
		const { tick: tell, ticks } = merged();
		const of = (n: number, parts: Partial<Tick>) =>
			tick(1, {
				sent: n,
				received: 2 * n,
				acked: 3 * n,
				failed: 5 * n,
				duplicated: 6 * n,
				over: [7 * n, 8 * n],
				...parts,
			});
		tell(0, of(1, { p50: 900, p99: 1000, window: { count: 100, p50: 9, p99: 10, max: 40 } }));
		tell(1, of(10, { p50: 800, p99: 3000, window: { count: 60, p50: 8, p99: 20, max: 90 } }));
		tell(2, of(100, { p50: null, p99: null }));
		expect(ticks).toEqual<Tick[]>([
			{
				...of(111, { p50: 900, p99: 3000, window: { count: 160, p50: 9, p99: 20, max: 90 } }),
				merged: { clients: 3, silent: [], fewest: 60 },
			},
		]);
	});

	test("has no acknowledgements where a client has none, and no percentiles where nobody has", () => {
		const { tick: tell, ticks } = merged(2);
		tell(0, tick(1, { acked: 5, p50: null, p99: null }));
		tell(1, tick(1, { acked: null, p50: null, p99: null }));
		expect(ticks[0]).toMatchObject({ acked: null, p50: null, p99: null, window: null });
	});

	test("is told without a client that is a second late, by name; its counts follow, and none is missed", () => {
		const { tick: tell, ticks } = merged();
		tell(0, tick(1));
		tell(1, tick(1, { failed: 2 }));
		expect(ticks).toEqual([]);
		tell(0, tick(2, { failed: 3 }));
		expect(ticks[0]).toMatchObject({ at: 1, sent: 20, failed: 2, merged: { silent: [2] } });
		tell(2, tick(1, { failed: 1 }));
		expect(ticks).toHaveLength(1);
		for (const i of [1, 2]) tell(i, tick(2, { failed: 3 }));
		expect(ticks[1]).toMatchObject({
			at: 2,
			sent: 40,
			received: 36,
			failed: 9,
			merged: { silent: [] },
		});
		expect(ticks).toHaveLength(2);
	});

	test("waits for nobody who has ended, whose counts since the start stay", () => {
		const { tick: tell, gone, ticks } = merged(2);
		tell(0, tick(1, { failed: 4, over: [2, 1] }));
		tell(1, tick(1));
		gone(0);
		tell(1, tick(2, { failed: 1, over: [1, 0] }));
		expect(ticks[1]).toMatchObject({
			at: 2,
			sent: 10,
			failed: 5,
			over: [3, 1],
			merged: { silent: [] },
		});
		tell(1, tick(3));
		expect(ticks).toHaveLength(3);
	});

	test("comes when the last one that was waited for ends instead", () => {
		const { tick: tell, gone, ticks } = merged(2);
		tell(0, tick(1));
		gone(1);
		expect(ticks.map(({ at }) => at)).toEqual([1]);
	});

	test("says whose results cannot be written", () => {
		const { tick: tell, ticks } = merged(2);
		tell(0, tick(1));
		tell(1, tick(1, { error: "no space left" }));
		expect(ticks[0]?.error).toBe("client 1: no space left");
	});
});
