import { describe, expect, test } from "vitest";
import { resultOf } from "../compare/compared.fake.ts";
import { Plan, runFolder } from "../model/plan.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { confirmationOf } from "./confirm.ts";
import { NO_NUMBERS } from "./judgement.ts";

const yaml = (repeat: number, rest = "") => `systems: { old: nats, new: nats }
${rest}repeat: ${repeat}
workload: { rate: 1000/s, duration: 10s }
cases: [{ message: 256B }, { message: 1KiB }]
sla: [p99 < 1s${rest === "" ? "" : ", p99 <= baseline + 10%"}]
`;
const LIMIT = "p99 < 1s";
const COMPARED = "p99 <= baseline + 10%";

const { check: _, ...NOTHING } = NO_NUMBERS;

/** A gate of that line, with a verdict for each repeat. */
function gate(
	sla: string,
	verdict: Verdict,
	repeats: readonly Verdict[] = [verdict],
	parts: Partial<Gate> = {},
): Gate {
	return {
		sla,
		system: "new",
		case: "256B",
		verdict,
		measured: "1ms",
		limit: "1s",
		why: "",
		metric: null,
		percentile: null,
		limitNs: null,
		...NOTHING,
		compares: sla === COMPARED,
		comparison: null,
		line: null,
		repeats: repeats.map((one, i) => ({
			repeat: i + 1,
			verdict: one,
			measured: "1ms",
			why: "",
			...NOTHING,
		})),
		...parts,
	};
}

function confirmed(
	plans: readonly Plan[],
	gates: readonly Gate[],
	change: (run: Run) => Partial<Run> = () => ({}),
	searched: readonly Plan[] = [],
) {
	const result: Result = { ...resultOf(plans, {}, change), gates: [...gates] };
	return confirmationOf(result, [...plans, ...searched]);
}

const expanded = (text: string) => expand(loadScenario("s.yaml", text), { runId: "r1" });
const shown = (plans: readonly Plan[]) =>
	plans.map((p) => `${p.index} ${p.system}/${p.case} ${p.repeat}/${p.repeats}`);

