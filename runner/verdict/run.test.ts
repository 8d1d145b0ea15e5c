import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { editLines, fixtureCopy } from "../evidence/fixture.fake.ts";
import type { Sla } from "../model/plan.ts";
import { factsOf, UNKNOWN } from "./facts.ts";
import { type Any, counters, judged, totals } from "./judged.fake.ts";
import { judgeRun } from "./run.ts";
import { orderUnit } from "./tally.ts";

const sla =
	(...lines: Sla[]) =>
	(plan: Any) => {
		plan.sla = lines;
	};
const max = (limitNs: number): Sla => ({
	kind: "max",
	text: "max",
	metric: "response",
	op: "<",
	limitNs,
	abort: false,
});
const p = (
	percentile: number,
	limitNs: number,
	metric: "response" | "service" | "ack" | "lag" = "response",
): Sla => ({
	kind: "percentile",
	text: `${metric} p${percentile}`,
	metric,
	percentile,
	op: "<",
	limitNs,
	abort: false,
});
const tally = (
	tally: "lost" | "failed" | "duplicated" | "reordered" | "notOffered" | "throughput" | "achieved",
	op: "==" | "<" | ">=",
	limit: number,
): Sla => ({ kind: "tally", text: `${tally} ${op} ${limit}`, tally, op, limit, abort: false });
const MS = 1e6;

describe("percentile gates", () => {
	test("a healthy run passes, and says by how much", () => {
		const { verdict, judgements } = judged("healthy");
		expect(verdict).toBe("pass");
		expect(judgements[0]).toMatchObject({
			verdict: "pass",
			why: "at most 50 of 5 000 may take longer than 20ms; none did",
			limit: "20ms",
			n: 5000,
			over: 0,
			censored: 0,
			phi: 1,
		});
		expect(judgements[0]?.allowed).toBeCloseTo(50, 9);
	});

	test("a stall of 500 ms fails p99 < 10ms: 490 over, 100 allowed", () => {
		const { verdict, judgements } = judged("stall");
		expect(verdict).toBe("fail");
		expect(judgements[0]).toMatchObject({
			verdict: "fail",
			measured: "~400ms",
			why: "at most 100 of 10 000 may take longer than 10ms; 490 did, in one stretch of 500ms, at least twice as many",
			over: 490,
			events: 1,
		});
	});

	test("a load that is over its limit all the time is not called a stall", () => {
		const { judgements } = judged("stall", {
			plan: sla(p(99, 10 * MS)),
			lines: (lines) => {
				for (const l of lines) if (l.type === "second") l.limits[0].over = Array(10).fill(99);
				return undefined;
			},
		});
		expect(judgements[0]?.why).toBe(
			"at most 100 of 10 000 may take longer than 10ms; 9 900 did, throughout the window",
		);
	});

	test("lost messages count as over the limit", () => {
		expect(judged("lost").judgements[0]).toMatchObject({
			verdict: "inconclusive",
			over: 12,
			censored: 12,
		});
		// p99.9 of 5000 allows 5: 12 lost ones break it, and the percentile itself lies among them.
		expect(judged("lost", { plan: sla(p(99.9, 20 * MS)) }).judgements[0]).toMatchObject({
			verdict: "fail",
			measured: "> 30s",
			why: "at most 5 of 5 000 may take longer than 20ms; 12 did (12 never completed), in one stretch of 100ms, at least twice as many",
		});
	});

	test("without any data nothing passes: no message completed is a FAIL", () => {
		const { judgements } = judged("no-data");
		expect(judgements[0]).toMatchObject({
			verdict: "fail",
			measured: "> 30s",
			why: "at most 50 of 5 000 may take longer than 20ms; 5 000 did (none completed), throughout the window",
		});
	});

	test("a percentile that the samples cannot carry is undecided, and names the samples and the time it needs", () => {
		const deep = judged("healthy", { plan: sla(p(99.99, 20 * MS)) });
		expect(deep.judgements[0]).toMatchObject({
			verdict: "inconclusive",
			measured: "n/a",
			why: "p99.99 needs at least 36 887 samples (37s at this rate), and there are 5 000; none of them took longer than 20ms",
		});
	});

	test("the same is an error under strict", () => {
		const strict = judged("healthy", {
			plan: (plan) => {
				sla(p(99.99, 20 * MS))(plan);
				plan.strict = true;
			},
		});
		expect(strict.verdict).toBe("error");
		expect(strict.judgements[0]?.verdict).toBe("error");
	});

	test("a limit that nobody has counted, and ack of a system without acks, cannot be judged", () => {
		for (const line of [p(99, 7 * MS), p(99, 20 * MS, "ack")])
			expect(judged("healthy", { plan: sla(line) }).judgements[0]).toMatchObject({
				verdict: "error",
				why: expect.stringMatching(/^(response|ack) was not measured$/),
			});
	});
});

