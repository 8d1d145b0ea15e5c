import { failure } from "../errors.ts";
import type { Baseline } from "../model/comparison.ts";
import type { Plan } from "../model/plan.ts";
import { field } from "../result/fields.ts";
import { loadOf } from "../result/load.ts";
import { LEAST_REPEATS } from "../scenario/sla-lines.ts";
import { tell } from "../text/tell.ts";
import { hashOf } from "./same-machine.ts";
import { searchFacts, workDifference, workFacts } from "./work.ts";

/**
 * Has the baseline runs of what is judged, and the figures that lines compare? Of nothing: it is another scenario's, or an old one's. Of
 * a part: a case that is new in the scenario must not keep the others from being judged. Default lines ask for as many runs as
 * written ones.
 */
export function fitsBaseline(
	file: Baseline,
	shown: string,
	plans: readonly Plan[],
	judged: readonly Plan[],
): string[] {
	const pairs = [
		...new Map(plans.map((plan) => [JSON.stringify([plan.system, plan.case]), plan])).values(),
	].map((plan) => {
		const which = `${plan.system}, ${plan.case}`;
		const runs = file.runs.filter((run) => run.system === plan.system && run.case === plan.case);
		return { plan, which, runs, why: whyOther(plan, which, runs, file) };
	});
	const other = pairs.filter(({ why }) => why !== null);
	const asked = judged.length > 0 ? pairs.filter(hasLines) : pairs;
	const [first] = asked;
	if (first && asked.every(({ why }) => why !== null))
		throw failure("baseline-other", { path: shown, why: first.why ?? "" });
	for (const { plan, which, runs, why } of pairs)
		if (why === null) refuseLacking(plan.baselineSla, { shown, which, runs });
	return other.map(({ which, why }) => `not compared is ${which}: ${why}`);
}

// --- internal ---

function hasLines({ plan }: { readonly plan: Plan }): boolean {
	return plan.baselineSla.length > 0;
}

/** Lines that could never be decided, however many runs are made now. */
function refuseLacking(
	lines: Plan["baselineSla"],
	of: { readonly shown: string; readonly which: string; readonly runs: Baseline["runs"] },
): void {
	const { shown, which, runs } = of;
	const counting = runs.filter(({ without }) => without === null);
	const facts = { path: shown, which, least: LEAST_REPEATS };
	if (counting.length < LEAST_REPEATS)
		throw failure("baseline-few", { ...facts, runs: counting.length });
	for (const { text, figure } of lines) {
		const name = field(figure).id;
		const having = counting.filter((run) => run.figures[name] != null).length;
		if (having < LEAST_REPEATS)
			throw failure("baseline-figure", { ...facts, runs: having, sla: text, figure: name });
	}
}

function whyOther(
	plan: Plan,
	which: string,
	runs: Baseline["runs"],
	file: Baseline,
): string | null {
	const [first] = runs;
	if (!first) return tell("baseline-lacks-case", { which });
	const run = { load: loadOf(plan) };
	const facts =
		plan.search === null
			? workFacts(run)
			: searchFacts(
					run,
					plan.sla.map(({ text }) => text),
				);
	const work = hashOf(facts);
	if (runs.every((one) => one.work === work)) return null;
	const difference = workDifference(file.works[first.work], facts);
	return `its runs of ${which} had other work${difference === null ? "" : ` (${difference})`}`;
}
