export type CellValue = string | number | boolean | null | undefined;

/** A cell of a CSV, in quotes where it needs them. A text from outside that a spreadsheet would take for a formula gets a leading `'`. */
export function csvCell(value: CellValue): string {
	if (value === null || value === undefined) return "";
	if (typeof value !== "string") return String(value);
	const safe = FORMULA.test(value) ? `'${value}` : value;
	return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// --- internal ---

/** What spreadsheets take for the beginning of a formula, full-width signs too. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
