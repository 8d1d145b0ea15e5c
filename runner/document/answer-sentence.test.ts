import { expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import { search } from "../render/hostile.fake.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { answerSentence } from "./answer-sentence.ts";
import { runOf } from "./standing.fake.ts";

type Interval = Parameters<typeof runOf>[1];

const result = fixtureResult("repeats");
const run = (system: string, p99: number, interval?: Interval, more: Partial<Run> = {}) =>
	runOf(p99, interval, { system, case: "256B 3000/s", ...more });
const of = (...runs: Run[]): Result => ({ ...result, gates: [], runs, verdict: "pass" });
const [nats, redis] = [run("nats", 200, [190, 210]), run("redis", 205, [195, 220])];
const kafka = run("kafka", 1900, [1800, 2000]);
const load = (level: "os" | "memory") => ({ load: { ...nats.load, durabilityLevel: level } });
const full = run("full", 100, [90, 110], {
	validity: [
		{ check: "cores", status: "warn", detail: "", figure: null, limit: null, remedy: null },
	],
});
const other = (one: Run): Run => ({ ...one, case: "1MiB 100/s" });
const closed = (system: string, received: number) =>
	run(system, 200, [190, 210], {
		load: { ...nats.load, schedule: { ...nats.load.schedule, kind: "closed" } },
		throughput: { ...nats.throughput, received },
	});

test.each<[string | null, Result]>([
	[
		"nats and redis cannot be told apart at p99 (~200us and ~205us); kafka takes 9.5x",
		of(kafka, redis, nats),
	],
	["nats is lowest at p99 (~200us); kafka takes 9.5x", of(nats, kafka)],
	// Without an interval nothing is equal.
	[
		"nats is lowest at p99 (~200us); redis takes 1.5x with no interval",
		of(nats, run("redis", 300)),
	],
	[
		"nats is lowest at p99 (~200us); kafka takes 9.5x. full is not ranked, as machine or generator was at its limit",
		of(full, nats, kafka),
	],
	[
		"nats is lowest at p99 (~200us); kafka takes 9.5x. Their durability differs: nats memory, kafka os",
		of({ ...nats, ...load("memory") }, { ...kafka, ...load("os") }),
	],
	[
		"256B 3000/s: nats is lowest at p99 (~200us); kafka takes 9.5x. The same holds in all 2 cases",
		of(nats, kafka, other(nats), other(kafka)),
	],
	[
		"256B 3000/s: nats is lowest at p99 (~200us); kafka takes 9.5x. Lowest elsewhere: kafka in 1MiB 100/s",
		of(nats, kafka, other({ ...kafka, system: "nats" }), other({ ...nats, system: "kafka" })),
	],
	[
		"256B 3000/s: nats and redis cannot be told apart at p99 (~200us and ~205us); kafka takes 9.5x. Lowest elsewhere: nats in 1MiB 100/s",
		of(nats, redis, kafka, other(nats), other({ ...kafka, system: "redis" })),
	],
	[
		"kafka carries 9 000/s, nats 4 000/s; a closed loop shows no queueing",
		of(closed("nats", 4e3), closed("kafka", 9e3)),
	],
	["nats has a p99 of ~200us [190us, 210us] at 500/s", of(nats)],
	[
		"nats stays within p99 < 20ms at 500/s: ~200us [190us, 210us]",
		{
			...of(nats),
			gates: result.gates
				.slice(0, 1)
				.map((gate) => ({ ...gate, system: "nats", case: nats.case, verdict: "pass" })),
		},
	],
	[
		"redis carries 40 000/s with p99 < 10ms, nats 20 000/s",
		{
			...of(nats),
			searches: [
				search({ sla: ["p99 < 10ms"] }),
				search({ system: "redis", lo: 40_000, sla: ["p99 < 10ms"] }),
			],
		},
	],
	// None is confirmed; of a short or an interrupted result nothing follows.
	[null, { ...of(nats), searches: [search({ confirmed: false })] }],
	[null, { ...of(nats, kafka), quick: true }],
	[null, { ...of(nats, kafka), verdict: "interrupted" }],
	[null, of(full, nats)],
])("%s", (said, given) => {
	expect(answerSentence(given)).toBe(said);
});
