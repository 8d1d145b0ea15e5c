import { join } from "node:path";
import { readGiven, sizeOfGiven } from "../given-folder.ts";
import { grouped } from "../grouped.ts";
import type { Plan } from "../model/plan.ts";
import { type Gate, Numbers } from "../model/result.ts";
import { lineOfSla } from "../scenario/sla-lines.ts";
import { causeOf, type Judgement, overRepeats } from "../verdict/judgement.ts";
import type { SearchRun } from "./searches.ts";

/** One gate for each SLA line, system and case, over all repeats. */
export function gatesOf(runs: readonly Pick<SearchRun, "collected" | "verdict">[]): Gate[] {
	const all = runs.flatMap(({ collected: { plan }, verdict }) =>
		verdict.judgements.map((judgement) => ({ plan, judgement })),
	);
	const groups = grouped(all, ({ plan: { system, case: name }, judgement: { sla } }) =>
		JSON.stringify([system, name, sla]),
	);
	return [...groups.values()].map(gateOf);
}

/** Adds the line of the folder's scenario.yaml that each gate comes from. */
export function placed(gates: readonly Gate[], folder: string): Gate[] {
	const file = join(folder, "scenario.yaml");
	if (sizeOfGiven(file) === null) return [...gates];
	const text = readGiven(file);
	return gates.map((gate) => ({ ...gate, line: lineOfSla(text, gate.sla) }));
}

// --- internal ---

function gateOf(all: readonly { plan: Plan; judgement: Judgement }[]): Gate {
	const judgements = all.map(({ judgement }) => judgement);
	const { verdict, why, deciding } = overRepeats(
		all.map(({ plan, judgement }) => [plan.repeat, judgement]),
		all.filter(({ plan }) => plan.confirms).length,
	);
	const { sla, limit } = deciding;
	const { system, case: name, sla: lines } = (all[0] as (typeof all)[number]).plan;
	const line = lines.find(({ text }) => text === sla);
	const judged = line?.kind === "tally" ? undefined : line;
	return {
		sla,
		system,
		case: name,
		verdict,
		measured: judgements.map(({ measured }) => measured).join(", "),
		limit,
		why,
		metric: judged?.metric ?? null,
		percentile: judged?.kind === "percentile" ? judged.percentile : null,
		limitNs: judged?.limitNs ?? null,
		...numbersOf(deciding),
		cause: causeOf(verdict, judgements),
		compares: false,
		comparison: null,
		line: null,
		repeats: all.map(({ plan, judgement: j }) => {
			const { verdict, measured, why } = j;
			return { repeat: plan.repeat, verdict, measured, why, ...numbersOf(j) };
		}),
	};
}

const NUMBERS = Object.keys(Numbers) as (keyof typeof Numbers)[];

function numbersOf(j: Judgement): Pick<Judgement, keyof typeof Numbers> {
	return Object.fromEntries(NUMBERS.map((name) => [name, j[name]])) as never;
}
