export type CellValue = string | number | boolean | null | undefined;

/** Quoted where needed. Outside text that a spreadsheet would take for a formula gets a leading `'`. */
export function csvCell(value: CellValue): string {
	if (value === null || value === undefined) return "";
	if (typeof value !== "string") return String(value);
	const safe = FORMULA.test(value) ? `'${value}` : value;
	return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// --- internal ---

/** Beginnings of formulas, full-width signs too. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
