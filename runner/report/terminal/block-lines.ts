import type { FailoverTable } from "../failover-table.ts";
import { grid, listed, type Page } from "./text-page.ts";

/** A table with a title above and sentences below it; empty: there is none. */
export function blockLines(
	table: FailoverTable | null,
	page: Page,
	indent = "  ",
): string[] {
	if (table === null) return [];
	const all = [table.head, ...table.rows];
	return [
		"",
		...page.fold(table.title, indent),
		...(grid(all, page) ?? listed(all, page)),
		...table.notes.flatMap((note) => page.fold(note, indent)),
	];
}
