import { describe, expect, test } from "vitest";
import { type Fate, planOf } from "../evidence/built.fake.ts";
import { seeded } from "../histogram/random.fake.ts";
import type { Sla } from "../model/plan.ts";
import { limit, once, p99, shown, tally } from "./made.fake.ts";

const MS = 1e6;
const S = 1e9;
/** When the warm-up was through, in the middle of a second. */
const OPENED = 1_234_567_890;
const WARMUP = 100;

/**
 * A closed loop: 100 messages to warm up, then so many more, one every `everyUs`. service(i) is how long message i of the window took,
 * ms; null: it was lost.
 */
function loop(
	n: number,
	everyUs: number,
	service: (i: number) => number | null,
	more: { acks?: boolean; unsent?: number; sla?: Sla[]; durationNs?: number } = {},
) {
	const { acks = true, unsent = 0, sla = [], durationNs = 600 * S } = more;
	const plan = planOf({
		pattern: "work-queue",
		consumers: 1,
		consumerConnections: 1,
		acks,
		inFlight: 1000,
		sla,
		limits: [limit("service", 20)],
		schedule: {
			kind: "closed",
			rate: null,
			warmupNs: 0,
			durationNs,
			warmupMessages: WARMUP,
			messages: WARMUP + n,
		},
	});
	const fates = Array.from({ length: WARMUP + n }, (_, i): Fate => {
		if (i < WARMUP) {
			const sentNs = i * 10_000;
			return { sentNs, ackedNs: sentNs + MS, receivedNs: [sentNs + MS] };
		}
		const k = i - WARMUP;
		if (k >= n - unsent) return { sentNs: null };
		const sentNs = OPENED + k * everyUs * 1000;
		const ms = service(k);
		return {
			sentNs,
			ackedNs: acks ? sentNs + 300_000 : null,
			receivedNs: [ms === null ? null : sentNs + Math.round(ms * MS)],
		};
	});
	return shown(plan, fates, { windowStartNs: OPENED });
}

describe("a closed loop", () => {
	const random = seeded(3);
	const took = Array.from({ length: 20_000 }, () => 1 + 4 * random());
	const service = (i: number) => took[i] ?? 1;
	const plain = once(() => loop(20_000, 200, service));

	test("has service and ack, and neither response, lag nor queued", () => {
		const { run } = plain();
		expect(run.metrics).toMatchObject({ response: null, lag: null, queued: null, last: null });
		expect(run.metrics.service).toMatchObject({ n: 20_000, censored: 0 });
		expect(run.metrics.ack?.count).toBe(20_000);
		const sorted = took.map((ms) => Math.round(ms * MS)).sort((a, b) => a - b);
		for (const p of [50, 90, 99, 99.9]) {
			const exact = sorted[Math.ceil((20_000 * p) / 100 - 1e-9) - 1] as number;
			const found = run.metrics.service?.percentiles.find((x) => x.p === p);
			expect(found?.value).toBeGreaterThanOrEqual(exact);
			expect(found?.value).toBeLessThanOrEqual(exact * 1.001);
		}
		expect(run.omission).toBeNull();
		expect(run.main).toBe("service");
	});

	test("has throughput from its own first and last message, not from a duration", () => {
		const { run, text } = plain();
		const firstReceipt = Math.min(...took.map((ms, i) => i * 0.2 + ms));
		const lastReceipt = Math.max(...took.map((ms, i) => i * 0.2 + ms));
		expect(run.throughput.received).toBeCloseTo(20_000 / ((lastReceipt - firstReceipt) / 1000), 1);
		// The last of 20 000 leaves after 19 999 x 0.2 ms and is acknowledged 0.3 ms later.
		expect(run.throughput.sent).toBeCloseTo(20_000 / 4.0001, 6);
		expect(run.throughput.achieved).toBeNull();
		expect(text).toContain("sent 5 000/s: acknowledged / (last acknowledgement - first send call)");
		expect(text).toContain("distinct receipts / (last - first receipt)");
	});

	test("that is not acknowledged has the rate of what was sent", () => {
		const { run } = loop(20_000, 200, () => 2, { acks: false });
		expect(run.throughput.sent).toBeCloseTo(20_000 / (19_999 * 0.0002 + 0.002), 6);
		expect(run.throughput.sentHow).toBe(
			"sent / (last receipt - first send call), because nothing is acknowledged",
		);
	});

	test("says how many lost messages gave up their place in flight", () => {
		const { run, text, out } = loop(20_000, 200, (i) => (i < 3 ? null : 2));
		expect([run.lost, run.timedOut, run.warmup.timedOut]).toEqual([3, 3, 0]);
		expect(text).toMatch(/timed out\W+3\b/);
		for (const one of out)
			expect(one.replaceAll(/\s+/g, " ")).toMatch(
				/a message that timed out kept its place in flight for 30s, then the next one was sent/i,
			);
		expect(plain().run.timedOut).toBe(0);
	});

	test("gates throughput exactly: there are no edges of a window to forgive", () => {
		const sent = 20_000 / 4.0001;
		const of = (limit: number) =>
			loop(20_000, 200, service, { sla: [tally("throughput.sent", ">=", limit)] }).result.gates[0]
				?.verdict;
		expect(of(sent - 1)).toBe("pass");
		expect(of(sent + 1)).toBe("fail");
		const { result } = loop(20_000, 200, service, { sla: [tally("achieved", ">=", 1)] });
		expect(result.gates[0]).toMatchObject({
			verdict: "error",
			why: "sent was not measured",
		});
	});

	test("has seconds of the send call, from the moment the window opened", () => {
		const { run } = loop(20_000, 200, (i) => (i < 5000 ? 1 : 3));
		expect(run.window).toEqual({ startNs: OPENED, endNs: OPENED + 19_999 * 200_000 + 3 * MS });
		expect(run.series.seconds.map((s) => [s.second, s.count, s.max])).toEqual([
			[0, 5000, 1 * MS],
			[1, 5000, 3 * MS],
			[2, 5000, 3 * MS],
			[3, 5000, 3 * MS],
		]);
	});

	test("leaves out the checks that need a schedule", () => {
		const { run } = plain();
		const names = run.validity.map((c) => c.check);
		for (const name of ["lag", "backlog", "steady"]) expect(names).not.toContain(name);
		expect(names).toContain("identities");
		expect(run.validity.find((c) => c.check === "identities")?.status).toBe("ok");
	});
});

