import type { Baseline, Comparison } from "../model/comparison.ts";
import { bySystemAndCase, type Group } from "../result/select.ts";
import { ratioText } from "../text/comparisons.ts";
import { gateVerdict } from "./compare.ts";
import { machineText as textOf } from "./machine.ts";

/** The words that all forms of a comparison share. */

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

/** "REGRESSED"; of what decides nothing "shown"; where nothing may decide "(regressed)". */
export function verdictCell(c: Comparison): string {
	if (c.judged) return c.verdict.toUpperCase();
	return c.advisory === null ? "shown" : `(${c.verdict})`;
}

/** How a verdict looks beside those of gates: words of their colours. */
export function looksOf(c: Comparison): "fail" | "inconclusive" | "pass" {
	return gateVerdict({ ...c, advisory: null });
}

/** "Example Linux 1 x64, kernel 6.1, 2 cores, 8 GiB, Example CPU". */
export function machineText({ machine }: Baseline): string {
	return textOf(machine);
}

/** Has a value of it the mark? */
export function hasWeak({ a, b }: Comparison): boolean {
	return a.weak || b.weak;
}

/** The systems and cases of some comparisons, in their order. */
export function groupsOf(
	comparisons: readonly Comparison[],
): (Group<Comparison> & { readonly title: string; readonly comparisons: readonly Comparison[] })[] {
	return bySystemAndCase(comparisons).map((group) => ({
		...group,
		title: `${group.system}, ${group.case}`,
		comparisons: group.all,
	}));
}
