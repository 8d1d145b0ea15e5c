import { expect, test } from "vitest";
import { measured } from "../e2e/mqbench.ts";

/** Reproducible: which moments a broken run had is in its scenario. */
function moments(seed: number, count: number, eachMs: number): number[] {
	let state = seed;
	return Array.from({ length: count }, (_, i) => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return (i + 1) * eachMs + Math.floor((state / 2 ** 31) * (eachMs / 2));
	});
}

/** Kills at 17 moments of three runs, each of two members: 102 in all. */
const MOMENTS = 17;
const KILL = { of: "consumers", action: "kill", count: 2 };

test.each([
	["JetStream", "{ broker: nats, mode: jetstream, ackWait: 2s }", 1000],
	[
		"JetStream, push",
		"{ broker: nats, mode: jetstream, consumer: push, maxAckPending: 200, ackWait: 2s }",
		1000,
	],
	["Redis streams", "{ broker: redis, mode: streams, claimAfter: 2s }", 1000],
	["RabbitMQ", "{ broker: rabbitmq, queue: quorum }", 1000],
	["NSQ", "{ broker: nsq, msgTimeout: 2s }", 1000],
	["Kafka", "{ broker: kafka, sessionTimeout: 6s }", 2000],
] as const)(
	"%s: consumers killed at 100 random moments lose nothing that was acknowledged",
	async (_, system, eachMs) => {
		let killed = 0;
		let again = 0;
		for (const seed of [1, 2, 3]) {
			const faults = moments(seed, MOMENTS, eachMs).map(
				(at) => `{ at: ${at}ms, of: consumers, action: kill, count: 2, for: ${eachMs / 5}ms }`,
			);
			const { run } = await measured(
				{
					pattern: "work-queue",
					rate: "400/s",
					consumers: "4",
					work: "3ms",
					duration: `${(MOMENTS + 2) * (eachMs / 1000)}s`,
					drain: "60s",
				},
				{ system, faults: `[${faults.join(", ")}]`, sla: "[lost == 0]" },
				// A busy machine makes the generator late.
				{ exit: [0, 4] },
			);
			expect(run).toMatchObject({ lost: 0, failed: 0, unknown: 0, received: run.acked });
			expect(run.failover).toHaveLength(MOMENTS);
			for (const fault of run.failover) {
				expect(fault).toMatchObject({ ...KILL, error: null, servedStill: false });
				expect(fault.servedNs).not.toBeNull();
				killed += fault.count ?? 0;
			}
			again += run.duplicated ?? 0;
			// Each copy that came again is a second one.
			expect(run.duplicated).toBeLessThanOrEqual(
				Math.max(run.redelivered ?? 0, system.includes("kafka") ? Infinity : 0),
			);
		}
		expect(killed).toBe(2 * 3 * MOMENTS);
		// Members die at work, so some of their messages come twice.
		expect(again).toBeGreaterThan(0);
	},
);