describe("INVALID by lag", () => {
	test("the gate would have passed without the generator's lateness", () => {
		const { verdict, judgements, checks } = judged("lag");
		expect(verdict).toBe("invalid");
		expect(judgements.map((j) => j.verdict)).toEqual(["invalid", "pass"]);
		expect(judgements[0]?.why).toBe(
			"the load generator was late, so this says nothing about the system: at most 50 of 5 000 may take longer than 20ms; 281 did, in one stretch of 300ms, at least twice as many; without its own lateness, none of 5 000 did, which would be PASS instead of FAIL",
		);
		expect(checks.find((c) => c.check === "lag")?.status).toBe("invalid");
	});

	test("a PASS that contains lag stands: there is a warning", () => {
		const { verdict, checks } = judged("lag", {
			plan: (plan) => {
				plan.sla = [p(50, 20 * MS)];
			},
		});
		expect(verdict).toBe("pass");
		expect(checks.find((c) => c.check === "lag")?.status).toBe("warn");
	});

	test("a FAIL that would be one without lag too stands", () => {
		expect(
			judged("lag", {
				lines: (lines) => {
					for (const l of lines)
						if (l.type === "second") {
							l.limits[0].overWithoutLag = l.limits[0].over;
							// A stall of the broker, then: the generator was a little late, and no more.
							l.metrics.lag.max = 19 * MS;
						}
					return undefined;
				},
			}).judgements[0]?.verdict,
		).toBe("fail");
	});

	test("service has no lag in it, whatever the counter says", () => {
		const service = judged("stall", {
			plan: sla(p(99, 1e9, "service")),
			lines: (lines) => {
				for (const l of lines)
					if (l.type === "second") {
						l.limits[1].over = Array(10).fill(100);
						l.limits[1].overWithoutLag = Array(10).fill(0);
					}
				return undefined;
			},
		});
		expect(service.judgements[0]?.verdict).toBe("fail");
	});
});

describe("max gates", () => {
	test("pass only when nothing is above, and nothing never completed", () => {
		expect(judged("healthy", { plan: sla(max(20 * MS)) }).judgements[0]).toMatchObject({
			verdict: "pass",
			measured: "635us",
		});
		expect(judged("stall", { plan: sla(max(10 * MS)) }).judgements[0]).toMatchObject({
			verdict: "fail",
			measured: "500ms",
			over: 490,
		});
		expect(judged("lost", { plan: sla(max(20 * MS)) }).judgements[0]).toMatchObject({
			verdict: "fail",
			measured: "> 30s",
			why: "none of 5 000 may take longer than 20ms; 12 did (12 never completed), in one stretch of 100ms",
		});
	});
});

