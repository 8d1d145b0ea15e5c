import type { Result, Run } from "../../model/result.ts";
import { clientTable } from "../client-table.ts";
import { failoverOfAll, failoverTable } from "../failover-table.ts";
import { factsText } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { tableBlock } from "./table-block.ts";

/** The faults of all runs, side by side; null: fewer than two runs have any. */
export function failoverSection(result: Result): Markup | null {
	const table = failoverOfAll(result);
	return (
		table &&
		markup`<section id="failover"><div class="head"><h2>${table.title}</h2></div>${tableBlock(table, { texts: 2 })}</section>`
	);
}

/** What faults did to one run; null: there were none. */
export function failover(run: Run, result: Result): Markup | null {
	const table = failoverTable(run);
	return (
		table &&
		markup`<h3>${table.title}</h3>${tableBlock(table, { caption: factsText(run, result) })}`
	);
}

/** Who made the load; null: one process on this machine. */
export function clients(run: Run): Markup | null {
	const table = clientTable(run);
	return (
		table && markup`<h3>${table.title}</h3>${tableBlock(table, { texts: 2 })}`
	);
}
