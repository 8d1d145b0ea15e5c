import { type Block, code, fold, type Inline, list, type Table, table } from "./blocks.ts";

/** Names and what is known of them; what is not known is left out. */
export function facts(rows: readonly (readonly [name: string, value: Inline | null])[]): Table {
	const known = rows.filter((row): row is readonly [string, Inline] => Boolean(row[1]));
	return table(["", ""], known, { look: "facts" });
}

/** Settings by their keys, folded; nothing where there are none. */
export function settings(name: string, values: Readonly<Record<string, string>>): Block[] {
	const all = Object.entries(values).map((entry) => code(entry.join("=")));
	return all.length === 0 ? [] : [fold(`${all.length} ${name}`, [list(all)])];
}
