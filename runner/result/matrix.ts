import type { Result } from "../model/result.ts";
import { byCase } from "./select.ts";

/** Until figures are on their new builders. */
export function caseTables(result: Result) {
	return byCase(result).map((one) => ({
		...one,
		head: [] as string[],
		rows: one.rows.map((row) => ({ ...row, cells: [] as string[] })),
	}));
}
