import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { editLines, fixtureCopy } from "../evidence/fixture.fake.ts";
import { parseSla } from "../scenario/sla.ts";
import { factsOf, UNKNOWN } from "./facts.ts";
import { type Any, check, counters, judged, lines, sla, tenth, totals } from "./judged.fake.ts";
import { judgeRun } from "./run.ts";
import { orderUnit } from "./tally.ts";

const seconds = (edit: (second: Any) => void) =>
	lines((all) => {
		for (const l of all) if (l.type === "second") edit(l);
	});

describe("an SLA line", () => {
	test.each<[name: string, fixture: string, line: string, changes: Any, judgement: object]>([
		[
			"that holds passes, and says by how much",
			"healthy",
			"p99 < 20ms",
			{},
			{
				verdict: "pass",
				why: "at most 50 of 5 000 may take longer than 20ms; none did",
				limit: "20ms",
				n: 5000,
				over: 0,
				censored: 0,
				phi: 1,
				allowed: expect.closeTo(50, 9),
			},
		],
		[
			"is broken by a stall of 500 ms: 490 over, 100 allowed",
			"stall",
			"p99 < 10ms",
			{},
			{
				verdict: "fail",
				measured: "~400ms",
				why: "at most 100 of 10 000 may take longer than 10ms; 490 did, in one stretch of 500ms, at least twice as many",
				over: 490,
				events: 1,
			},
		],
		[
			"that is broken all the time has no stall",
			"stall",
			"p99 < 10ms",
			seconds((s) => {
				s.limits[0].over = tenth(99);
			}),
			{
				why: "at most 100 of 10 000 may take longer than 10ms; 9 900 did, throughout the window",
			},
		],
		[
			"counts lost messages as over the limit",
			"lost",
			"p99 < 20ms",
			{},
			{ verdict: "inconclusive", over: 12, censored: 12 },
		],
		[
			"may be broken by lost messages alone: the percentile itself lies among them",
			"lost",
			"p99.9 < 20ms",
			{},
			{
				verdict: "fail",
				measured: "> 30s",
				why: "at most 5 of 5 000 may take longer than 20ms; 12 did (12 never completed), in one stretch of 100ms, at least twice as many",
			},
		],
		[
			"FAILs where no message completed",
			"no-data",
			"p99 < 20ms",
			{},
			{
				verdict: "fail",
				measured: "> 30s",
				why: "at most 50 of 5 000 may take longer than 20ms; 5 000 did (none completed), throughout the window",
			},
		],
		[
			"that the samples cannot carry names the samples and the time it needs",
			"healthy",
			"p99.99 < 20ms",
			{},
			{
				verdict: "inconclusive",
				measured: "n/a",
				why: "p99.99 needs at least 36 887 samples (37s at this rate), and there are 5 000; none of them took longer than 20ms",
			},
		],
		[
			"on a limit that nobody has counted cannot be judged",
			"healthy",
			"p99 < 7ms",
			{},
			{ verdict: "error", why: "response was not measured" },
		],
		[
			"on ack of a system without acks cannot be judged",
			"healthy",
			"ack p99 < 20ms",
			{},
			{ verdict: "error", why: "ack was not measured" },
		],
		[
			"on max passes when nothing is above",
			"healthy",
			"max < 20ms",
			{},
			{ verdict: "pass", measured: "635us" },
		],
		[
			"on max fails by one above",
			"stall",
			"max < 10ms",
			{},
			{ verdict: "fail", measured: "500ms", over: 490 },
		],
		[
			"on max fails by what never completed",
			"lost",
			"max < 20ms",
			{},
			{
				verdict: "fail",
				measured: "> 30s",
				why: "none of 5 000 may take longer than 20ms; 12 did (12 never completed), in one stretch of 100ms",
			},
		],
		...(
			[
				["lost == 0", "fail"],
				["lost < 16", "pass"],
				["lost < 15", "fail"],
			] as const
		).map(([line, verdict]): [string, string, string, Any, object] => [
			"on a count is of warm-up and window",
			"lost",
			line,
			lines((all) =>
				Object.assign(counters(all, "warmup"), { lost: 3, received: 997, delivered: 997 }),
			),
			{ verdict, measured: "15" },
		]),
		[
			"on duplicates says how long they were looked for",
			"healthy",
			"duplicated == 0",
			lines((all) => Object.assign(totals(all), { lookedNs: 2_000_400_000 })),
			{ why: "0 duplicated in warm-up and window, and up to 2s after every message had settled" },
		],
		...(
			[
				[5000, "pass", "1 000/s received"],
				[4996, "pass", "999/s received, within 0.1 % of the 1 000/s that the SLA asks for"],
				[4990, "fail", "998/s received; the SLA asks for at least 1 000/s"],
			] as const
		).map(([receivedInWindow, verdict, why]): [string, string, string, Any, object] => [
			`on a rate is of the window, and a tenth of a percent does not decide (${receivedInWindow})`,
			"healthy",
			"throughput >= 1000/s",
			lines((all) => Object.assign(totals(all), { receivedInWindow })),
			{ verdict, why },
		]),
		...(
			[
				[{ keys: { distribution: "zipf", count: 10, seed: 1 } }, " (by producer and key)"],
				[{ partitions: 4 }, " (by producer and partition)"],
				[{}, ""],
			] as const
		).map(([change, among]): [string, string, string, Any, object] => [
			`on order says what was overtaken${among}`,
			"healthy",
			"reordered == 0",
			{
				plan: (plan: Any) => Object.assign(plan, change),
				...lines((all) => {
					counters(all, "warmup").reordered = 1;
					counters(all, "window").reordered = 2;
				}),
			},
			{
				verdict: "fail",
				why: `3 reordered${among} in warm-up and window (1 of them in the warm-up); the SLA asks for exactly 0`,
			},
		]),
	])("%s", (_, name, line, changes, judgement) => {
		const { judgements } = judged(name, {
			...changes,
			plan: (plan) => {
				changes.plan?.(plan);
				plan.sla = [parseSla(line)];
			},
		});
		expect(judgements[0]).toMatchObject(judgement);
	});

	test("that the samples cannot carry is an error under strict", () => {
		const { verdict, judgements } = judged("healthy", {
			plan: (plan) => {
				sla("p99.99 < 20ms").plan(plan);
				plan.strict = true;
			},
		});
		expect([verdict, judgements[0]?.verdict]).toEqual(["error", "error"]);
	});

	test("that passes with lag in it stands: there is a warning", () => {
		const { verdict, checks } = judged("lag", sla("p50 < 20ms"));
		expect(verdict).toBe("pass");
		expect(checks.find((c) => c.check === "lag")?.status).toBe("warn");
	});

	test("keys decide before partitions, and each subscriber has an order of its own", () => {
		const of = { pattern: "fan-out" as const, partitions: 4, keys: {} };
		expect(orderUnit(of)).toBe("by producer and key, at each subscriber");
	});
});

