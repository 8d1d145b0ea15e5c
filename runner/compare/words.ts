import type { Baseline, Comparison } from "../model/comparison.ts";
import type { Verdict } from "../model/verdict.ts";
import { percentText, ratioText } from "../text/comparisons.ts";
import { tell } from "../text/tell.ts";
import { formatUtc } from "../units.ts";
import { gateVerdict } from "./compare.ts";
import type { Outcome } from "./comparing.ts";
import { valueText } from "./judge.ts";

/** The words that all forms of a comparison share. */

/** "62.4us", weak "~62.4us"; where not every run has this value "62.4us (3 of 5)". */
export function sideText(c: Comparison, side: Comparison["a"]): string {
	if (side.median === null) return "n/a";
	const n = side.values.length;
	return `${side.weak ? "~" : ""}${valueText(side.median, c.unit)}${n === side.runs ? "" : ` (${n} of ${side.runs})`}`;
}

/** Has a value of it the mark? */
export function hasWeak({ a, b }: Comparison): boolean {
	return a.weak || b.weak;
}

/** "A (n=5)": a side, and how many of its runs count. */
export function sideHead(side: Comparison["a"], name = side.name): string {
	return `${name} (n=${side.runs})`;
}

/** "1.03x"; "n/a". */
export function ratioOfText({ ratio }: Comparison): string {
	return ratio === null ? "n/a" : ratioText(ratio);
}

/** "[0.97, 1.09]"; "n/a" of too few runs. */
export function intervalText({ low, high, confidence }: Comparison): string {
	if (confidence === null || low === null) return "n/a";
	const short = (value: number | null) =>
		value === null ? "\u221e" : ratioText(value).replace(/x$/, "");
	return `[${short(low)}, ${short(high)}]`;
}

/** "25 %". */
export function marginText({ margin }: Comparison): string {
	return percentText(margin);
}

/** "REGRESSED"; of what decides nothing "shown"; where nothing may decide "(regressed)". */
export function verdictCell(c: Comparison): string {
	if (c.judged) return c.verdict.toUpperCase();
	return c.advisory === null ? "shown" : `(${c.verdict})`;
}

/** Sentences for those that decide, or would on this machine: every verdict with its reason. */
export function explained(comparisons: readonly Comparison[]): string[] {
	return comparisons
		.filter((c) => c.judged)
		.map((c) => `${c.verdict.toUpperCase()} ${c.metric}: ${c.why}`);
}

/** Margins that are not the usual ones, each with where it comes from. */
export function marginNotes(comparisons: readonly Comparison[]): string[] {
	const from = new Map<string, string[]>();
	for (const c of comparisons)
		if (c.judged && c.marginFrom !== "default") {
			const figures = from.get(c.marginFrom) ?? [];
			from.set(c.marginFrom, [...figures, `${c.metric} ${marginText(c)}`]);
		}
	return [...from].map(([where, figures]) => `margin of ${figures.join(", ")}: ${where}`);
}

/** Why nothing here decides, each reason once. */
export function advisories(comparisons: readonly Comparison[]): string[] {
	const reasons = new Set(comparisons.flatMap((c) => c.advisory ?? []));
	return [...reasons].map((why) => tell("gate-shown-only", { why }));
}

/** "quickstart, 2026-11-20 16:29 UTC, 20 runs, mqbench 0.1.0". */
export function baselineText(baseline: Baseline): string {
	const { runs, startedAt, mqbench, scenario } = baseline;
	return [
		scenario,
		startedAt === null ? null : `${formatUtc(startedAt)} UTC`,
		`${runs.length} ${runs.length === 1 ? "run" : "runs"}`,
		mqbench === null ? null : `mqbench ${mqbench}`,
		baseline.quick ? "shortened: no result" : null,
	]
		.filter((part) => part !== null)
		.join(", ");
}

/** "2 cores, Example CPU, 8 GiB, Example Linux 1 x64, kernel 6.1". */
export function machineText({ machine }: Baseline): string {
	if (machine === null) return tell("machine-unknown");
	const { cores, cpu, memoryGiB, os, kernel, cpuQuotaCores } = machine;
	return [
		`${cores} ${cores === 1 ? "core" : "cores"}`,
		cpuQuotaCores === null ? null : `limited to ${cpuQuotaCores}`,
		cpu,
		memoryGiB === null ? null : `${memoryGiB} GiB`,
		os,
		`kernel ${kernel}`,
	]
		.filter((part) => part !== null)
		.join(", ");
}

/** The systems and cases of some comparisons, in their order. */
export function groupsOf(comparisons: readonly Comparison[]): {
	readonly title: string;
	readonly system: string;
	readonly case: string;
	readonly comparisons: Comparison[];
}[] {
	const groups = new Map<string, Comparison[]>();
	for (const c of comparisons) {
		const key = JSON.stringify([c.system, c.case]);
		groups.set(key, [...(groups.get(key) ?? []), c]);
	}
	return [...groups.values()].map((all) => {
		const [{ system, case: name }] = all as [Comparison];
		return { title: `${system}, ${name}`, system, case: name, comparisons: all };
	});
}

/** How a verdict looks beside those of gates: words of their colours. */
export function looksOf(c: Comparison): "fail" | "inconclusive" | "pass" {
	return gateVerdict({ ...c, advisory: null });
}

/** The same of all that was compared. */
export const OUTCOME_LOOKS = {
	regressed: "fail",
	inconclusive: "inconclusive",
	advisory: "inconclusive",
	nothing: "error",
	improved: "pass",
	same: "pass",
} as const satisfies Record<Outcome, Verdict>;

export function outcomeWord(outcome: Outcome): string {
	switch (outcome) {
		case "nothing":
			return "NOT COMPARED";
		case "advisory":
			return "ADVISORY";
		default:
			return outcome.toUpperCase();
	}
}

/** What a reader has to know of the numbers. */
export const HOW = tell("comparison-means");