describe("counts and rates", () => {
	test("counts are of warm-up and window", () => {
		const { judgements } = judged("lost", {
			plan: sla(tally("lost", "==", 0), tally("lost", "<", 16), tally("lost", "<", 15)),
			lines: (lines) => {
				Object.assign(counters(lines, "warmup"), { lost: 3, received: 997, delivered: 997 });
				return undefined;
			},
		});
		expect(judgements.map((j) => [j.verdict, j.measured])).toEqual([
			["fail", "15"],
			["pass", "15"],
			["fail", "15"],
		]);
		expect(judgements[0]?.why).toBe(
			"15 lost in warm-up and window (3 of them in the warm-up); the SLA asks for exactly 0",
		);
	});

	test("a line on duplicates says how long they were looked for, and others do not", () => {
		const { judgements } = judged("healthy", {
			plan: sla(tally("duplicated", "==", 0), tally("lost", "==", 0)),
			lines: (lines) => {
				totals(lines).lookedNs = 2_000_400_000;
				return undefined;
			},
		});
		expect(judgements.map(({ why }) => why)).toEqual([
			"0 duplicated in warm-up and window, and up to 2s after every message had settled",
			"0 lost in warm-up and window",
		]);
	});

	test("rates are of the window; a tenth of a percent at its edges does not decide", () => {
		const rate = (received: number, limit: number) =>
			judged("healthy", {
				plan: sla(tally("throughput", ">=", limit)),
				lines: (lines) => {
					totals(lines).receivedInWindow = received;
					return undefined;
				},
			}).judgements[0];
		expect(rate(5000, 1000)).toMatchObject({
			verdict: "pass",
			measured: "1 000/s",
			why: "1 000/s received",
		});
		expect(rate(4996, 1000)).toMatchObject({ verdict: "pass" });
		expect(rate(4990, 1000)).toMatchObject({
			verdict: "fail",
			why: "998/s received; the SLA asks for at least 1 000/s",
		});
	});
});

test.each([
	["by key", { keys: { distribution: "zipf", count: 10, seed: 1 } }, " (by producer and key)"],
	["by partition", { partitions: 4 }, " (by producer and partition)"],
	["on one topic", {}, ""],
])("what was overtaken is counted %s, and the gate says so", (_, change, among) => {
	const { judgements } = judged("healthy", {
		plan: (plan) => {
			sla(tally("reordered", "==", 0))(plan);
			Object.assign(plan, change);
		},
		lines: (lines) => {
			counters(lines, "warmup").reordered = 1;
			counters(lines, "window").reordered = 2;
			return undefined;
		},
	});
	expect(judgements[0]).toMatchObject({
		verdict: "fail",
		why: `3 reordered${among} in warm-up and window (1 of them in the warm-up); the SLA asks for exactly 0`,
	});
});

test("keys decide before partitions, and each subscriber has an order of its own", () => {
	const of = { pattern: "fan-out" as const, partitions: 4, keys: {} };
	expect(orderUnit(of)).toBe("by producer and key, at each subscriber");
});

test("what the driver cannot count is not checked, and no reason against the run", () => {
	const { verdict, checks } = judged("healthy", {
		lines: (lines) => {
			Object.assign(totals(lines), { clientDropped: null, reconnects: null });
			return undefined;
		},
	});
	expect(verdict).toBe(judged("healthy").verdict);
	for (const name of ["clientDropped", "reconnects"])
		expect(checks.find((c) => c.check === name)).toMatchObject({
			status: "unknown",
			detail: expect.stringContaining("this driver does not count"),
		});
});

