import type { Result } from "../model/result.ts";
import { fateText } from "../result/fate.ts";
import { type CaseTable, caseTables, MANY_RUNS } from "../result/matrix.ts";
import { saturatedBy } from "../result/saturated.ts";
import { hostText, systemText, systemTitle } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import {
	type Block,
	badge,
	type Fold,
	heading,
	instead,
	link,
	list,
	numbers,
	section,
	table,
	text,
} from "./blocks.ts";

/** All runs side by side, a table for each case: of several runs on a page, elsewhere of several systems or of many. */
export function cases(result: Result): Fold[] {
	const { runs } = result;
	if (runs.length < 2) return [];
	const many = runs.length >= MANY_RUNS;
	const several = new Set(runs.map((run) => run.system)).size > 1;
	const systems = new Map(runs.map((run) => [systemTitle(run), run]));
	const blocks = caseTables(result).flatMap((table, i) => caseBlocks(table, i + 1, result));
	// Few runs say it of themselves, below; a page has a section for it.
	const rows = many
		? [...systems.values()].map((run) => [`${run.system}: ${systemText(run)}`])
		: [];
	return [
		section("cases", tell("title-cases"), [instead(3, [], [list(rows)]), ...blocks], {
			depth: many || several ? 1 : 3,
		}),
	];
}

// --- internal ---

/** Columns that a narrow terminal leaves out, in this order: a run's own lines and report.html have them. */
const SPARE = ["p99.9", "redelivered", "unknown"];

function caseBlocks(of: CaseTable, number: number, result: Result): Block[] {
	const hosts = new Set(of.rows.map(({ run }) => hostText(run, result)));
	const [host = null] = hosts.size === 1 ? hosts : [];
	const columns = [
		"",
		{ name: "durability", depth: 2 as const },
		...numbers(of.head).map((column) => ({
			...column,
			spare: SPARE.indexOf(`${column.name}`) + 1,
		})),
		"verdict",
	];
	const fates = of.rows.flatMap(({ run, name }) => {
		const fate = fateText(run);
		return fate === null ? [] : [`${name}: ${fate}`];
	});
	const checks = new Set(of.rows.flatMap(({ run }) => saturatedBy(run)));
	const rows = of.rows.map(({ run, name, cells }) => [
		link(saturatedBy(run).length > 0 ? `${name} *` : name, `#run-${result.runs.indexOf(run) + 1}`),
		run.load.durability,
		...cells,
		badge(run.verdict),
	]);
	return [
		heading(`${of.case}, ${of.of}`, 1, `case-${number}`),
		table(columns, rows, { caption: host ?? "" }),
		// Few runs say it of themselves, below.
		list(result.runs.length >= MANY_RUNS ? fates : []),
		text(checks.size === 0 ? null : tell("case-ranks-nothing", { checks: [...checks] }), "warn"),
	];
}
