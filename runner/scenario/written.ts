import type { Path } from "./problem.ts";

/** A map of YAML, as a person wrote it. */
export type Written = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Written {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What may be a list. */
export function list(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
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

/** Unlike structuredClone it copies a part that an alias (*name) repeats as often: one of them may be set. */
export function copy<Value>(value: Value): Value {
	if (Array.isArray(value)) return value.map(copy) as Value;
	if (!isMap(value)) return value;
	const result = {};
	for (const [key, part] of Object.entries(value)) define(result, key, copy(part));
	return result as Value;
}

/** A plain assignment to "__proto__" would change the prototype instead of being an unknown key. */
export function define(node: object, key: string, value: unknown): void {
	Object.defineProperty(node, key, { value, writable: true, enumerable: true, configurable: true });
}

/** The map with null for each of the fields that is not written. */
export function completed<T extends object, Key extends keyof T>(
	fields: readonly Key[],
	data: T,
): Omit<T, Key> & { readonly [K in Key]-?: Exclude<T[K], undefined> | null } {
	const nothing = Object.fromEntries(fields.map((field) => [field, null]));
	return { ...nothing, ...data } as ReturnType<typeof completed<T, Key>>;
}
