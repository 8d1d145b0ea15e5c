import type { Search } from "../../model/result.ts";
import { searchTable, searchTitle } from "../words.ts";
import { grid, listed, type Page } from "./text-page.ts";

/** The answer of a search for the highest rate, and its runs: latency over offered rate. */
export function searchLines(search: Search, page: Page): string[] {
	const { head, rows } = searchTable(search);
	const table = [head, ...rows];
	return [
		...page
			.fold(`Highest rate of ${searchTitle(search)}: ${search.answer}`)
			.map((text) => page.style("bold", text)),
		...(grid(table, page) ?? listed(table, page)),
	];
}
