import { join } from "node:path";
import { styleText } from "node:util";
import { formatDuration } from "../units.ts";
import { behindText, hiddenText } from "./omission.ts";
import type { Gate, MetricSummary, Result, Run } from "./summary.ts";
import {
	countsOf,
	countText,
	errorTexts,
	explainText,
	gateText,
	loadText,
	maxText,
	neededText,
	offenderTexts,
	percentileName,
	percentileValue,
	runTitle,
	sameHostText,
	systemText,
	verdictText,
	WEAK_MEANS,
} from "./words.ts";

export interface TerminalOptions {
	/** Width of the terminal; text is wrapped at it, from 40 on. */
	readonly columns: number;
	/** True: a TTY, and NO_COLOR is unset. */
	readonly colour: boolean;
	/** Folder of the run, as it is to be printed. */
	readonly folder: string;
}

/** The result as it is printed at the end of a run; the last line is the verdict and where the report is. */
export function renderTerminal(
	result: Result,
	options: TerminalOptions,
): string {
	const width = Math.max(40, options.columns);
	const style: Style = options.colour
		? (format, text) => styleText(format, text, { validateStream: false })
		: (_, text) => text;
	const shared = sameHostText(result);
	const explained = explainText(result);
	const lines = [
		...result.runs.flatMap((run) => [
			...runLines(run, result, width, style),
			"",
		]),
		...gateLines(result.gates, width, style),
		...(result.gates.length > 0 ? [""] : []),
		...(shared === null ? [] : wrap(`Note: ${shared}.`, width)),
		...(explained === "" ? [] : wrap(`More: ${explained}`, width)),
		...wrap(`${result.scenario}: ${verdictText(result)}.`, width),
		`${badge(result.verdict, style)}  ${join(options.folder, "report.html")}`,
	];
	return `${lines.join("\n")}\n`;
}

// --- internal ---

type Format = Parameters<typeof styleText>[0];
type Style = (format: Format, text: string) => string;

const COLOURS: Readonly<Record<Result["verdict"], Format>> = {
	pass: "green",
	fail: "red",
	inconclusive: "yellow",
	invalid: "magenta",
	error: "red",
	interrupted: "yellow",
};

const COLUMNS = [50, 90, 99, 99.9, 99.99];
const FIRST = 8;
const CELL = 10;
/** From this width on percentiles stand side by side, below it one under the other. */
const WIDE = 2 + FIRST + CELL * (COLUMNS.length + 1);

function runLines(
	run: Run,
	result: Result,
	width: number,
	style: Style,
): string[] {
	const lines = [
		...titleLines(run, result, width, style),
		...wrap(systemText(run), width, "  "),
		...wrap(loadText(run), width, "  "),
	];
	if (run.why !== null) lines.push(...wrap(run.why, width, "  "));
	if (run.state === "never") return lines;
	return [
		...lines,
		"",
		...tableLines(run, width),
		"",
		...wrap(
			countsOf(run)
				.filter(([, n]) => n !== null)
				.map(([name, n]) => `${name} ${countText(n)}`.replaceAll(" ", "\u00a0"))
				.join("  "),
			width,
			"  ",
		),
		...lagLine(run, width),
		...[hiddenText(run), behindText(run)].flatMap((text) =>
			text === null ? [] : wrap(text, width, "  "),
		),
		...offenderTexts(run).flatMap((text) => wrap(text, width, "  ")),
		...checkLines(run, width),
		...run.notes.flatMap((note) => wrap(`note: ${note}`, width, "  ")),
		...errorTexts(run, 3).flatMap((text) => wrap(text, width, "  ")),
	];
}

/** The verdict stands at the right edge, or below a title that leaves no room for it. */
function titleLines(
	run: Run,
	result: Result,
	width: number,
	style: Style,
): string[] {
	const title = runTitle(run, result);
	const gap = width - title.length - run.verdict.length;
	return gap > 0
		? [`${style("bold", title)}${" ".repeat(gap)}${badge(run.verdict, style)}`]
		: [
				...wrap(title, width).map((l) => style("bold", l)),
				`  ${badge(run.verdict, style)}`,
			];
}

