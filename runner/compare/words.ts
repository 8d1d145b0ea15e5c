import type { Comparison } from "../model/comparison.ts";
import { ratioText } from "../text/percent.ts";
import { gateVerdict } from "./compare.ts";

export function ratioOfText({ ratio }: Comparison): string {
	return ratio === null ? "n/a" : ratioText(ratio);
}

/** "[0.97, 1.09]"; "n/a" for too few runs. */
export function intervalText({ low, high, confidence }: Comparison): string {
	if (confidence === null || low === null) return "n/a";
	const short = (value: number | null) =>
		value === null ? "\u221e" : ratioText(value).replace(/x$/, "");
	return `[${short(low)}, ${short(high)}]`;
}

/** "REGRESSED"; "shown" if it decides nothing, "(regressed)" if nothing may decide. */
export function verdictCell(c: Comparison): string {
	if (c.judged) return c.verdict.toUpperCase();
	return c.advisory === null ? "shown" : `(${c.verdict})`;
}

/** The gate verdict whose colour it takes. */
export function looksOf(c: Comparison): "fail" | "inconclusive" | "pass" {
	return gateVerdict({ ...c, advisory: null });
}
