import { formatBytes, formatCount, formatDuration } from "../../units.ts";
import type { RateFigure, TimeFigure } from "./figure.ts";

type Unit = TimeFigure["panels"][number]["unit"] | RateFigure["axis"]["unit"];

/** A number of a picture as the tables write it: "12.4ms", "3 000/s", "1.2", "16MiB/s". */
export function unitText(unit: Unit, value: number): string {
	return UNITS[unit](value);
}

/** Seconds from the window's start, "12s"; of long runs "15min". */
export function secondText(second: number, long = false): string {
	const size = Math.abs(second);
	const sign = second < 0 ? "-" : "";
	if (long && size > 0 && size % 3600 === 0) return `${sign}${size / 3600}h`;
	if (long && size > 0 && size % 60 === 0) return `${sign}${size / 60}min`;
	return `${sign}${Number(size.toFixed(3))}s`;
}

// --- internal ---

const UNITS: Readonly<Record<Unit, (value: number) => string>> = {
	ns: formatDuration,
	messages: formatCount,
	"messages/s": (v) => `${formatCount(v)}/s`,
	cores: (v) => `${Number(v.toPrecision(2))}`,
	bytes: formatBytes,
	"bytes/s": (v) => `${formatBytes(v)}/s`,
	cases: formatCount,
};