function tableLines(run: Run, width: number): string[] {
	const rows: [string, MetricSummary | null][] = [
		["response", run.metrics.response],
		["service", run.metrics.service],
		["ack", run.metrics.ack],
	];
	const shown = rows.filter((r): r is [string, MetricSummary] => r[1] !== null);
	if (shown.length === 0) return ["  nothing was measured"];
	const table = [
		["", ...COLUMNS.map(percentileName), "max"],
		...shown.map(([name, m]) => [
			name,
			...COLUMNS.map((p) => {
				const found = m.percentiles.find((x) => x.p === p);
				return found ? percentileValue(found, run) : "n/a";
			}),
			maxText(m, run),
		]),
	];
	const lines = (width < WIDE ? turned(table) : table).map(
		(row) =>
			`  ${row.map((text, i) => (i === 0 ? text.padEnd(FIRST) : text.padStart(CELL))).join("")}`,
	);
	const response = shown[0]?.[1];
	const unsupported = response?.percentiles.find(
		(p) => p.support === "none" && COLUMNS.includes(p.p),
	);
	if (unsupported)
		lines.push(
			...wrap(
				`${percentileName(unsupported.p)} n/a (${neededText(unsupported, run)})`,
				width,
				"  ",
			),
		);
	if (table.some((row) => row.some((cell) => cell.startsWith("~"))))
		lines.push(...wrap(`~ ${WEAK_MEANS}`, width, "  "));
	if (table.some((row) => row.includes("stopped")))
		lines.push(
			...wrap("stopped: among those under way when the run was", width, "  "),
		);
	return lines;
}

/** Rows as columns. */
function turned(table: readonly string[][]): string[][] {
	return (table[0] ?? []).map((_, i) => table.map((row) => row[i] ?? ""));
}

function lagLine(run: Run, width: number): string[] {
	const { lag } = run.metrics;
	if (lag === null || lag.max === null) return [];
	const value = (p: number) => {
		const found = lag.percentiles.find((x) => x.p === p);
		return found ? percentileValue(found, run) : "n/a";
	};
	return wrap(
		`generator's lag: p50 ${value(50)}, p99 ${value(99)}, max ${formatDuration(lag.max)} (part of response)`,
		width,
		"  ",
	);
}

/** What was found, each with its remedy; what could not be checked by name only. */
function checkLines(run: Run, width: number): string[] {
	const unknown = run.validity.filter((c) => c.status === "unknown");
	return [
		...run.validity
			.filter((c) => !["ok", "unknown"].includes(c.status))
			.filter((c) => c.detail !== run.why)
			.flatMap((c) =>
				wrap(
					`${c.status}: ${c.check}: ${c.detail}${c.remedy === null ? "" : `. What to do: ${c.remedy}`}`,
					width,
					"  ",
				),
			),
		...(unknown.length === 0
			? []
			: wrap(
					`not known: ${unknown.map((c) => c.check).join(", ")}`,
					width,
					"  ",
				)),
	];
}

function gateLines(
	gates: readonly Gate[],
	width: number,
	style: Style,
): string[] {
	const several = new Set(gates.map((g) => `${g.system}, ${g.case}`)).size > 1;
	return gates.flatMap((g) => {
		const where = several ? ` (${g.system}, ${g.case})` : "";
		const verdict = g.verdict.toUpperCase();
		const [first = "", ...rest] = wrap(
			`${g.sla}${where}: ${gateText(g)}`,
			width,
			" ".repeat(14),
		);
		return [
			`${badge(g.verdict, style)}${first.slice(verdict.length)}`,
			...rest,
			...wrap(g.why, width, " ".repeat(14)),
		];
	});
}

function badge(verdict: Result["verdict"], style: Style): string {
	return style(["bold", COLOURS[verdict]] as Format, verdict.toUpperCase());
}

/** Breaks at blanks only, but not within "14 839"; a word that is too long for a line stands alone and whole. */
function wrap(text: string, width: number, indent = ""): string[] {
	const lines: string[] = [];
	let line = "";
	const whole = text.replaceAll(
		/(?<![\w.])\d{1,3}(?: \d{3})+(?!\d)/g,
		(number) => number.replaceAll(" ", "\u00a0"),
	);
	for (const word of whole.split(/ (?! )/)) {
		if (line !== "" && indent.length + line.length + 1 + word.length > width) {
			lines.push(line);
			line = "";
		}
		line = line === "" ? word.trimStart() : `${line} ${word}`;
	}
	return [...lines, line].map((l) =>
		`${indent}${l}`.replaceAll("\u00a0", " ").trimEnd(),
	);
}
