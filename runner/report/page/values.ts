import { formatBytes, formatCount, formatDuration } from "../../units.ts";
import type { TimeFigure } from "../charts/figure.ts";

export type Unit = TimeFigure["panels"][number]["unit"];

/** A value as tables, pointers and axes say it; "n/a" for what was not measured, never 0. */
export function valueText(value: number | null, unit: Unit): string {
	if (value === null) return "n/a";
	return {
		ns: () => formatDuration(value),
		messages: () => formatCount(value),
		"messages/s": () => `${formatCount(value)}/s`,
		cores: () => `${formatCount(value)} cores`,
		bytes: () => formatBytes(Math.round(value)),
		"bytes/s": () => `${formatBytes(Math.round(value))}/s`,
	}[unit]();
}

/** "12.5s": seconds from the window's start. */
export function secondText(second: number): string {
	return `${Number(second.toFixed(3))}s`;
}

/** "2026-01-01 00:00 UTC" of ms since 1970. */
export function dateText(at: number): string {
	return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
