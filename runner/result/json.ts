/** Values that fit go on one line, and so does everything `depth` levels deep. */
export function readableJson(value: unknown, depth = Infinity, indent = ""): string {
	const short = JSON.stringify(value);
	const fits = depth === 0 || short.length <= LONGEST;
	if (fits || typeof value !== "object" || value === null) return short;
	const inner = `${indent}\t`;
	const items = Array.isArray(value)
		? value.map((v) => readableJson(v, depth - 1, inner))
		: Object.entries(value)
				.filter(([, v]) => v !== undefined)
				.map(([k, v]) => `${JSON.stringify(k)}: ${readableJson(v, depth - 1, inner)}`);
	const [open, close] = Array.isArray(value) ? "[]" : "{}";
	return `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
}

// --- internal ---

/** A gate's repeat with its numbers has about 300 characters. */
const LONGEST = 300;