describe("a measurement that is not to be trusted takes every gate with it", () => {
	test.each([
		[
			"offered",
			(lines: Any[]) =>
				Object.assign(counters(lines, "window"), {
					notOffered: 5,
					sent: 4995,
					received: 4995,
					delivered: 4995,
				}),
			"5 of 6 000 messages were not offered",
		],
		[
			"clientDropped",
			(lines: Any[]) => Object.assign(totals(lines), { clientDropped: 2 }),
			"dropped 2 messages",
		],
		[
			"claim",
			(lines: Any[]) => Object.assign(totals(lines), { firstClaimNs: 3 * MS }),
			"began to send 3ms after",
		],
	])("%s", (check, edit, detail) => {
		// Of two clients: of one nobody else could have claimed the schedule late.
		const name = check === "claim" ? "repeats" : "healthy";
		const { verdict, checks, judgements, why } = judged(name, {
			lines: (lines) => {
				edit(lines);
				return undefined;
			},
		});
		expect(verdict).toBe("invalid");
		expect(checks.find((c) => c.check === check)).toMatchObject({ status: "invalid" });
		expect(why).toContain(detail);
		expect(judgements.every((j) => j.verdict === "invalid" && j.why === why)).toBe(true);
	});

	test.each([
		["hpet", "invalid", "invalid"],
		["acpi_pm", "invalid", "invalid"],
		["jiffies", "invalid", "invalid"],
		["refined-jiffies", "invalid", "invalid"],
		["xen", "warn", "pass"],
		["tsc", "ok", "pass"],
		["kvm-clock", "ok", "pass"],
		[null, "unknown", "pass"],
	])("clock source %s is %s", (clock, status, verdict) => {
		const found = judged("healthy", { clock });
		expect(found.checks.find((c) => c.check === "clockSource")?.status).toBe(status);
		expect(found.verdict).toBe(verdict);
	});

	test("messages that are missing after the drain, when no SLA line counts them", () => {
		expect(judged("lost", { plan: sla() }).verdict).toBe("invalid");
		expect(judged("lost", { plan: sla(tally("lost", "<", 20)) }).verdict).toBe("pass");
	});

	test("values beyond the histogram's range are a warning", () => {
		const { checks } = judged("healthy", {
			lines: (lines) => {
				lines.find((l) => l.second === 0).metrics.lag.negative = 4;
				return undefined;
			},
		});
		expect(checks.find((c) => c.check === "range")).toMatchObject({ status: "warn" });
	});
});

describe("identities", () => {
	test.each([
		["intended = sent + notOffered", (l: Any[]) => counters(l, "window").sent++],
		["received = delivered", (l: Any[]) => counters(l, "warmup").received--],
		["(sent - failed - unknown) = delivered + lost", (l: Any[]) => counters(l, "window").lost++],
		[
			"intended in the window",
			(l: Any[]) => Object.assign(counters(l, "window"), { intended: 5001, notOffered: 1 }),
		],
		[
			"response in histogram and counters",
			(l: Any[]) => l.find((x) => x.second === 2).metrics.response.count--,
		],
		[
			"response per 100 ms and in counters",
			(l: Any[]) => l.find((x) => x.second === 2).limits[0].count[4]--,
		],
		[
			"more response than intended",
			(l: Any[]) => {
				const counts = l.find((x) => x.second === 2).limits[0].count;
				counts[4]++;
				counts[5]--;
			},
		],
	])("%s: broken, the verdict is error, a bug of mqbench", (what, edit) => {
		const { verdict, checks, why } = judged("healthy", {
			lines: (lines) => {
				edit(lines);
				return undefined;
			},
		});
		expect(verdict).toBe("error");
		expect(checks.find((c) => c.check === "identities")?.status).toBe("error");
		expect(why).toContain(what);
	});

	test("hold in every stored run", () => {
		for (const name of ["healthy", "stall", "lost", "lag", "no-data", "interrupted", "repeats"])
			expect(judged(name).checks.find((c) => c.check === "identities")).toMatchObject({
				status: "ok",
			});
	});

	test("of a system with acknowledgements: sent = acked + failed + unknown, acked = delivered + lost", () => {
		const copy = fixtureCopy("repeats");
		const run = join(copy, "runs/02-kafka-256B-500-s-1");
		editLines(join(run, "client-0.jsonl"), (lines) => {
			counters(lines, "window").acked--;
			return undefined;
		});
		const { why } = judgeRun(factsOf(collect(run), UNKNOWN));
		expect(why).toContain("sent = acked + failed + unknown");
		expect(why).toContain("acked = delivered + lost");
	});
});

describe("runs that did not end", () => {
	test("an interrupted run is interrupted, and not offered messages are not the generator's fault", () => {
		const { verdict, judgements, checks } = judged("interrupted");
		expect(verdict).toBe("interrupted");
		expect(judgements.every((j) => j.verdict === "interrupted" && j.n === null)).toBe(true);
		expect(checks.find((c) => c.check === "offered")?.status).toBe("warn");
	});

	test("without any SLA the verdict is the measurement's own", () => {
		expect(judged("healthy", { plan: sla() })).toMatchObject({ verdict: "pass", judgements: [] });
	});
});
