import { join } from "node:path";
import { readGiven, sizeOfGiven } from "../given-folder.ts";
import { commandIn, setsIn } from "../model/command-file.ts";
import type { Plan } from "../model/plan.ts";
import type { Gate } from "../model/result.ts";
import type { Collected } from "../run/collect.ts";
import { slaLineFinder } from "../scenario/sla-lines.ts";
import type { Judgement } from "../verdict/judgement.ts";
import { overRepeats } from "../verdict/repeats.ts";
import type { RunVerdict } from "../verdict/run.ts";

export interface JudgedRun {
	readonly collected: Collected;
	readonly verdict: RunVerdict;
}

/** One gate for each SLA line, system and case, over all repeats. */
export function gatesOf(runs: readonly JudgedRun[]): Gate[] {
	const groups = new Map<
		string,
		{ of: JudgedRun; all: [number, Judgement][]; confirming: number }
	>();
	for (const r of runs)
		for (const judgement of r.verdict.judgements) {
			const { system, case: name, repeat } = r.collected.plan;
			const key = JSON.stringify([system, name, judgement.sla]);
			const group = groups.get(key) ?? { of: r, all: [], confirming: 0 };
			group.all.push([repeat, judgement]);
			if (r.collected.plan.confirms) group.confirming++;
			groups.set(key, group);
		}
	return [...groups.values()].map(({ of, all, confirming }) => {
		const judgements = all.map(([, j]) => j);
		const { verdict, why, deciding } = overRepeats(all, confirming);
		return {
			sla: deciding.sla,
			system: of.collected.plan.system,
			case: of.collected.plan.case,
			verdict,
			measured: judgements.map((j) => j.measured).join(", "),
			limit: deciding.limit,
			why,
			...judgedBy(of.collected.plan, deciding.sla),
			...numbersOf(deciding),
			cause:
				verdict === "fail" && judgements.every((j) => j.verdict !== "fail" || j.cause)
					? "machine"
					: null,
			compares: false,
			comparison: null,
			line: null,
			repeats: all.map(([repeat, j]) => ({
				repeat,
				verdict: j.verdict,
				measured: j.measured,
				why: j.why,
				...numbersOf(j),
			})),
		};
	});
}

/** The same gates, each with the line of the folder's scenario.yaml that asks for it. */
export function placed(gates: readonly Gate[], folder: string): Gate[] {
	const file = join(folder, "scenario.yaml");
	if (sizeOfGiven(file) === null) return [...gates];
	const set = setsIn(commandIn(folder)?.args ?? []);
	const lineOf = slaLineFinder(readGiven(file), set, folder);
	return gates.map((gate) => ({ ...gate, line: lineOf(gate) }));
}

// --- internal ---

function judgedBy(plan: Plan, text: string) {
	const sla = plan.sla.find((s) => s.text === text);
	const none = { metric: null, percentile: null, limitNs: null };
	if (sla === undefined || sla.kind === "tally") return none;
	const { metric, limitNs } = sla;
	return { metric, percentile: sla.kind === "percentile" ? sla.percentile : null, limitNs };
}

function numbersOf(
	j: Judgement,
): Omit<Gate["repeats"][number], "repeat" | "verdict" | "measured" | "why"> {
	const { n, over, allowed, censored, events, phi, cause } = j;
	const { valueNs, lowNs, highNs, beyondNs, margin, tally, code, values } = j;
	return {
		n,
		over,
		allowed,
		censored,
		events,
		phi,
		cause,
		valueNs,
		lowNs,
		highNs,
		beyondNs,
		margin,
		tally,
		code,
		values,
	};
}
