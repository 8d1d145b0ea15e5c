import type { z } from "zod";
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

/** A map that has been parsed: null where nothing is written. */
export type Completed<T> = {
	readonly [Key in keyof T]-?: undefined extends T[Key]
		? Exclude<T[Key], undefined> | null
		: T[Key];
};

/** With null for each field that is not written. */
export function completed<Schema extends z.ZodObject>(
	schema: Schema,
	data: z.output<Schema>,
): Completed<z.output<Schema>> {
	const nothing = Object.fromEntries(Object.keys(schema.shape).map((key) => [key, null]));
	return { ...nothing, ...data } as Completed<z.output<Schema>>;
}