describe("--confirm", () => {
	test("numbers its runs after those of a search", () => {
		const plans = expanded(yaml(1));
		const searched = { ...(plans[0] as Plan), index: 9, search: {} } as Plan;
		const { plans: more } = confirmed(plans, [gate(LIMIT, "fail")], undefined, [searched]);
		expect(more.map(({ index }) => index)).toEqual([10, 11]);
	});

	test("adds nothing when all pass", () => {
		const plans = expanded(yaml(1));
		expect(confirmed(plans, [gate(LIMIT, "pass")])).toEqual({ plans: [], reasons: [] });
	});

	test.each<[Verdict]>([["fail"], ["inconclusive"]])(
		"adds two repeats of the system and case whose gate is %s, and says so",
		(verdict) => {
			const plans = expanded(yaml(1));
			const found = confirmed(plans, [gate(LIMIT, verdict)]);
			expect(shown(found.plans)).toEqual(["5 new/256B 2/3", "6 new/256B 3/3"]);
			expect(found.reasons).toEqual([
				`p99 < 1s (new, 256B) is ${verdict.toUpperCase()} after 1 run: 2 confirming repeats.`,
			]);
		},
	);

	test("makes them complete plans with topics, number and folder of their own", () => {
		const plans = expanded(yaml(1));
		const { plans: added } = confirmed(plans, [gate(LIMIT, "fail")]);
		const all = [...plans, ...added];
		for (const plan of added) {
			expect(Plan.parse(plan)).toEqual(plan);
			expect(plan.confirms).toBe(true);
			expect(plan.topics).toEqual([`mqbench.r1.${plan.index}.0`]);
		}
		const distinct = (of: (plan: Plan) => unknown) => new Set(all.map((plan) => of(plan))).size;
		expect(distinct((plan) => plan.topics[0])).toBe(all.length);
		expect(distinct((plan) => plan.runNumber)).toBe(all.length);
		expect(distinct(runFolder)).toBe(all.length);
	});

	test("lets systems go on taking turns", () => {
		const plans = expanded(yaml(2));
		const undecided = ["fail", "pass"] as const;
		const found = confirmed(plans, [
			gate(LIMIT, "inconclusive", undecided),
			gate(LIMIT, "inconclusive", undecided, { system: "old" }),
			gate(LIMIT, "inconclusive", undecided, { case: "1KiB" }),
		]);
		expect(shown(found.plans)).toEqual([
			"9 old/256B 3/4",
			"10 new/256B 3/4",
			"11 new/1KiB 3/4",
			"12 new/256B 4/4",
			"13 old/256B 4/4",
			"14 new/1KiB 4/4",
		]);
	});

	test("leaves alone what two repeats have breached: two decide, whatever comes", () => {
		const plans = expanded(yaml(3));
		const of = (...repeats: Verdict[]) =>
			confirmed(plans, [gate(LIMIT, "fail", repeats)]).plans.length;
		expect(of("fail", "fail", "pass")).toBe(0);
		expect(of("fail", "pass", "pass")).toBe(2);
	});

	test("is not for what is INVALID or an error", () => {
		const plans = expanded(yaml(1));
		for (const verdict of ["invalid", "error", "interrupted"] as const) {
			expect(confirmed(plans, [gate(LIMIT, verdict)]).plans).toEqual([]);
			// Nor for a line that failed in such a run: that one decides.
			const found = confirmed(plans, [gate(LIMIT, "fail")], (run) =>
				run.system === "new" && run.case === "256B" ? { verdict } : {},
			);
			expect(found.plans).toEqual([]);
		}
	});

	test("happens once: what was confirmed is not confirmed again", () => {
		const plans = expanded(yaml(1));
		const { plans: added } = confirmed(plans, [gate(LIMIT, "fail")]);
		expect(
			confirmed([...plans, ...added], [gate(LIMIT, "inconclusive", ["fail", "pass", "pass"])])
				.plans,
		).toEqual([]);
	});

	test("is not for searches", () => {
		const plans = expanded(
			"system: nats\nworkload: { rate: 10/s, message: 256B, find: max-rate }\nsla: [p99 < 5ms]\n",
		);
		const start = { ...plans[0], system: "new", case: "256B" } as Plan;
		expect(confirmed([start], [gate(LIMIT, "fail")]).plans).toEqual([]);
	});
});

describe("--confirm of a comparison", () => {
	const comparison = (parts: object) =>
		({ comparison: { advisory: null, ...parts } }) as Partial<Gate>;

	test("repeats the baseline too, in turns, also after five repeats", () => {
		const plans = expanded(yaml(5, "baseline: old\n"));
		const found = confirmed(plans, [gate(COMPARED, "fail", [], comparison({}))]);
		expect(shown(found.plans)).toEqual([
			"21 new/256B 6/7",
			"22 old/256B 6/7",
			"23 old/256B 7/7",
			"24 new/256B 7/7",
		]);
		expect(found.reasons).toEqual([
			"p99 <= baseline + 10% (new, 256B) is FAIL after 5 repeats: 2 confirming repeats, of the baseline too.",
		]);
	});

	test("with a stored baseline repeats the system alone", () => {
		const plans = expanded(yaml(5, "baseline: ./b.json\n"));
		const found = confirmed(plans, [gate(COMPARED, "inconclusive", [], comparison({}))]);
		expect(shown(found.plans)).toEqual(["21 new/256B 6/7", "22 new/256B 7/7"]);
	});

	test("adds nothing where more repeats cannot decide: another machine, other work", () => {
		const plans = expanded(yaml(5, "baseline: ./b.json\n"));
		for (const parts of [comparison({ advisory: "another machine" }), { comparison: null }])
			expect(confirmed(plans, [gate(COMPARED, "inconclusive", [], parts)]).plans).toEqual([]);
	});
});
