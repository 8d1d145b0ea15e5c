import type { Path } from "./problem.ts";

/** A map of YAML, as a person wrote it. */
export type Written = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Written {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What stands at `path`; undefined: nothing. A key may be called "constructor": nothing is looked up along the prototype. */
export function valueAt(value: unknown, path: Path): unknown {
	return path.reduce<unknown>(
		(node, step) =>
			typeof node === "object" && node !== null && Object.hasOwn(node, step)
				? (node as Written)[step]
				: undefined,
		value,
	);
}

/** The map with each value changed. Keys such as "__proto__" stay what they are: unknown keys. */
export function mapValues(map: Written, change: (value: unknown, key: string) => unknown): Written {
	return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}

/** The map with null for each of the fields that is not written. */
export function completed<T extends object, Key extends keyof T>(
	fields: readonly Key[],
	data: T,
): Omit<T, Key> & { readonly [K in Key]-?: Exclude<T[K], undefined> | null } {
	const nothing = Object.fromEntries(fields.map((field) => [field, null]));
	return { ...nothing, ...data } as ReturnType<typeof completed<T, Key>>;
}
