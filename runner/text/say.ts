/** Values of a sentence: numbers with their unit in the name (`limitNs`, `perSecond`, `share` of 1), counts and names. */
export type Values = Record<string, string | number | boolean | null | (string | number)[]>;

export interface Said {
	readonly code: string;
	readonly values: Values;
	readonly text: string;
}

export function said(code: string, text: string, values: Values = {}): Said {
	return { code, values, text };
}

/** A finding and the one that overrides it: `but` gives the code, `of` keeps the first one's. */
export function sayBut(first: Said, but: Said): Said {
	return {
		code: but.code,
		values: { ...first.values, ...but.values, of: first.code },
		text: `${first.text}; ${but.text}`,
	};
}
