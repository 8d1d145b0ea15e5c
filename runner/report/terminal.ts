import { join } from "node:path";
import { styleText } from "node:util";
import type { Metric } from "../plan/plan.ts";
import { formatDuration } from "../units.ts";
import { wrap } from "../wrap.ts";
import { type CaseTable, caseTables, MANY_RUNS, without } from "./matrix.ts";
import { behindText, hiddenText } from "./omission.ts";
import { phaseTable } from "./phase-table.ts";
import type { MetricSummary, Result, Run, Search } from "./summary.ts";
import {
	closedText,
	countNotes,
	countsOf,
	countText,
	drainText,
	errorTexts,
	explainText,
	gateText,
	loadText,
	maxText,
	neededText,
	offenderTexts,
	percentileName,
	percentileValue,
	plural,
	quickText,
	rateTexts,
	runTitle,
	sameHostText,
	searchTable,
	searchTitle,
	systemText,
	systemTitle,
	verdictText,
	verdictWord,
	WEAK_MEANS,
	withoutSearches,
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
	whole: Result,
	options: TerminalOptions,
): string {
	const result = withoutSearches(whole);
	const width = Math.max(40, options.columns);
	const style: Style = options.colour
		? (format, text) => styleText(format, text, { validateStream: false })
		: (_, text) => text;
	const shared = sameHostText(result);
	const quick = quickText(result);
	const explained = explainText(result);
	const many = result.runs.length >= MANY_RUNS;
	const lines = [
		...(many
			? matrixLines(result, width, style)
			: result.runs.flatMap((run) => [
					...runLines(run, result, width, style),
					"",
				])),
		...result.searches.flatMap((search) => searchLines(search, width, style)),
		...gateLines(result, many, width, style),
		...(result.gates.length > 0 ? [""] : []),
		...(shared === null ? [] : wrap(`Note: ${shared}.`, width)),
		...(explained === "" ? [] : wrap(`More: ${explained}`, width)),
		...(quick === null ? [] : wrap(`Note: ${quick}.`, width)),
		...wrap(`${result.scenario}: ${verdictText(result)}.`, width),
		`${badge(result.verdict, style, verdictWord(result))}  ${join(options.folder, "report.html")}`,
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
		...phaseLines(run, width),
		"",
		...wrapAll(
			countsOf(run)
				.filter(([, n]) => n !== null)
				.map(([name, n]) => `${name} ${countText(n)}`),
			width,
			"  ",
		),
		...[...countNotes(run), ...rateTexts(run)].flatMap((text) =>
			wrap(text, width, "  "),
		),
		...[drainText(run)].flatMap((text) =>
			text === null ? [] : wrap(text, width, "  "),
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

function searchLines(search: Search, width: number, style: Style): string[] {
	const { head, rows } = searchTable(search);
	const widths = head.map((_, i) =>
		Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)),
	);
	const line = (cells: readonly string[]) =>
		`  ${cells.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("  ")}`;
	return [
		...wrap(
			`Highest rate of ${searchTitle(search)}: ${search.answer}`,
			width,
		).map((text) => style("bold", text)),
		line(head),
		...rows.map(line),
		"",
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
	const rows: [Metric, MetricSummary | null][] = [
		["response", run.metrics.response],
		["service", run.metrics.service],
		["ack", run.metrics.ack],
		["last", run.metrics.last],
	];
	const closed = closedText(run);
	const shown = rows.filter((r): r is [Metric, MetricSummary] => r[1] !== null);
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
	if (closed !== null) lines.unshift(...wrap(closed, width, "  "));
	const [metric, first] = shown[0] as (typeof shown)[number];
	const unsupported = first.percentiles.find(
		(p) => p.support === "none" && COLUMNS.includes(p.p),
	);
	if (unsupported)
		lines.push(
			...wrap(
				`${percentileName(unsupported.p)} n/a (${neededText(unsupported, run, metric)})`,
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
		`generator's lag: p50 ${value(50)}, p99 ${value(99)}, max ${formatDuration(lag.max)} (part of ${run.main})`,
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

/** Of many runs only the gates that did not pass, and how many did. */
function gateLines(
	{ gates }: Result,
	many: boolean,
	width: number,
	style: Style,
): string[] {
	const several = new Set(gates.map((g) => `${g.system}, ${g.case}`)).size > 1;
	const shown = many ? gates.filter((g) => g.verdict !== "pass") : gates;
	const passed = gates.length - shown.length;
	const lines = shown.flatMap((g) => {
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
	if (passed === 0) return lines;
	const pass = `${" ".repeat(10)}${passed} of ${plural(gates.length, "gate")}`;
	return [...lines, `${badge("pass", style)}${pass}`];
}

/** Runs side by side, case by case; below them what was found. Everything else is in report.html. */
function matrixLines(result: Result, width: number, style: Style): string[] {
	const tables = caseTables(result);
	const systems = [
		...new Map(result.runs.map((run) => [systemTitle(run), run])).values(),
	];
	return [
		...systems.flatMap((run) =>
			wrap(`${run.system}: ${systemText(run)}`, width, "    ", ""),
		),
		"",
		...tables.flatMap((table) => [...caseLines(table, width, style), ""]),
		...(tables.some((t) => t.rows.some((r) => r.cells.some(weak)))
			? [...wrap(`~ ${WEAK_MEANS}`, width), ""]
			: []),
		...foundLines(result, width),
	];
}

function caseLines(table: CaseTable, width: number, style: Style): string[] {
	return [
		...wrap(`${table.case}, ${table.of}`, width).map((l) => style("bold", l)),
		...(sideBySide(table, width, style) ??
			sideBySide(without(table, "p99.9"), width, style) ??
			table.rows.flatMap(({ run, name, cells }) => [
				...wrap(
					`${name}: ${cells.map((c, i) => `${table.head[i]} ${c}`).join(", ")}`,
					width,
					"    ",
					"  ",
				),
				`    ${badge(run.verdict, style)}`,
			])),
	];
}

/** null: it does not fit. */
function sideBySide(
	{ head, rows }: CaseTable,
	width: number,
	style: Style,
): string[] | null {
	const names = Math.max(...rows.map(({ name }) => name.length));
	const widths = head.map((text, i) =>
		Math.max(text.length, ...rows.map((r) => r.cells[i]?.length ?? 0)),
	);
	const line = (name: string, cells: readonly string[]) =>
		`  ${name.padEnd(names)}${cells.map((c, i) => `  ${c.padStart(widths[i] ?? 0)}`).join("")}`;
	const verdicts = Math.max(...rows.map((r) => r.run.verdict.length));
	if (line("", head).length + 2 + verdicts > width) return null;
	return [
		line("", head),
		...rows.map(
			({ run, name, cells }) =>
				`${line(name, cells)}  ${badge(run.verdict, style)}`,
		),
	];
}

/** What decided runs, and what checks found: each sentence once, with the runs it is of. */
function foundLines(result: Result, width: number): string[] {
	const found = new Map<string, string[]>();
	for (const run of result.runs) {
		const texts = [
			...(run.why === null ? [] : [run.why]),
			...run.validity
				.filter((c) => !["ok", "unknown"].includes(c.status))
				.filter((c) => c.detail !== run.why)
				.map((c) => `${c.status}: ${c.check}: ${c.detail}`),
			...run.notes.map((note) => `note: ${note}`),
			...errorTexts(run, 1),
		];
		for (const text of texts)
			found.set(text, [...(found.get(text) ?? []), runTitle(run, result)]);
	}
	const lines = [...found].slice(0, MOST_FOUND).flatMap(([text, runs]) => {
		const where =
			runs.length === 1 ? runs[0] : `${runs[0]} and ${runs.length - 1} more`;
		return wrap(`${where}: ${text}`, width, "  ", "");
	});
	const more = found.size - MOST_FOUND;
	if (more > 0) lines.push(`and ${more} more remarks: see report.html`);
	return lines.length === 0 ? [] : [...lines, ""];
}

const MOST_FOUND = 12;

function weak(cell: string): boolean {
	return cell.startsWith("~");
}

/** Each part of the window; a name that is too long for its column pushes the others. */
function phaseLines(run: Run, width: number): string[] {
	const table = phaseTable(run);
	if (table === null) return [];
	const all = [table.head, ...table.rows];
	const widths = table.head.map((_, i) =>
		Math.max(...all.map((row) => row[i]?.length ?? 0)),
	);
	const lines = all.map(
		(row) =>
			`  ${row.map((text, i) => (i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0))).join("  ")}`,
	);
	const narrow = lines.some((line) => line.length > width);
	return [
		"",
		...wrap(table.title, width, "  "),
		...(narrow
			? table.rows.flatMap((row) =>
					wrap(
						row
							.map((c, i) => (i === 0 ? `${c}:` : `${table.head[i]} ${c}`))
							.join(" "),
						width,
						"    ",
						"  ",
					),
				)
			: lines),
	];
}

/** Breaks between the texts only. */
function wrapAll(texts: readonly string[], width: number, indent: string) {
	const lines: string[] = [];
	let line = "";
	for (const text of texts) {
		const longer = line === "" ? `${indent}${text}` : `${line}  ${text}`;
		if (line !== "" && longer.length > width) {
			lines.push(line);
			line = `${indent}${text}`;
		} else line = longer;
	}
	return [...lines, line];
}

function badge(
	verdict: Result["verdict"],
	style: Style,
	text = verdict.toUpperCase(),
): string {
	return style(["bold", COLOURS[verdict]] as Format, text);
}
