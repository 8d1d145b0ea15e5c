import { describe, expect, test } from "vitest";
import type { BrokerLine } from "../../../evidence/broker-log.ts";
import type { Run } from "../../../model/result.ts";
import { failoverOf, noted, partitionLeaders, streamLeaders } from "../../e2e/failover.fake.ts";
import { addsUp, measured, type Words } from "../../e2e/mqbench.ts";

/**
 * The leader of the first topic is killed, and is stopped, under load, on real clusters of three nodes. The scorecard is compared with the
 * logs that the brokers wrote at that time: which node led from when on, and from which offset.
 */
const RATE = 500;

/** Between an election and the first completion: clients find the new leader, and the count is by 10 ms. */
const FIND_MS = 3000;
/** A message each 2 ms, log lines with 1 ms resolution, on a machine that has other things to do. */
const NOISE_MS = 300;

describe("Kafka, three replicas", () => {
	const safe = "{ broker: kafka, nodes: 3, replicas: 3, acks: all, minInsyncReplicas: 2 }";
	// Followers fetch once a second, as over a slow line: messages that only the leader has become visible.
	const fast =
		"{ broker: kafka, nodes: 3, replicas: 3, acks: 1, config: { replica.fetch.min.bytes: 1048576, replica.fetch.wait.max.ms: 1000 } }";

	test.each(["kill", "pause"] as const)(
		"acks: all loses nothing to the %s of a leader",
		async (action) => {
			const found = await disturbed(safe, action);
			const { one, card } = found;
			expect(one).toMatchObject({ lost: 0, failed: 0, unknown: 0 });
			const { electedMs } = electedIn(found, partitionLeaders);
			// A client that waits for a stopped broker's answer finds the new leader when the broker goes on, at the latest.
			agrees(card.unavailableNs, electedMs, action);
			tell(`Kafka acks all, ${action}`, one, electedMs);
		},
	);

	test.each(["kill", "pause"] as const)(
		"acks: 1 loses what the leader alone had to its %s: from the offset on at which the new one begins",
		async (action) => {
			const found = await disturbed(fast, action);
			const { one } = found;
			const { elected, electedMs } = electedIn(found, partitionLeaders);
			expect(elected?.epoch).toBe(1);
			expect(one.lost).toBeGreaterThan(0);
			// One producer and one partition, and nothing failed before: the offset is the sequence.
			expect(one.offenders.lost).toMatchObject({ producer: 0, sequence: elected?.offset });
			tell(`Kafka acks 1, ${action}: lost from sequence ${elected?.offset} on`, one, electedMs);
		},
	);
});

describe("JetStream", () => {
	test.each(["kill", "pause"] as const)(
		"with three copies loses nothing to the %s of a leader",
		async (action) => {
			const found = await disturbed(
				"{ broker: nats, mode: jetstream, nodes: 3, replicas: 3 }",
				action,
				{},
				"at: 3s",
				"[lost == 0, unavailable < 500ms]",
			);
			const { one, gates, card } = found;
			expect(one.lost).toBe(0);
			// A follower waits for 4 s and more before it stands for election.
			expect(gates.find(({ tally }) => tally?.name === "unavailable")).toMatchObject({
				verdict: "fail",
				tally: { value: card.unavailableNs, limit: 5e8 },
			});
			const { electedMs } = electedIn(found, streamLeaders);
			agrees(card.unavailableNs, electedMs, action);
			tell(`JetStream R3, ${action}`, one, electedMs);
		},
	);

	test.each([
		["three copies on disk", "nodes: 3, replicas: 3", false],
		["one copy in memory", "durability: memory, nodes: 3, replicas: 1", true],
	] as const)(
		"with %s, and a backlog that nobody has fetched: what was acknowledged is there afterwards, or is told as lost",
		async (_, options, loses) => {
			const { one, fault, plan } = await disturbed(
				`{ broker: nats, mode: jetstream, ${options}, prefetch: 10 }`,
				"kill",
				{ pattern: "backlog", backlog: "2000", duration: "30s" },
				"at: 9s",
			);
			const piledUp = ((fault.beganNs - (plan.backlog?.pauseNs ?? 0)) / 1e9) * RATE;
			expect(piledUp).toBeGreaterThan(200);
			if (loses) expect(one.lost).toBeGreaterThan(piledUp * 0.8);
			else expect(one.lost).toBe(0);
			tell(`JetStream ${options}, ${Math.round(piledUp)} piled up`, one, null);
		},
	);
});

// --- internal ---

/** A run in which the leader is killed or stopped for 14 s: longer than any of them takes for an election. */
async function disturbed(
	system: string,
	action: "kill" | "pause",
	workload: Words = {},
	at = "at: 3s",
	sla = "[lost == 0]",
) {
	const {
		result,
		run: one,
		results,
	} = await measured(
		{ rate: `${RATE}/s`, warmup: "2s", duration: "22s", drain: "30s", ...workload },
		{ system, faults: `[{ ${at}, action: ${action}, node: leader, for: 14s }]`, sla },
		{ exit: [0, 4, 6, 99] },
	);
	const found = failoverOf(results);
	expect(found.fault).toMatchObject({ action, leader: true, error: null });
	expect(one).toMatchObject({ notOffered: 0 });
	addsUp(one);
	return { one, gates: result.gates, ...found };
}

/** The next leader, and how long after the note of the fault it led, both by the brokers' log. */
function electedIn<Line extends BrokerLine>(
	{ fault: { action, node: away }, log }: Pick<ReturnType<typeof failoverOf>, "fault" | "log">,
	leaders: (log: readonly BrokerLine[]) => Line[],
) {
	const how = action === "kill" ? "killed node % (SIGKILL)" : "paused node % (SIGSTOP)";
	const down = noted(log, how.replace("%", `${away}`));
	const elected = leaders(log).find(({ atMs, node }) => atMs > down && node !== away);
	return { elected, electedMs: (elected?.atMs ?? Number.NaN) - down };
}

/** The clients had no leader from the fault until the new one; after a stop, at most until the broker goes on. */
function agrees(unavailableNs: number | null, electedMs: number, action: "kill" | "pause"): void {
	const seenMs = (unavailableNs ?? Number.NaN) / 1e6;
	expect(seenMs).toBeGreaterThan(electedMs - NOISE_MS);
	expect(seenMs).toBeLessThan(
		(action === "kill" ? electedMs : Math.max(electedMs, 14_000)) + FIND_MS,
	);
}

/** People read acceptance figures. */
function tell(what: string, one: Run, electedMs: number | null): void {
	const [card] = one.failover;
	const seconds = (ns: number | null | undefined) =>
		ns === null || ns === undefined ? "n/a" : `${(ns / 1e9).toFixed(2)}s`;
	process.stdout.write(
		`${what}: lost ${one.lost}, failed ${one.failed}, unknown ${one.unknown} of ${one.intended}; unavailable ${seconds(card?.unavailableNs)}${electedMs === null ? "" : `, new leader after ${(electedMs / 1000).toFixed(2)}s by the brokers' log`}; back after ${seconds(card && card.endedNs !== null ? card.endedNs - card.beganNs : null)}\n`,
	);
}
