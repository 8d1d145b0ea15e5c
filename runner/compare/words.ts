import type { Comparison } from "../model/comparison.ts";
import { ratioText } from "../text/percent.ts";
import { gateVerdict } from "./compare.ts";

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
