import { deflateSync, inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { seeded } from "../histogram/random.fake.ts";
import type { Plan } from "../model/plan.ts";
import { offsetNs } from "../plan/offset.ts";
import { planOf, steady } from "./built.fake.ts";
import { setOf } from "./ledger.fake.ts";
import { countLedgers } from "./ledger.ts";
import { countBoth, type LedgerSet } from "./ledger-bits.ts";

const crossing = (changes: Parameters<typeof planOf>[0]) =>
	planOf({ pattern: "work-queue", consumers: 2, client: { index: 0, count: 2 }, ...changes });

describe("ledgers of all clients together", () => {
	test("tell what was lost, by hand", () => {
		// Messages 0 .. 9 of two producers: 0, 2, 4, 6, 8 of producer 0, the others of producer 1. The first two are the warm-up.
		const plan = crossing({
			acks: true,
			producers: 2,
			schedule: { ...steady(1, 2, 8), rate: { messages: 1, perNs: 1e9 } },
		});
		const counted = countLedgers(plan, [
			[
				setOf("tried", 0, [0, 1, 2, 3, 4]),
				setOf("acked", 0, [0, 1, 2]),
				setOf("failed", 0, [3]),
				// Of the other client's messages: 3 and 5.
				setOf("received", 1, [1, 2]),
				setOf("received", 0, [3]),
			],
			[
				setOf("tried", 1, [0, 1, 2]),
				setOf("acked", 1, [0, 1, 2]),
				// Message 4, never acknowledged message 8, and message 3 once more.
				setOf("received", 0, [2, 4]),
				setOf("received", 1, [1]),
			],
		]);
		expect(counted.warmup).toEqual({
			sent: 2,
			acked: 2,
			failed: 0,
			received: 0,
			delivered: 0,
			lost: 2,
			failedReceived: 0,
			unackedReceived: 0,
			duplicated: 0,
			strange: 0,
		});
		expect(counted.window).toEqual({
			sent: 6,
			acked: 4,
			failed: 1,
			// 3, 4, 5, 6 (failed) and 8 (never acknowledged).
			received: 5,
			delivered: 3,
			lost: 1,
			failedReceived: 1,
			unackedReceived: 1,
			duplicated: 1,
			strange: 0,
		});
		expect(counted.firstLost).toEqual({ producer: 0, sequence: 0, intendedNs: 0 });
		expect(counted.firstDuplicated).toEqual({ producer: 1, sequence: 1, intendedNs: 3e9 });
	});

	test("owe nothing of what may not have left", () => {
		const plan = crossing({ producers: 1, schedule: steady(5, 0, 1) });
		const { window } = countLedgers(plan, [
			[setOf("tried", 0, [0, 1, 2, 3]), setOf("unknown", 0, [1, 2])],
			[setOf("received", 0, [0, 1])],
		]);
		expect(window).toMatchObject({
			sent: 4,
			received: 2,
			delivered: 1,
			lost: 1,
			unackedReceived: 1,
		});
	});

	test("agree with sets of numbers, whatever they hold, and add up", () => {
		for (let seed = 0; seed < 100; seed++) {
			const { plan, ledgers } = drawn(seed);
			const counted = countLedgers(plan, ledgers);
			expect([seed, counted]).toEqual([seed, slowly(plan, ledgers)]);
			const each = plan.pattern === "fan-out" ? plan.subscriptions : 1;
			for (const c of [counted.warmup, counted.window]) {
				expect(c.received).toBe(c.delivered + (c.unackedReceived ?? 0) + c.failedReceived);
				expect(c.delivered + c.lost).toBe(each * (c.acked ?? c.sent - c.failed));
			}
		}
	});
});

test("more than 2^32 sequences of a producer are counted", () => {
	// Unwritten pages take no memory.
	const bits = new Uint32Array(2 ** 27 + 4);
	bits[2 ** 27 - 1] = 0x8000_0000;
	bits[2 ** 27] = 0b101;
	bits[2 ** 27 + 1] = 1;
	expect(countBoth(bits, bits, 2 ** 32 - 64, 2 ** 32 + 96)).toBe(4);
	expect(countBoth(bits, bits, 2 ** 32, 2 ** 32 + 32)).toBe(2);
	expect(countBoth(bits, bits, 2 ** 32 + 1, 2 ** 32 + 3)).toBe(1);
});

describe("a set that is not what it says", () => {
	const plan = crossing({ producers: 1, schedule: steady(10, 0, 1) });
	const one = (set: Partial<LedgerSet>) => () =>
		countLedgers(plan, [[{ ...setOf("tried", 0, [0, 1, 2]), ...set }]]);

	test.each([
		[{ count: 4 }, /has 3 members where its line says 4/],
		[{ bits: "" }, /set "tried" of producer 0 cannot be read/],
		[setOf("tried", 0, [10]), /names messages that the plan does not have/],
		[setOf("tried", 0, [77]), /names messages that the plan does not have/],
		[{ producer: 1 }, /names producer 1, which the plan does not have/],
		[{ subscriber: 1 }, /names subscriber 1, which the plan does not have/],
		// Inflates from a few bytes to fill the memory.
		[{ bits: deflateSync(Buffer.alloc(1e6)).toString("base64") }, /cannot be read/],
	])("is refused (%#)", (set, message) => {
		expect(one(set)).toThrow(message);
	});
});

/** Ledgers of 1 to 4 clients: whatever may happen to a message, at random. */
function drawn(seed: number): { plan: Plan; ledgers: LedgerSet[][] } {
	const next = seeded(seed);
	const below = (n: number) => Math.floor(next() * n);
	const clients = 1 + below(4);
	const producers = 1 + below(5);
	const fanOut = below(3) === 0;
	const subscribers = fanOut ? 1 + below(3) : 1;
	const acks = below(2) === 0;
	const perSecond = 1 + below(90);
	const plan = crossing({
		acks,
		producers,
		...(fanOut ? { pattern: "fan-out" as const, subscriptions: subscribers, consumers: 0 } : {}),
		client: { index: 0, count: clients },
		schedule: steady(perSecond, below(2), 1 + below(2)),
	});
	const ledgers: LedgerSet[][] = Array.from({ length: clients }, () => []);
	for (let p = 0; p < producers; p++) {
		const tried: number[] = [];
		const [acked, failed]: [number[], number[]] = [[], []];
		const received = ledgers.map(() => Array.from({ length: subscribers }, (): number[] => []));
		for (let i = p; i < plan.schedule.messages; i += producers) {
			const s = (i - p) / producers;
			if (below(10) === 0) continue;
			tried.push(s);
			const fate = below(10);
			if (fate === 0) failed.push(s);
			else if (acks && fate > 1) acked.push(s);
			for (let k = 0; k < subscribers; k++)
				for (const at of received) if (below(10) < 4) at[k]?.push(s);
		}
		ledgers[p % clients]?.push(
			setOf("tried", p, tried),
			setOf("failed", p, failed),
			...(acks ? [setOf("acked", p, acked)] : []),
		);
		received.forEach((of, c) => {
			of.forEach((members, k) => {
				// Empty sets may be left out.
				if (members.length > 0 || below(2) === 0)
					ledgers[c]?.push(setOf("received", p, members, k));
			});
		});
	}
	return { plan, ledgers };
}

/** The same with sets of message numbers, one message at a time. */
function slowly(plan: Plan, ledgers: readonly (readonly LedgerSet[])[]) {
	const P = plan.producers;
	const subscribers = plan.pattern === "fan-out" ? plan.subscriptions : 1;
	const members = (client: readonly LedgerSet[], set: string, k: number) =>
		new Set(
			client
				.filter((s) => s.set === set && s.subscriber === k)
				.flatMap(({ bits, producer }) => [...inflated(bits)].map((s) => s * P + producer)),
		);
	const receivers = Array.from({ length: subscribers }, (_, k) =>
		ledgers.map((l) => members(l, "received", k)),
	);
	const all = (set: string) => new Set(ledgers.flatMap((l) => [...members(l, set, 0)]));
	const [tried, failed, acked] = [all("tried"), all("failed"), all("acked")];
	const scope = () => ({
		sent: 0,
		acked: plan.acks ? 0 : null,
		failed: 0,
		received: 0,
		delivered: 0,
		lost: 0,
		failedReceived: 0,
		unackedReceived: plan.acks ? 0 : null,
		duplicated: 0,
		strange: 0,
	});
	const [warmup, window] = [scope(), scope()];
	let firstLost: number | null = null;
	let firstDuplicated: number | null = null;
	for (let i = 0; i < plan.schedule.messages; i++) {
		const c = i < plan.schedule.warmupMessages ? warmup : window;
		if (tried.has(i)) c.sent++;
		if (failed.has(i)) c.failed++;
		if (acked.has(i)) c.acked = (c.acked ?? 0) + 1;
		for (let k = 0; k < subscribers; k++) {
			const times = receivers[k]?.filter((l) => l.has(i)).length ?? 0;
			const owed = plan.acks ? acked.has(i) : tried.has(i) && !failed.has(i);
			if (times === 0 && owed) {
				c.lost++;
				firstLost ??= i;
			}
			if (times === 0) continue;
			c.received++;
			c.duplicated += times - 1;
			if (times > 1) firstDuplicated ??= i;
			if (failed.has(i)) c.failedReceived++;
			else if (plan.acks && !acked.has(i)) c.unackedReceived = (c.unackedReceived ?? 0) + 1;
			else c.delivered++;
		}
	}
	const message = (i: number | null) =>
		i === null
			? null
			: { producer: i % P, sequence: Math.floor(i / P), intendedNs: offsetNs(plan.schedule, i) };
	return {
		warmup,
		window,
		firstLost: message(firstLost),
		firstDuplicated: message(firstDuplicated),
	};
}

function inflated(bits: string): number[] {
	return [...inflateSync(Buffer.from(bits, "base64"))].flatMap((byte, at) =>
		[0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => (byte & (1 << bit) ? [at * 8 + bit] : [])),
	);
}
