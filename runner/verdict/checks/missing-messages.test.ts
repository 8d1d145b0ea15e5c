import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../../compare/build.ts";
import { collect } from "../../evidence/collect.ts";
import { editJson, firstRun, fixture, fixtureCopy } from "../../evidence/fixture.fake.ts";
import type { Merged } from "../../histogram/merge.ts";
import { exitCodeOf } from "../exit.ts";
import { type Facts, factsOf, UNKNOWN } from "../facts.ts";
import { type Any, counters, judged } from "../judged.fake.ts";
import { tallyOf } from "../tally.ts";
import { lag } from "./generator.ts";
import { drain } from "./messages.ts";

const tally = (name: string, limit = 0): Any => ({
	kind: "tally",
	text: `${name} <= ${limit}`,
	tally: name,
	op: "<=",
	limit,
	abort: false,
});
const sla =
	(...lines: Any[]) =>
	(plan: Any) => {
		plan.sla = lines;
	};

test.each([
	["publish", null, 3, "unknown == 0"],
	["round-trip", 2, 0, "lost == 0"],
	["round-trip", 2, 3, "lost == 0 and unknown == 0"],
])(
	"what a drain of %s misses, %s lost and %s unanswered, asks for %s",
	(pattern, lost, unknown, lines) => {
		const counts = (n: number) => ({ lost: lost && n * lost, unknown: n * unknown });
		const collected = {
			plan: { pattern, sla: [], drainNs: 1e9 },
			state: "complete",
			run: null,
			counters: { warmup: counts(0), window: counts(1) },
		};
		const { text, remedy } = drain.judge({ collected } as unknown as Facts, []);
		expect(text).toMatch(/; no SLA line counts them$/);
		expect(remedy).toBe(`add ${lines} to the SLA`);
	},
);

/** The broker refused all 6000 messages: none was accepted, so none is lost. */
describe("a dead broker", () => {
	test.each([
		["lost == 0 alone", [tally("lost")]],
		["no SLA at all", []],
	])("with %s is INCONCLUSIVE, and says what to add", (_, lines) => {
		const copy = fixtureCopy("no-data");
		editJson(join(firstRun(copy), "plan.json"), sla(...lines));
		const result = buildResult(copy);
		expect(result.verdict).toBe("inconclusive");
		expect(exitCodeOf(result)).toBe(6);
		expect(result.runs[0]?.why).toBe("6 000 failed of 6 000 messages; no SLA line counts them");
		expect(JSON.stringify(result)).not.toContain("a large part of what was measured");
	});

	test.each([
		["failed", [tally("failed")], "fail"],
		// Counted, and all of it allowed: and yet nothing has completed.
		["failed, all of them", [tally("failed", 6000)], "inconclusive"],
		[
			"failed, that asks for all of them",
			[{ ...tally("failed", 6000), op: "==", all: true }],
			"pass",
		],
	])("with a line on %s", (_, lines, verdict) => {
		const found = judged("no-data", { plan: sla(...lines) });
		expect(found.verdict).toBe(verdict);
	});

	test("and none of the window completed: that never passes", () => {
		expect(judged("no-data", { plan: sla(tally("failed", 6000)) }).why).toBe(
			"none of the 5 000 messages of the window completed",
		);
	});

	test("has not sent what was refused: achieved is 0, never below", () => {
		const collected = collect(firstRun(fixture("no-data")));
		expect(tallyOf(collected, "achieved")).toBe(0);
	});
});

test("a percentile beyond the timeout is no small one: lag is no large part of it", () => {
	const facts = factsOf(collect(firstRun(fixture("healthy"))), UNKNOWN);
	const { collected } = facts;
	const plan = { ...collected.plan, sla: [] };
	// All but 36 of 100 refused, and the survivors fast: their lag p99 is above half of their response.
	const few = (ns: number): Merged => ({
		whole: { count: 36, low: [ns], high: [ns], upTo: [36] },
		seconds: new Map(),
		phases: [],
		bins: new Map(),
		above: () => new Map(),
	});
	plan.schedule = { ...plan.schedule, messages: plan.schedule.warmupMessages + 100 };
	const merged = new Map([
		["response", few(100_000)],
		["lag", few(90_000)],
	]);
	const one = { count: 36, sum: 0, min: 0, clamped: 0, negative: 0 };
	const seconds = [
		{
			second: 0,
			limits: [],
			metrics: { response: { ...one, max: 100_000 }, lag: { ...one, max: 90_000 } },
		},
	];
	const found = lag.judge({ ...facts, merged, collected: { ...collected, plan, seconds } }, []);
	expect(found.status).toBe("ok");
});

describe("some messages that did not complete", () => {
	/** The 12 that the stored run lost, as if they had been refused, or never answered. */
	const instead = (kind: "failed" | "unknown") => (lines: Any[]) => {
		Object.assign(counters(lines, "window"), { lost: 0, [kind]: 12 });
		return undefined;
	};
	test.each([
		["failed", ["lost"], "inconclusive"],
		["failed", ["lost", "failed"], "fail"],
		["unknown", ["lost"], "inconclusive"],
		["unknown", ["lost", "failed"], "inconclusive"],
		["unknown", ["unknown"], "fail"],
	] as const)("%s, with lines on %s: %s", (kind, lines, verdict) => {
		const found = judged("lost", {
			plan: sla(...lines.map((name) => tally(name))),
			lines: instead(kind),
		});
		expect(found.verdict).toBe(verdict);
		if (verdict === "inconclusive")
			expect(found.why).toBe(`12 ${kind} of 6 000 messages; no SLA line counts them`);
	});

	test("a latency counts them, whatever else is asked", () => {
		const { checks } = judged("lost", { lines: instead("failed") });
		expect(checks.find((c) => c.check === "uncounted")?.status).toBe("ok");
	});

	test("are taken off the achieved rate: they were refused", () => {
		const { judgements } = judged("lost", {
			plan: sla({ ...tally("achieved"), op: ">=", limit: 1000 }),
			lines: instead("failed"),
		});
		expect(judgements[0]).toMatchObject({ verdict: "fail", measured: "998/s" });
	});
});
