import type { Path } from "./problem.ts";

export type Written = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Written {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A key may be "constructor": never look along the prototype. */
export function valueAt(value: unknown, path: Path): unknown {
	return path.reduce<unknown>(
		(node, step) =>
			typeof node === "object" && node !== null && Object.hasOwn(node, step)
				? (node as Written)[step]
				: undefined,
		value,
	);
}

/** "__proto__" stays an ordinary, unknown key. */
export function mapValues(map: Written, change: (value: unknown, key: string) => unknown): Written {
	return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}

/** Sets missing fields to null. */
export function completed<T extends object, Key extends keyof T>(
	fields: readonly Key[],
	data: T,
): Omit<T, Key> & { readonly [K in Key]-?: Exclude<T[K], undefined> | null } {
	const nothing = Object.fromEntries(fields.map((field) => [field, null]));
	return { ...nothing, ...data } as ReturnType<typeof completed<T, Key>>;
}