describe("a measurement that is not to be trusted takes every gate with it:", () => {
	test.each<[string, string, (lines: Any[]) => unknown, string]>([
		[
			"offered",
			"healthy",
			(all) =>
				Object.assign(counters(all, "window"), {
					notOffered: 5,
					sent: 4995,
					received: 4995,
					delivered: 4995,
				}),
			"5 of 6 000 messages were not offered: the generator could not keep up",
		],
		[
			"offered",
			"healthy",
			(all) => {
				const most = { notOffered: 4000, sent: 1000, received: 1000, delivered: 1000 };
				Object.assign(counters(all, "window"), most);
				Object.assign(totals(all), { sentInWindow: 1000 });
			},
			"4 000 of 6 000 messages were not offered: the generator could not keep up (it achieved 200/s of 1 000/s)",
		],
		[
			"clientDropped",
			"healthy",
			(all) => Object.assign(totals(all), { clientDropped: 2 }),
			"the client library itself dropped 2 messages",
		],
	])("%s", (name, fixture, edit, detail) => {
		const { verdict, checks, judgements, why } = judged(fixture, lines(edit));
		expect(verdict).toBe("invalid");
		expect(checks.find((c) => c.check === name)).toMatchObject({ status: "invalid" });
		expect(why).toBe(detail);
		expect(judgements.every((j) => j.verdict === "invalid" && j.why === why)).toBe(true);
	});

	test("messages that are missing after the drain, when no SLA line counts them", () => {
		expect(judged("lost", sla()).verdict).toBe("invalid");
		expect(judged("lost", sla("lost < 20")).verdict).toBe("pass");
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
		const { verdict, checks, why } = judged("healthy", lines(edit));
		expect(verdict).toBe("error");
		expect(checks.find((c) => c.check === "identities")?.status).toBe("error");
		expect(why).toContain(what);
	});

	test("hold in every stored run", () => {
		for (const name of ["healthy", "stall", "lost", "lag", "no-data", "interrupted", "repeats"])
			expect(check("identities", {}, name).status).toBe("ok");
	});

	test("of a system with acknowledgements: sent = acked + failed + unknown, acked = delivered + lost", () => {
		const run = join(fixtureCopy("repeats"), "runs/02-kafka-256B-500-s-1");
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
		expect(judged("healthy", sla())).toMatchObject({ verdict: "pass", judgements: [] });
	});
});
