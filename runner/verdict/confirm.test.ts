import { describe, expect, test } from "vitest";
import { resultOf } from "../compare/compared.fake.ts";
import { Plan, runFolder } from "../model/plan.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { confirmationOf, isConfirming } from "./confirm.ts";
import { NO_NUMBERS } from "./judgement.ts";

/** The plans of two systems and two cases. */
const plansOf = (repeat: number, rest = "") =>
	expanded(`systems: { old: nats, new: nats }
${rest}repeat: ${repeat}
workload: { rate: 1000/s, duration: 10s }
cases: [{ message: 256B }, { message: 1KiB }]
sla: [p99 < 1s${rest === "" ? "" : ", p99 <= baseline + 10%"}]
`);
const expanded = (text: string) => expand(loadScenario("s.yaml", text), { runId: "r1" });
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
	const told = { measured: "1ms", why: "", ...NOTHING };
	return {
		sla,
		system: "new",
		case: "256B",
		verdict,
		limit: "1s",
		metric: null,
		percentile: null,
		limitNs: null,
		...told,
		compares: sla === COMPARED,
		comparison: null,
		line: null,
		repeats: repeats.map((one, i) => ({ repeat: i + 1, verdict: one, ...told })),
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

const shown = (plans: readonly Plan[]) =>
	plans.map((p) => `${p.index} ${p.system}/${p.case} ${p.repeat}/${p.repeats}`);
const compared = (verdict: Verdict, advisory: string | null = null) =>
	gate(COMPARED, verdict, [], { comparison: { advisory } } as unknown as Partial<Gate>);

describe("--confirm", () => {
	test("repeats a run with all its loads, whichever of them is open", () => {
		const plans = expanded(`systems: { old: nats, new: nats }
workload: { rate: 1000/s, duration: 10s, message: 256B }
background: { bulk: { rate: 10/s, message: 1KiB, sla: [p99 < 1s] } }
`);
		const name = "256B 1000/s, bulk";
		const { plans: more } = confirmed(plans, [gate(LIMIT, "fail", ["fail"], { case: name })]);
		expect(more.map((p) => [p.index, p.system, p.case, p.repeat, p.beside?.index ?? null])).toEqual(
			[
				[5, "new", "256B 1000/s", 2, null],
				[6, "new", name, 2, 5],
				[7, "new", "256B 1000/s", 3, null],
				[8, "new", name, 3, 7],
			],
		);
		expect(more.every((plan) => isConfirming(plan, plans))).toBe(true);
		expect(new Set(more.flatMap(({ topics }) => topics)).size).toBe(4);
	});

	test("numbers its runs after those of a search", () => {
		const plans = plansOf(1);
		const searched = { ...(plans[0] as Plan), index: 9, search: {} } as Plan;
		const { plans: more } = confirmed(plans, [gate(LIMIT, "fail")], undefined, [searched]);
		expect(more.map(({ index }) => index)).toEqual([10, 11]);
	});

	test.each<[Verdict]>([["fail"], ["inconclusive"]])(
		"adds two repeats of the system and case whose gate is %s, and says so",
		(verdict) => {
			const found = confirmed(plansOf(1), [gate(LIMIT, verdict)]);
			expect(shown(found.plans)).toEqual(["5 new/256B 2/3", "6 new/256B 3/3"]);
			expect(found.reasons).toEqual([
				`p99 < 1s (new, 256B) is ${verdict.toUpperCase()} after 1 run: 2 confirming repeats.`,
			]);
		},
	);

	test("makes them complete plans with topics, number and folder of their own", () => {
		const plans = plansOf(1);
		const { plans: added } = confirmed(plans, [gate(LIMIT, "fail")]);
		const all = [...plans, ...added];
		for (const plan of added) {
			expect(Plan.parse(plan)).toEqual(plan);
			expect(plan.confirms).toBe(true);
			expect(plan.topics).toEqual([`mqbench.r1.${plan.index}.0`]);
		}
		const distinct = (of: (plan: Plan) => unknown) => new Set(all.map((plan) => of(plan))).size;
		for (const of of [(plan: Plan) => plan.topics[0], (plan: Plan) => plan.runNumber, runFolder])
			expect(distinct(of)).toBe(all.length);
	});

	test("lets systems go on taking turns", () => {
		const undecided = ["fail", "pass"] as const;
		const found = confirmed(plansOf(2), [
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

	test("repeats the baseline too, in turns, also after five repeats; with a stored one the system alone", () => {
		const found = confirmed(plansOf(5, "baseline: old\n"), [compared("fail")]);
		expect(shown(found.plans)).toEqual([
			"21 new/256B 6/7",
			"22 old/256B 6/7",
			"23 old/256B 7/7",
			"24 new/256B 7/7",
		]);
		expect(found.reasons).toEqual([
			"p99 <= baseline + 10% (new, 256B) is FAIL after 5 repeats: 2 confirming repeats, of the baseline too.",
		]);
		const stored = confirmed(plansOf(5, "baseline: ./b.json\n"), [compared("inconclusive")]);
		expect(shown(stored.plans)).toEqual(["21 new/256B 6/7", "22 new/256B 7/7"]);
	});

	test("leaves alone what two repeats have breached: two decide, whatever comes", () => {
		const of = (...repeats: Verdict[]) =>
			confirmed(plansOf(3), [gate(LIMIT, "fail", repeats)]).plans.length;
		expect(of("fail", "fail", "pass")).toBe(0);
		expect(of("fail", "pass", "pass")).toBe(2);
	});

	const stored = () => plansOf(5, "baseline: ./b.json\n");
	const once = plansOf(1);
	const search =
		"system: nats\nworkload: { rate: 10/s, message: 256B, find: max-rate }\nsla: [p99 < 5ms]\n";
	test.each<[string, () => ReturnType<typeof confirmed>]>([
		["all pass", () => confirmed(once, [gate(LIMIT, "pass")])],
		...(["invalid", "error", "interrupted"] as const).flatMap(
			(verdict): [string, () => ReturnType<typeof confirmed>][] => [
				[`it is ${verdict}`, () => confirmed(once, [gate(LIMIT, verdict)])],
				[
					`its run is ${verdict}: that one decides`,
					() =>
						confirmed(once, [gate(LIMIT, "fail")], (run) =>
							run.system === "new" && run.case === "256B" ? { verdict } : {},
						),
				],
			],
		),
		[
			"it was confirmed before",
			() => {
				const { plans: added } = confirmed(once, [gate(LIMIT, "fail")]);
				const repeats = ["fail", "pass", "pass"] as const;
				return confirmed([...once, ...added], [gate(LIMIT, "inconclusive", repeats)]);
			},
		],
		[
			"it is of a search",
			() => {
				const start = { ...expanded(search)[0], system: "new", case: "256B" } as Plan;
				return confirmed([start], [gate(LIMIT, "fail")]);
			},
		],
		[
			"it compares another machine",
			() => confirmed(stored(), [compared("fail", "another machine")]),
		],
		["it compares other work", () => confirmed(stored(), [gate(COMPARED, "inconclusive", [])])],
	])("adds nothing where %s", (_, found) => {
		expect(found()).toEqual({ plans: [], reasons: [] });
	});
});
