import { formatCount } from "../units.ts";

/** "2 %", "0.35 %"; with three digits "96.8 %". */
export function percent(share: number, digits = 2): string {
	return `${Number((share * 100).toPrecision(digits))} %`;
}

/** "1.03x", "0.004x" */
export function ratioText(ratio: number): string {
	if (!Number.isFinite(ratio)) return "infinitely x";
	if (ratio === 0) return "0x";
	return ratio >= 0.1 && ratio < 10
		? `${ratio.toFixed(2)}x`
		: `${formatCount(Number(ratio.toPrecision(3)))}x`;
}
