import type { Result } from "../../model/result.ts";
import { displayWidth, padEnd, padStart } from "../../terminal/columns.ts";
import { type CaseTable, caseTables, MANY_RUNS, without } from "../matrix.ts";
import { systemText, systemTitle, WEAK_MEANS } from "../words.ts";
import type { Page } from "./text-page.ts";

/** Are there runs to be seen side by side? */
export function hasTables({ runs }: Result): boolean {
	return (
		runs.length >= MANY_RUNS || new Set(runs.map((run) => run.system)).size > 1
	);
}

/** Runs side by side, a table for each case. Everything else is in report.html. */
export function tableLines(result: Result, page: Page): string[] {
	const tables = caseTables(result);
	const many = result.runs.length >= MANY_RUNS;
	const systems = [
		...new Map(result.runs.map((run) => [systemTitle(run), run])).values(),
	];
	const short = new Map<string, string>();
	const lines = tables.flatMap((table) => [
		"",
		...caseLines(table, page, short),
	]);
	const weak = tables.some((t) =>
		t.rows.some((r) => r.cells.some((cell) => cell.startsWith("~"))),
	);
	return [
		// Few runs say it of themselves, below.
		...(many
			? systems.flatMap((run) =>
					page.fold(`${run.system}: ${systemText(run)}`, "    ", ""),
				)
			: []),
		...(many ? lines : lines.slice(1)),
		...(short.size > 0 ? [""] : []),
		...[...short].flatMap(([name, whole]) =>
			page.fold(`${name} is ${whole}`, "    ", "  "),
		),
		...(weak && many ? ["", ...page.fold(`~ ${WEAK_MEANS}`)] : []),
	];
}

// --- internal ---

/** Columns that are left out where there is no room for them, in this order: a run's own lines and report.html have them. */
const SPARE = ["p99.9", "redelivered", "unknown"];

/** Narrower than this a name says nothing any more. */
const SHORTEST_NAME = 12;

function caseLines(
	table: CaseTable,
	page: Page,
	short: Map<string, string>,
): string[] {
	return [
		...page
			.fold(`${table.case}, ${table.of}`)
			.map((line) => page.style("bold", line)),
		...(fitting(table, page, short) ??
			table.rows.flatMap(({ run, name, cells }) => [
				...page.fold(
					`${name}: ${cells.map((c, i) => `${table.head[i]} ${c}`).join(", ")}`,
					"    ",
					"  ",
				),
				`    ${page.badge(run.verdict)}`,
			])),
	];
}

/** With all columns and whole names, else with fewer columns, else with shorter names; null: it does not fit at all. */
function fitting(
	table: CaseTable,
	page: Page,
	short: Map<string, string>,
): string[] | null {
	const fewer = ["", ...SPARE].map((_, n) =>
		SPARE.slice(0, n).reduce(without, table),
	);
	const names = widest(table.rows.map(({ name }) => name));
	const least = Math.min(names, Math.max(SHORTEST_NAME, page.width / 4));
	for (const one of fewer) {
		const room = page.width - widthOf(one);
		if (room >= names) return drawn(one, names, page, short);
	}
	for (const one of fewer) {
		const room = page.width - widthOf(one);
		if (room >= least) return drawn(one, room, page, short);
	}
	return null;
}

/** All but the names. */
function widthOf({ head, rows }: CaseTable): number {
	return (
		4 +
		widthsOf({ head, rows }).reduce((sum, width) => sum + width + 2, 0) +
		widest(rows.map(({ run }) => run.verdict))
	);
}

function widthsOf({ head, rows }: Pick<CaseTable, "head" | "rows">): number[] {
	return head.map((text, i) =>
		widest([text, ...rows.map((r) => r.cells[i] ?? "")]),
	);
}

function drawn(
	{ head, rows }: CaseTable,
	names: number,
	page: Page,
	short: Map<string, string>,
): string[] {
	const widths = widthsOf({ head, rows });
	const line = (name: string, cells: readonly string[]) =>
		`  ${padEnd(name, names)}${cells.map((c, i) => `  ${padStart(c, widths[i] ?? 0)}`).join("")}`;
	return [
		line("", head),
		...rows.map(({ run, name, cells }) => {
			const shown = page.short(name, names);
			if (shown !== name) short.set(shown, name);
			return `${line(shown, cells)}  ${page.badge(run.verdict)}`;
		}),
	];
}

function widest(texts: readonly string[]): number {
	return Math.max(0, ...texts.map(displayWidth));
}
