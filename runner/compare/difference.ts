/** A fact that is not the same on both sides. */
export interface Difference {
	/** "kernel", "nats: broker". */
	readonly what: string;
	readonly a: string;
	readonly b: string;
}

/** Those of some facts that differ; a value that nobody wrote down is "not known". */
export function differencesIn(
	facts: Iterable<readonly [what: string, a: unknown, b: unknown]>,
): Difference[] {
	return [...facts]
		.map(([what, a, b]) => ({ what, a: known(a), b: known(b) }))
		.filter(({ a, b }) => a !== b);
}

/** "CPU Example A against Example B, cores 2 against 4"; null: nothing differs. */
export function against(differences: readonly Difference[]): string | null {
	if (differences.length === 0) return null;
	return differences.map(({ what, a, b }) => `${what} ${a} against ${b}`).join(", ");
}

/** Its text, "not known" of null. */
export function known(value: unknown): string {
	return value === undefined || value === null ? "not known" : String(value);
}
