import { baselineLimitText, marginAt } from "../model/baseline-sla.ts";
import type { Comparison } from "../model/comparison.ts";
import type { BaselineSla } from "../model/plan.ts";
import { type Verdict, worst } from "../model/verdict.ts";
import { isRate } from "../result/fields.ts";
import { ratioText } from "../text/comparisons.ts";
import { type Code, say, type Values } from "../text/say.ts";
import { because } from "../verdict/judgement.ts";
import { gateVerdict } from "./compare.ts";
import { valueText } from "./judge.ts";
import { usualMargin } from "./margin.ts";

/** A line that compares, judged once over all repeats of a system and case. */
interface BaselineJudgement {
	readonly verdict: Verdict;
	/** "x1.08 [1.02, 1.15] of 1.2ms" */
	readonly measured: string;
	/** "baseline + 10%" */
	readonly limit: string;
	/** One sentence, and what it says for programs. */
	readonly why: string;
	readonly code: Code;
	readonly values: Values;
}

/** A run of either side that was made for this judgement. */
export interface ComparedRun {
	/** "repeat 3 of new" */
	readonly name: string;
	readonly verdict: Verdict;
	readonly why: string | null;
}

/**
 * Judges a line on what was compared (`why`: that nothing was, and for which reason). FAIL: the whole interval of the ratio lies beyond
 * the margin. PASS: none of it does, whether it got better or not. Else INCONCLUSIVE.
 *
 * - A run that is INVALID, an error or interrupted decides, as in every gate: nothing is left out in silence until the rest agrees.
 *   One that was stopped as its SLA was lost already has no figure; the comparison without it may FAIL, and never PASSes (compare.ts).
 * - Lag is the generator's, not the system's: where it is more than half of what was compared, service has to say the same. A FAIL
 *   that service does not share is INVALID, as in gates with a fixed limit; a PASS that it does not share is open, as equal lag on
 *   both sides hides what the systems differ by.
 * - On another machine the ratio says what the machines differ by, and neither FAIL nor PASS would be about the system: INCONCLUSIVE,
 *   which alone lets a build through (exit.ts). A fleet of runners changes its machines without being asked; a gate that went red
 *   for it would be switched off, and one that went green would have checked nothing and not said so.
 */
export function judgeBaseline(
	sla: BaselineSla,
	compared: Comparison | { readonly why: string },
	runs: readonly ComparedRun[],
	/** The same without the generator's lag, where that is a large part of what was compared; unknown: no figure tells; null: it is not. */
	withoutLag: Comparison | "unknown" | null = null,
): BaselineJudgement {
	const broken = worst(runs.map((run) => run.verdict));
	const spoilt = runs.find((run) => run.verdict === broken);
	const comparison = "metric" in compared ? compared : null;
	const base = {
		measured: comparison === null ? "n/a" : measuredText(comparison),
		limit: limitText(sla, comparison),
	};
	if (spoilt && DECISIVE.has(broken))
		return {
			...base,
			verdict: broken,
			...because(say("run-decides", { run: spoilt.name, verdict: broken, why: spoilt.why })),
		};
	if (comparison === null)
		return {
			...base,
			verdict: "inconclusive",
			...because(say("not-compared", { why: compared.why })),
		};
	const { advisory, code, values } = comparison;
	const { why } = comparison;
	const said =
		advisory !== null
			? say("not-judged", { advisory, why })
			: code === undefined || values === undefined
				? say("compared", { why })
				: { text: why, code, values };
	const verdict = gateVerdict(comparison);
	if (withoutLag === null || verdict === "inconclusive")
		return { ...base, verdict, ...because(said) };
	if (withoutLag === "unknown")
		return { ...base, verdict: "inconclusive", ...because(say("lag-hides", { why: said.text })) };
	const without = gateVerdict(withoutLag);
	if (verdict === without) return { ...base, verdict, ...because(said) };
	return {
		...base,
		verdict: verdict === "fail" && without === "pass" ? "invalid" : "inconclusive",
		...because(
			say("lag-decides", { metric: withoutLag.metric, without: withoutLag.why, why: said.text }),
		),
	};
}

/** The line that a person would write for a figure that no line of the SLA compares: "p99 <= baseline + 25%", "throughput >= baseline - 5%". */
export function defaultLine(figure: string): BaselineSla {
	const line = {
		kind: "baseline" as const,
		figure,
		op: isRate(figure) ? (">=" as const) : ("<=" as const),
		margin: usualMargin(figure),
		allowanceNs: null,
	};
	const name = figure.replace(/^response /, "");
	const text = `${name} ${line.op} ${baselineLimitText(line)}`;
	return { ...line, text };
}

// --- internal ---

/** Verdicts on a run that leave nothing to compare. */
const DECISIVE: ReadonlySet<Verdict> = new Set(["interrupted", "error", "invalid"]);

function measuredText({ ratio, low, high, a, unit }: Comparison): string {
	if (ratio === null || a.median === null) return "n/a";
	const interval = low === null || high === null ? "" : ` [${times(low)}, ${times(high)}]`;
	return `x${times(ratio)}${interval} of ${a.weak ? "~" : ""}${valueText(a.median, unit)}`;
}

/** "1.08" */
function times(ratio: number): string {
	return ratioText(ratio).replace(/x$/, "");
}

/** The line's own margin; one that noise or a baseline of another day has raised, with the reason. */
function limitText(sla: BaselineSla, comparison: Comparison | null): string {
	if (comparison === null || comparison.margin <= marginAt(sla, comparison.a.median))
		return baselineLimitText(sla);
	const margin = Number(comparison.margin.toPrecision(3));
	return `${baselineLimitText({ ...sla, margin, allowanceNs: null })} (${comparison.marginFrom})`;
}
