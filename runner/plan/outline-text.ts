import {
	formatBytes,
	formatCount,
	formatDuration,
	formatDurationExact,
} from "../units.ts";
import { wrap } from "../wrap.ts";
import {
	type Carried,
	DEPTHS,
	type Outline,
	tooDeepSentence,
} from "./outline.ts";

/** An outline for people. Names stand last in their tables, so that a long one breaks nothing. */
export function renderOutline(outline: Outline, columns: number): string {
	const width = Math.max(40, columns);
	const { runs, cases } = outline;
	const both = runs.some(({ plan }) => plan.pattern === "round-trip");
	const lines = [
		...table(
			["#", "repeat", "time", "messages", "bytes", "system/case"],
			runs.map(({ plan, messages, bytes, durationNs }) => [
				`${plan.index}`,
				`${plan.repeat}/${plan.repeats}`,
				formatDurationExact(durationNs),
				formatCount(messages),
				formatBytes(bytes),
				`${plan.system}/${plan.case}`,
			]),
		),
		"",
		...wrap(
			`${counted(runs.length, "run")}: ${formatDuration(outline.durationNs)} of sending, and at most ${formatDuration(outline.drainNs)} of waiting for the last messages. ${formatCount(outline.messages)} messages, warm-up included; ${formatBytes(outline.bytes)} of payload${both ? ", there and back" : ""}.`,
			width,
		),
		"",
		"Percentiles that the window of one run carries:",
		"",
		...table(
			["samples", ...DEPTHS.map((p) => `p${p}`), "case"],
			cases.map(carriedRow),
			"left",
		),
		"",
		...wrap(
			"ok: 10 samples or more are expected above it; weak: fewer, but a 95 % bound exists; none: not printed. Beside them the duration from which on it is ok, at this rate. Stalls make it less: mqbench explain support.",
			width,
		),
		...outline.tooDeep.flatMap((line) => [
			"",
			...wrap(
				`Warning: ${tooDeepSentence(line, formatCount)}`,
				width,
				"  ",
				"",
			),
		]),
	];
	return `${lines.join("\n")}\n`;
}

// --- internal ---

function carriedRow(one: Carried): string[] {
	return [
		formatCount(one.samples),
		...one.percentiles.map(({ support, okFromNs }) =>
			support === "ok" ? "ok" : `${support} ${formatDurationExact(okFromNs)}`,
		),
		one.case,
	];
}

/** Numbers are flush right; the last column, and with "left" all but the first, begin at their left edge. */
function table(
	head: readonly string[],
	rows: readonly (readonly string[])[],
	align: "left" | "right" = "right",
): string[] {
	const all = [head, ...rows];
	const widths = head.map((_, i) =>
		Math.max(...all.map((row) => (row[i] ?? "").length)),
	);
	return all.map((row) =>
		`  ${row
			.map((cell, i) =>
				i > 0 && (align === "left" || i === head.length - 1)
					? cell.padEnd(widths[i] ?? 0)
					: cell.padStart(widths[i] ?? 0),
			)
			.join("  ")}`.trimEnd(),
	);
}

function counted(count: number, noun: string): string {
	return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
