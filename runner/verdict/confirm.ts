import { largestOf } from "../extremes.ts";
import { mainOf, type Plan } from "../model/plan.ts";
import type { Gate, Result } from "../model/result.ts";
import { derivePlan } from "../plan/derive.ts";

/** Repeats that `--confirm` adds, once. */
const CONFIRMING = 2;

/** Repeats every FAILED or INCONCLUSIVE gate, and its baseline, unless repeats cannot change it. `plans`: all runs so far. */
export function confirmationOf(result: Result, plans: readonly Plan[]) {
	const runs = plans.filter((plan) => plan.search === null);
	const open = result.gates.filter((gate) => mayChange(gate, result, runs));
	const wanted = new Set(open.flatMap((gate) => keysOf(gate, runs)));
	// A load is repeated with those beside it.
	const made = new Set(runs.filter((plan) => wanted.has(keyOf(plan))).map(mainOf));
	const own = runs.filter((plan) => made.has(mainOf(plan)));
	// A scenario has one number of repeats, so all wanted runs were repeated equally often.
	const last = Math.max(0, largestOf(own.map((plan) => plan.repeat)));
	const first = own.filter((plan) => plan.repeat === 1).toSorted((a, b) => a.index - b.index);
	const added = Array.from({ length: CONFIRMING }, (_, i) => last + i + 1).flatMap((repeat) =>
		inTurns(first, repeat).map((plan) => ({ plan, repeat })),
	);
	const before = Math.max(0, largestOf(plans.map((plan) => plan.index)));
	return {
		plans: added.map(({ plan, repeat }, i) => confirming(plan, before + i + 1, repeat)),
		reasons: open.map((gate) => reasonOf(gate, runs)),
	};
}

/** Is this a confirming run of one of `plans`? A folder from elsewhere may contain anything. */
export function isConfirming(plan: Plan, plans: readonly Plan[]): boolean {
	const text = JSON.stringify(plan);
	return plans.some(
		(one) => one.repeat === 1 && JSON.stringify(confirming(one, plan.index, plan.repeat)) === text,
	);
}

// --- internal ---

function mayChange(gate: Gate, { runs }: Result, plans: readonly Plan[]): boolean {
	if (gate.verdict !== "fail" && gate.verdict !== "inconclusive") return false;
	const keys = keysOf(gate, plans);
	const own = plans.filter((plan) => keys.includes(keyOf(plan)));
	if (own.length === 0 || own.some((plan) => plan.confirms)) return false;
	const broken = ["invalid", "error", "interrupted"];
	if (runs.some((run) => keys.includes(keyOf(run)) && broken.includes(run.verdict))) return false;
	if (gate.compares) return gate.comparison !== null && gate.comparison.advisory === null;
	return gate.repeats.filter((r) => r.verdict === "fail").length < 2;
}

/** The gate's own key, and the key of the baseline in the same scenario. */
function keysOf(gate: Gate, plans: readonly Plan[]): string[] {
	const key = keyOf(gate);
	const baseline = gate.compares ? plans.find((plan) => keyOf(plan) === key)?.baselineSystem : null;
	return baseline == null ? [key] : [keyOf({ system: baseline, case: gate.case }), key];
}

function keyOf(of: { readonly system: string; readonly case: string }): string {
	return JSON.stringify([of.system, of.case]);
}

/** Systems alternate their order with each repeat, as in expand.ts. */
function inTurns(first: readonly Plan[], repeat: number): Plan[] {
	const mains = first.filter(({ beside }) => beside === null);
	return [...new Set(mains.map((plan) => plan.case))].flatMap((name) => {
		const systems = mains.filter((plan) => plan.case === name);
		return (repeat % 2 === 1 ? systems : systems.toReversed()).flatMap((main) =>
			first.filter((plan) => mainOf(plan) === main.index),
		);
	});
}

/** Loads of a run follow it in order, so they stay as far from it. */
function confirming(plan: Plan, index: number, repeat: number): Plan {
	const { beside } = plan;
	return derivePlan(plan, {
		index,
		repeat,
		repeats: plan.repeats + CONFIRMING,
		beside: beside && { ...beside, index: index - plan.index + beside.index },
		confirms: true,
	});
}

function reasonOf(gate: Gate, plans: readonly Plan[]): string {
	const { repeats = 1 } = plans.find((plan) => keyOf(plan) === keyOf(gate)) ?? {};
	const made = repeats === 1 ? "1 run" : `${repeats} repeats`;
	const too = keysOf(gate, plans).length > 1 ? ", of the baseline too" : "";
	return `${gate.sla} (${gate.system}, ${gate.case}) is ${gate.verdict.toUpperCase()} after ${made}: ${CONFIRMING} confirming repeats${too}.`;
}
