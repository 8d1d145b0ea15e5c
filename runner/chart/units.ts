import { formatBytesExact, formatIn, formatUtc } from "../units.ts";
import type { Axis } from "./figure.ts";

/** From the window's start, "-2s"; in long runs "15min". */
export function secondText(second: number, long = false): string {
	return long ? `${Number((second / 60).toFixed(2))}min` : `${Number(second.toFixed(3))}s`;
}

/** "p99", "10s to 12s" around its middle, "1KiB", "2026-01-01 00:00 UTC" */
export function axisText({ scale, step, unit, names }: Axis, x: number): string {
	switch (scale) {
		case "nines":
			return `p${x}`;
		case "seconds":
			return `${secondText(x - step / 2)} to ${secondText(x + step / 2)}`;
		case "date":
			return dateText(x);
		default:
			return (
				names?.[x] ?? (unit === "bytes" ? formatBytesExact(x) : formatIn(unit ?? "messages", x))
			);
	}
}

/** "2026-01-01 00:00 UTC" for ms since 1970. */
export function dateText(at: number): string {
	return `${formatUtc(at)} UTC`;
}
