import { type Block, code, fold, type Inline, list, table } from "./blocks.ts";

/** Names and what is known of them; what is not known is left out. Settings by their keys: many of them are folded below. */
export function facts(
	rows: readonly (readonly [name: string, Inline | Readonly<Record<string, string>> | null])[],
): Block[] {
	const known: [string, Inline][] = [];
	const folded: Block[] = [];
	for (const [name, value] of rows) {
		if (value === null || value === "") continue;
		if (!isSettings(value)) known.push([name, value]);
		else {
			const all = Object.entries(value).map((entry) => entry.join("="));
			if (all.length > MOST_OPEN) folded.push(fold(`${all.length} ${name}`, [list(all.map(code))]));
			else if (all.length > 0) known.push([name, all.join("; ")]);
		}
	}
	return [table(["", ""], known, { look: "facts" }), ...folded];
}

// --- internal ---

const MOST_OPEN = 8;

function isSettings(value: object | string): value is Readonly<Record<string, string>> {
	return typeof value === "object" && !Array.isArray(value) && !("as" in value);
}
