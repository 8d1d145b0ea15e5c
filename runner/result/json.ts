/**
 * JSON in lines that a person and a diff can read: what fits into one line stands in one, and of a long list of numbers, or of short lists
 * of them, as many as do. With each number on a line of its own the result of 40 runs took 2.5 MB, most of it tabs; so it takes 1.5 MB.
 */
export function readableJson(value: unknown, indent = ""): string {
	if (!isLong(value)) {
		const short = JSON.stringify(value);
		if (short.length <= LONGEST || typeof value !== "object" || value === null) return short;
	}
	const inner = `${indent}\t`;
	if (Array.isArray(value)) {
		const items = value.every(isNumbers)
			? packed(value.map((v) => JSON.stringify(v)))
			: value.map((v) => readableJson(v, inner));
		return `[\n${items.map((item) => inner + item).join(",\n")}\n${indent}]`;
	}
	const fields = Object.entries(value as object)
		.filter(([, v]) => v !== undefined)
		.map(([k, v]) => `${inner}${JSON.stringify(k)}: ${readableJson(v, inner)}`);
	return `{\n${fields.join(",\n")}\n${indent}}`;
}

// --- internal ---

/** A tick, with its ten samples of the queue, has 230 characters. */
const LONGEST = 300;

/** Columns of a heat map on one line: a change of a few is still a diff of a few lines. */
const PACKED = 160;

/** Certainly too long for a line, without a look at its elements. */
function isLong(value: unknown): boolean {
	return Array.isArray(value) && 2 * value.length > LONGEST;
}

function isNumbers(value: unknown): boolean {
	return (
		typeof value === "number" || (Array.isArray(value) && value.every((v) => typeof v === "number"))
	);
}

/** Neighbours on shared lines. */
function packed(items: readonly string[]): string[] {
	const rows: string[] = [];
	let row = "";
	for (const item of items) {
		if (row !== "" && row.length + item.length >= PACKED) {
			rows.push(row);
			row = "";
		}
		row += row === "" ? item : `,${item}`;
	}
	if (row !== "") rows.push(row);
	return rows;
}
