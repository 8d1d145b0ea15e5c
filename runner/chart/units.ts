import { formatBytesExact, formatCount, formatDuration, formatUtc } from "../units.ts";
import type { Axis, Unit } from "./figure.ts";

/** A number of a picture as axes, pointers and tables write it: "12.4ms", "3 000/s", "1.2", "16MiB/s". */
export function unitText(unit: Unit, value: number): string {
	return UNITS[unit](value);
}

/** Seconds from the window's start, "-2s"; of long runs "15min". */
export function secondText(second: number, long = false): string {
	return long ? `${Number((second / 60).toFixed(2))}min` : `${Number(second.toFixed(3))}s`;
}

/** A place on an axis: "p99", "10s to 12s" around its middle, "1KiB", "2026-01-01 00:00 UTC". */
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
				names?.[x] ?? (unit === "bytes" ? formatBytesExact(x) : unitText(unit ?? "messages", x))
			);
	}
}

/** "2026-01-01 00:00 UTC" of ms since 1970. */
export function dateText(at: number): string {
	return `${formatUtc(at)} UTC`;
}

// --- internal ---

const UNITS: Readonly<Record<Unit, (value: number) => string>> = {
	ns: formatDuration,
	messages: formatCount,
	"messages/s": (v) => `${formatCount(v)}/s`,
	cores: (v) => `${Number(v.toPrecision(2))}`,
	bytes: binary,
	"bytes/s": (v) => `${binary(v)}/s`,
	times: (v) => `${Number(v.toPrecision(3))}x`,
};

/** Binary units alone, three digits: on an axis and beside it 300KB and 256KiB would not be told apart. */
function binary(bytes: number): string {
	const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
	const value = bytes / 1024 ** power;
	return `${Number(value.toPrecision(value >= 1000 ? 4 : 3))}${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}