describe("service p99 in a closed loop", () => {
	test("passes where 1 in 400 is over, and counts them by send time", () => {
		const { result } = loop(20_000, 200, (i) => (i % 400 === 0 ? 30 : 1), {
			sla: [p99("service", 20)],
		});
		expect(result.gates[0]).toMatchObject({
			verdict: "pass",
			n: 20_000,
			over: 50,
			censored: 0,
			phi: 1,
		});
	});

	test("fails where 3 in 100 are over", () => {
		const { result } = loop(20_000, 200, (i) => (i % 33 === 0 ? 30 : 1), {
			sla: [p99("service", 20)],
		});
		expect(result.gates[0]).toMatchObject({ verdict: "fail", over: 607 });
	});

	test("has messages that were never received in its denominator, as over the limit", () => {
		const { result, run } = loop(20_000, 200, (i) => (i % 50 === 0 ? null : 1), {
			sla: [p99("service", 20)],
		});
		expect(run.lost).toBe(400);
		expect(run.metrics.service).toMatchObject({ n: 20_000, censored: 400 });
		expect(result.gates[0]).toMatchObject({ verdict: "fail", n: 20_000, over: 400, censored: 400 });
	});

	test("still passes with a handful lost, though nobody knows when they were sent: they stand together", () => {
		const { result } = loop(20_000, 200, (i) => (i % 2000 === 7 ? null : 1), {
			sla: [p99("service", 20)],
		});
		expect(result.gates[0]).toMatchObject({ verdict: "pass", over: 10, censored: 10, events: 1 });
		expect(result.gates[0]?.phi).toBeGreaterThan(5);
	});

	test("cannot pass by what was not sent in time: those are missing, and the load was not through", () => {
		const { result, run } = loop(20_000, 200, () => 1, { unsent: 8000, sla: [p99("service", 20)] });
		expect(run.notOffered).toBe(8000);
		expect(result.gates[0]).toMatchObject({ verdict: "fail", censored: 8000 });
		const open = loop(20_000, 200, () => 1, {
			unsent: 8000,
			sla: [tally("throughput", ">=", 100)],
			durationNs: 2 * S,
		});
		expect(open.result.verdict).toBe("inconclusive");
		expect(open.run.why).toContain(
			"8 000 of 20 100 messages were not offered: the load was not through when its time was over",
		);
	});
});
