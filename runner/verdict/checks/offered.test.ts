import { describe, expect, test } from "vitest";
import { collect } from "../../evidence/collect.ts";
import { firstRun, fixture } from "../../evidence/fixture.fake.ts";
import type { Sla } from "../../model/plan.ts";
import { factsOf, UNKNOWN } from "../facts.ts";
import { judgeRun } from "../run.ts";

const MS = 1e6;

const p = (percentile: number, limitNs: number): Sla => ({
	kind: "percentile",
	text: `p${percentile}`,
	metric: "response",
	percentile,
	op: "<",
	limitNs,
	abort: false,
});
const lost = (op: "==" | "<", limit: number): Sla => ({
	kind: "tally",
	text: `lost ${op} ${limit}`,
	tally: "lost",
	op,
	limit,
	abort: false,
});

/** A run that lost 12 of 5 000 messages, had the generator sent each of them so late. */
function sentLate(lateNs: number, ...sla: Sla[]) {
	const collected = collect(firstRun(fixture("lost")));
	const plan = { ...collected.plan, sla };
	// The exact maximum stands beside the histogram, and caps it.
	const seconds = collected.seconds.map((s) => {
		const { lag } = s.metrics;
		return lag === undefined
			? s
			: { ...s, metrics: { ...s.metrics, lag: { ...lag, max: lateNs } } };
	});
	const facts = factsOf({ ...collected, plan, seconds }, UNKNOWN);
	const lag = facts.merged.get("lag");
	if (lag === undefined) throw new Error("the fixture has no lag");
	const { count } = lag.whole;
	const whole = { count, low: [lateNs], high: [lateNs], upTo: [count] };
	const merged = new Map(facts.merged).set("lag", { ...lag, whole });
	const run = judgeRun({ ...facts, merged });
	return {
		...run,
		gates: run.judgements.map((j) => j.verdict),
		offered: run.checks.find((c) => c.check === "offered"),
	};
}

describe("a load of which the generator sent half too late", () => {
	// NATS at 1 000 000/s on two busy cores: lag p50 6.55 s.
	test("is INVALID where a gate fails, and takes losses with it", () => {
		const { verdict, gates, why, offered } = sentLate(6550 * MS, p(99.9, 20 * MS), lost("==", 0));
		expect([verdict, ...gates]).toEqual(["invalid", "invalid", "invalid"]);
		expect(why).toBe(
			"the generator could not offer this load: it sent half of the messages at least 6.55s late, more than the limit of 20ms",
		);
		expect(offered).toMatchObject({
			status: "invalid",
			figure: "6.55s",
			limit: "20ms",
		});
	});

	test("is a FAIL where it was late within the limit", () => {
		const { verdict, gates } = sentLate(19 * MS, p(99.9, 20 * MS), lost("==", 0));
		expect([verdict, ...gates]).toEqual(["fail", "fail", "fail"]);
	});

	test("is no excuse below 1 ms, however tight the limit", () => {
		const tight = [p(50, 0.1 * MS), lost("==", 0)];
		expect(sentLate(0.9 * MS, ...tight).offered?.status).toBe("ok");
		expect(sentLate(1.1 * MS, ...tight).offered).toMatchObject({ status: "invalid", limit: "1ms" });
	});

	test("stays what it is where nothing fails", () => {
		const { verdict, gates } = sentLate(6550 * MS, p(50, 20 * MS), lost("<", 100));
		expect([verdict, ...gates]).toEqual(["pass", "pass", "pass"]);
	});
});
